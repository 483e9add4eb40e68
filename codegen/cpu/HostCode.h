//===- HostCode.h - host functions to a flat image --------------*- C++ -*-===//
//
// A pure function from a module of host functions (LLVM, arith and scf
// dialects) to machine code for a CPU that need not be this one. The object is
// linked here, at compile time, into one position-independent piece of memory
// without symbols: what is stored in a plan can be mapped and called, and
// running a cached kernel needs no linker and no LLVM.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_CPU_HOSTCODE_H
#define AZULEJO_CODEGEN_CPU_HOSTCODE_H

#include "ir/target/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

namespace azulejo::codegen {

struct HostImage {
  std::string bytes;
  /// Byte offset of each function's entry point.
  std::map<std::string, int64_t> entries;
};

/// What `emit` shows of the way down.
struct HostText {
  std::string llvm;     ///< LLVM IR after optimisation
  std::string assembly; ///< target assembly
};

/// Compiles all functions of `module`, which is consumed. `text`, when given,
/// receives the intermediate stages.
Result<HostImage> compileHost(mlir::ModuleOp module,
                              const target::TargetDesc &target,
                              HostText *text = nullptr);

/// Links a relocatable object into a flat image.
Result<HostImage> linkFlat(llvm::StringRef object);

/// Registers the translations that compileHost needs.
void registerHostTranslation(mlir::DialectRegistry &registry);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_CPU_HOSTCODE_H
