//===- FragmentDot.h - products of staged tiles and fragments ---*- C++ -*-===//
//
// accumulator += lhs x rhs for one warp's rectangle. 16-bit operands use the
// matrix instruction; f32 operands are multiplied exactly, one fused
// multiply-add per product, with the accumulator in the same layout.
//
// The left operand is a staged tile or a fragment (the weights of attention).
// 16-bit fragments become operands in registers; f32 fragments take the way
// through shared memory, because a thread needs whole rows of them.
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

/// accumulator + lhs x rhs, over `depth` contracted elements (a multiple of
/// 16). `type` is f16, bf16 or f32.
Fragment emitDot(ThreadBuilder &t, const WarpGrid &grid, mlir::Type type,
                 const StagedOperand &lhs, const StagedOperand &rhs,
                 Fragment accumulator, int64_t depth);

/// The same with a 16-bit left operand in registers. One warp has all columns
/// of `lhs`.
Fragment emitDot(ThreadBuilder &t, const WarpGrid &grid, mlir::Type type,
                 Fragment &lhs, const StagedOperand &rhs, Fragment accumulator,
                 int64_t depth);

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENTDOT_H
