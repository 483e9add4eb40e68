//===- CombineSplits.h - the result of an attention's parts -----*- C++ -*-===//
//
// Each part of the keys has given a row its own softmax: the output o_s and the
// logarithm t_s (to base 2) of its sum. A part's weight in the whole row is its
// share of the sum:
//
//   t = max t_s     w_s = exp2(t_s - t)     l = sum w_s
//   output = (sum w_s o_s) / l              (pulls the epilogue)
//   lse    = (t + log2 l) * ln 2
//
// A part in which the row sees no key has t_s = -inf and weight 0; a row that
// sees none at all gives 0 and -inf. One row is one work item's row; its parts
// are few enough to be written out.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_COMBINESPLITS_H
#define AZULEJO_PASSES_TILING_COMBINESPLITS_H

#include "passes/tiling/AttentionProgram.h"

namespace azulejo::tiling {

/// `partial` is the schedule of the kernel before. The kernel's views are the
/// region's inputs, the partial results, and the region's outputs.
Result<tile::KernelOp> combineKernel(mlir::OpBuilder &b,
                                     graphir::FusedOp region,
                                     const schedule::Schedule &partial);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_COMBINESPLITS_H
