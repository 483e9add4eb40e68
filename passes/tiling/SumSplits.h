//===- SumSplits.h - the result of a product's parts ------------*- C++ -*-===//
//
// A row-wise kernel over the product's result: each element is the sum of its
// parts, from first to last, from which the epilogue is pulled. A work item has
// a piece of one row, because there may be one row only, and reads neighbours
// of each part together; the parts are few enough to be written out.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_SUMSPLITS_H
#define AZULEJO_PASSES_TILING_SUMSPLITS_H

#include "passes/tiling/MatmulProgram.h"

namespace azulejo::tiling {

/// The kernel's views are the region's inputs, the partial sums, and the
/// region's outputs. `partial` is the schedule of the parts.
Result<tile::KernelOp> sumKernel(mlir::OpBuilder &b, graphir::FusedOp region,
                                 const schedule::Schedule &partial);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_SUMSPLITS_H
