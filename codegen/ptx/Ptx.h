//===- Ptx.h - GPU kernels to PTX text --------------------------*- C++ -*-===//
//
// A pure function: no device, no driver, no assembler, no environment.
//
//   kernel, arith, math, scf --> LLVM dialect with NVVM intrinsics
//                            --> LLVM IR --> the NVPTX backend --> text
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_PTX_H
#define AZULEJO_CODEGEN_PTX_PTX_H

#include "ir/target/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace azulejo::codegen {

struct PtxCode {
  std::string text;
  std::string entry; ///< the kernel's name in the text
  int64_t blockThreads = 0;
  int64_t sharedBytes = 0;        ///< of one block, in all
  int64_t dynamicSharedBytes = 0; ///< of these, what a launch must ask for
};

/// Emits the module's one kernel.func for a GPU. The module is used up. An op
/// that has no instruction sequence yet is an Unsupported error that names it.
/// `llvm`, if given, receives the LLVM IR that the backend saw.
Result<PtxCode> emitPtx(mlir::ModuleOp module, const target::TargetDesc &target,
                        std::string *llvm = nullptr);

/// The same code, for an assembler that is to spill nothing: it may use all the
/// registers that one block per SM leaves. Left to itself it gives up a few
/// bytes of registers for more blocks, even where registers are free.
std::string withoutOccupancyGoal(std::string ptx);

/// Replaces kernel.func by an LLVM function and kernel ops by arithmetic, LLVM
/// ops and NVVM intrinsics; scf, arith and math ops stay.
mlir::LogicalResult lowerKernelToNvvm(mlir::ModuleOp module,
                                      const target::TargetDesc &target);

/// Replaces math ops that the backend has no instruction for, rounding to fp8,
/// what may be approximated (`afn`), and divisions and roots if there are many.
/// On an op that cannot be replaced, emits a diagnostic and fails.
mlir::LogicalResult expandMathForPtx(mlir::ModuleOp module,
                                     const target::TargetDesc &target);

/// Registers --azulejo-emit-ptx and the pipeline --azulejo-kernel-to-ptx.
void registerPtxPasses();

/// The translations and dialects that emitPtx needs.
void registerPtxTranslation(mlir::DialectRegistry &registry);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_PTX_H
