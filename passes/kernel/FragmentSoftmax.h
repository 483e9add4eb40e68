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

/// What brings the rows of an output to their new references.
struct Shrink {
  llvm::SmallVector<mlir::Value> factors; ///< per row of the thread
  /// Whether any factor of the warp is not 1 (or its row is empty, and zero).
  mlir::Value any;
};

/// In units of log2.
inline constexpr double kSlack = 8;

/// Replaces scores by weights and brings the state to the new reference. A warp
/// has whole rows. Weights are exact powers of two of the hardware's
/// approximation (relative error 2^-22); those below 2^-126 are 0.
///
/// The reference of a row is its greatest score, or up to kSlack less: it
/// follows only when the row grows by more, and the output is multiplied only
/// when one of the warp's rows does. Weights of up to 2^kSlack instead of 1
/// have the same relative precision, in 16 bits, too, where the small ones even
/// gain; their sum in f32 has room for 2^119 of them. Each row decides for
/// itself, so that it does not depend on what else is in its tile.
void emitOnlineSoftmax(ThreadBuilder &t, Fragment &scores, SoftmaxState &state);

/// The same in two parts, for who does not have the output yet.
Shrink emitWeights(ThreadBuilder &t, Fragment &scores, RowTile &reference,
                   RowTile &sum);
void scaleRows(ThreadBuilder &t, Fragment &fragment, const Shrink &shrink);

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENTSOFTMAX_H
