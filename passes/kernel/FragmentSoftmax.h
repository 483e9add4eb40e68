//===- FragmentSoftmax.h - one step of the running softmax ------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_FRAGMENTSOFTMAX_H
#define AZULEJO_PASSES_KERNEL_FRAGMENTSOFTMAX_H

#include "passes/kernel/Fragment.h"

namespace azulejo::gpu {

/// The running state of tile.online_softmax.
struct SoftmaxState {
  RowTile reference, sum; ///< the sum is partial: one part per thread
  Fragment output;
};

/// Replaces scores by weights and brings the state to the new reference. A warp
/// has whole rows. Weights are exact powers of two of the hardware's
/// approximation (relative error 2^-22); those below 2^-126 are 0.
void emitOnlineSoftmax(ThreadBuilder &t, Fragment &scores, SoftmaxState &state);

/// The same in two parts, for who does not have the output yet: the weights,
/// and what brings each row of the output to the new reference.
llvm::SmallVector<mlir::Value> emitWeights(ThreadBuilder &t, Fragment &scores,
                                           RowTile &reference, RowTile &sum);
void scaleRows(ThreadBuilder &t, Fragment &fragment,
               llvm::ArrayRef<mlir::Value> factors);

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENTSOFTMAX_H
