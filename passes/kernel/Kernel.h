//===- Kernel.h - tile programs to GPU kernels ------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_KERNEL_H
#define AZULEJO_PASSES_KERNEL_KERNEL_H

#include "ir/kernel/Kernel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace azulejo::gpu {

/// Replaces every tile.kernel of the module by a kernel.func whose shared
/// memory is planned. The schedule on the kernel says how: see the knobs of its
/// family. Fails with a diagnostic on a program of another form than the
/// families make.
mlir::LogicalResult lowerTileToKernel(mlir::ModuleOp module);

/// Gives every allocation of shared memory its offset.
void planSharedMemory(kernel::FuncOp function);

/// Sets kernel.group_wait's `pending` to the most that is certainly right.
void placeGroupWaits(kernel::FuncOp function);

/// Puts kernel.delay where warps meet others, or start what runs beside them.
void injectDelays(kernel::FuncOp function, int64_t seed);

/// Registers --azulejo-lower-tile-to-kernel and the pipeline
/// --azulejo-tile-to-kernel.
void registerPasses();

#define GEN_PASS_DECL
#include "passes/kernel/Passes.h.inc"

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_KERNEL_H
