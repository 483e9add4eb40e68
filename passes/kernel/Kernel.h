//===- Kernel.h - tile programs to GPU kernels ------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_KERNEL_H
#define AZULEJO_PASSES_KERNEL_KERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <optional>
#include <string>

namespace azulejo::gpu {

/// Why there is no GPU lowering for a schedule family, or nothing.
std::optional<std::string> refusesFamily(llvm::StringRef family);

/// Replaces every tile.kernel of the module by a kernel.func. The schedule on
/// the kernel says how: `blockThreads` threads per work item, `accessBytes`
/// per access of a thread. Fails with a diagnostic on what is not a row
/// program.
mlir::LogicalResult lowerTileToKernel(mlir::ModuleOp module);

/// Registers --azulejo-lower-tile-to-kernel and the pipeline
/// --azulejo-tile-to-kernel.
void registerPasses();

#define GEN_PASS_DECL
#include "passes/kernel/Passes.h.inc"

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_KERNEL_H
