//===- HeadView.h - q, k and v as attention wants them ----------*- C++ -*-===//
//
// Operands of the two products come merged, stretched, repeated, transposed
// and scaled. These functions write them as [B, H, S, D] again, by looking
// through the moves that made them so.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_GRAPH_HEADVIEW_H
#define AZULEJO_PASSES_GRAPH_HEADVIEW_H

#include "ir/graph/GraphWriter.h"

namespace azulejo::graphpasses {

/// `x` without constant factors, also such as were applied before a transpose,
/// reshape or broadcast; they are multiplied into `scale`.
mlir::Value withoutScale(graphir::GraphWriter &w, mlir::Value x, double &scale,
                         int depth = 8);

/// An operand of a product, looking through a swap of its last two axes:
/// `swapped` says whether the value is stored with them exchanged.
struct StoredOperand {
  mlir::Value value;
  bool swapped = false;
};
StoredOperand throughSwaps(StoredOperand operand);

/// KV heads from which query heads were made by repeating each one: `value`
/// holds them in [B, Hkv, X, Y] after a reshape.
struct Repeated {
  mlir::Value value;
  opset::Dim headsKv;
};
/// Recognises a broadcast or a concatenation over an own axis after the KV
/// heads, a broadcast of a single head, and a gather with head indices
/// floor(h / ratio). X and Y are the last two axes, in stored order.
std::optional<Repeated> readRepeat(mlir::Value x, const opset::Dim &batch,
                                   const opset::Dim &heads);

/// A reshape, looking through reshapes before it.
mlir::Value viewAs(graphir::GraphWriter &w, mlir::Value x, opset::Shape shape);

} // namespace azulejo::graphpasses

#endif // AZULEJO_PASSES_GRAPH_HEADVIEW_H
