//===- FragmentDot.h - products of staged tiles and fragments ---*- C++ -*-===//
//
// accumulator += lhs x rhs for one warp's rectangle. 16-bit operands, and f32
// ones that may be rounded to tf32, use the matrix instruction; other f32
// operands are multiplied exactly, one fused multiply-add per product, with the
// accumulator in the same layout. Operands in tf32 are staged as f32 and
// rounded in registers.
//
// The left operand is a staged tile or a fragment (the weights of attention).
// For the matrix instruction fragments become operands in registers; otherwise
// they take the way through shared memory, because a thread needs whole rows of
// them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_FRAGMENTDOT_H
#define AZULEJO_PASSES_KERNEL_FRAGMENTDOT_H

#include "passes/kernel/Fragment.h"

namespace azulejo::gpu {

/// A staged operand as a product sees it.
struct StagedOperand {
  mlir::Value tile;     ///< a kernel.shared_tile
  mlir::Value stage;    ///< i32
  bool contractedIsRow; ///< the tile's rows are the contracted axis
};

/// The type of the shared tiles of a product's operands.
mlir::Type stagedType(mlir::Type operand);

/// accumulator + lhs x rhs, over `depth` contracted elements (a multiple of
/// 16). `type` is f16, bf16, tf32 or f32.
Fragment emitDot(ThreadBuilder &t, const WarpGrid &grid, mlir::Type type,
                 const StagedOperand &lhs, const StagedOperand &rhs,
                 Fragment accumulator, int64_t depth);

/// The same with the left operand in registers; `type` is not f32. One warp has
/// all columns of `lhs`.
Fragment emitDot(ThreadBuilder &t, const WarpGrid &grid, mlir::Type type,
                 Fragment &lhs, const StagedOperand &rhs, Fragment accumulator,
                 int64_t depth);

/// A step of a loop whose product has its operands one slice ahead: a slice is
/// the part of the contracted axis that one matrix instruction takes. The first
/// slice comes in registers; under the last one the next step's first is
/// loaded. So the matrix units have work while the block waits for itself
/// between two steps.
struct SlicedStep {
  StagedOperand lhs, rhs;
  StagedOperand nextLhs, nextRhs;
  /// Emits what is to be started during a slice. The last has nothing of it,
  /// unless it is the only one.
  llvm::function_ref<void(int64_t slice)> duringSlice;
  /// Emits the wait for the next step's tiles. All of this step is read by
  /// then; its last slice is not multiplied.
  llvm::function_ref<void()> handOver;
};

/// Slices of a product; `type` is not f32.
int64_t sliceCount(mlir::Type type, int64_t depth);

/// Loads the first slice for accumulators such as `sum`.
llvm::SmallVector<mlir::Value>
loadFirstSlice(ThreadBuilder &t, const WarpGrid &grid, mlir::Type type,
               const StagedOperand &lhs, const StagedOperand &rhs,
               Fragment &sum);

/// The same as emitDot, with `slice` the registers of the first slice before
/// and those of the next step's after.
Fragment emitSlicedDot(ThreadBuilder &t, const WarpGrid &grid, mlir::Type type,
                       const SlicedStep &step, Fragment accumulator,
                       int64_t depth, llvm::SmallVector<mlir::Value> &slice);

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENTDOT_H
