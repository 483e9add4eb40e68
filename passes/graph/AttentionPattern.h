//===- AttentionPattern.h - finding attention in plain ops ------*- C++ -*-===//
//
// The spine of attention runs from a product `p v` up through the softmax to a
// product `q k^T`. It is read backwards, in the order of the contract:
//
//   p v <- [cast, reshape] <- softmax <- [masks and biases] <- [softcap]
//       <- [scale] <- q k^T
//
// with casts and reshapes of the leading axes anywhere on the way. Reading
// changes nothing: the result is a match, a refusal that says why, or neither
// when the product has nothing to do with attention.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_GRAPH_ATTENTIONPATTERN_H
#define AZULEJO_PASSES_GRAPH_ATTENTIONPATTERN_H

#include "ir/graph/GraphOps.h"
#include "passes/graph/MaskPattern.h"

#include <variant>

namespace azulejo::graphpasses {

/// What is added to the scores. With a fill, `value` is null or a tensor
/// where(condition, 0, fill) that is added; without `value`, scores are
/// replaced by the fill where the condition is false. Such a fill is so large
/// that adding it to a score gives the fill again, so replacing is adding.
struct Bias {
  mlir::Value value;
  opset::Shape scores; ///< the scores' shape where it is added
  std::optional<double> fill = std::nullopt;
  Condition condition = {}; ///< with a fill only
};

struct AttentionMatch {
  graphir::MatmulOp scores; ///< q k^T
  graphir::SoftmaxOp softmax;
  graphir::MatmulOp product; ///< p v
  double scale = 1, softcap = 0;
  llvm::SmallVector<Bias> biases;          ///< the last one is added first
  llvm::SmallVector<Condition> conditions; ///< false: the key is not visible
  /// Instead of `biases`: a finite fill is all that touches the scores, and its
  /// condition is an alignment that leaves every query a key. Then a filled
  /// score weighs exp(-huge) = 0, as one that is not visible.
  std::optional<MaskParts> filled;
  /// [B, H, Sq, Sk], and the number of KV heads that k and v show.
  opset::Shape shape;
  opset::Dim headsKv;
};

struct Refusal {
  std::string text;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// monostate: no softmax between two products here.
using AttentionReading = std::variant<std::monostate, AttentionMatch, Refusal>;

AttentionReading readAttention(graphir::MatmulOp product);

/// exp(x - max) / sum(...) along one axis of scores (x leads to a product),
/// when `quotient` is its last op.
struct SpelledSoftmax {
  mlir::Value input;
  int64_t axis;
};
/// A refusal when everything but the subtracted row maximum fits.
std::variant<std::monostate, SpelledSoftmax, Refusal>
readSoftmax(graphir::DivOp quotient);

/// Whether a product lies behind `x`, through maps and reshapes only.
bool leadsToProduct(mlir::Value x, int depth = 12);

/// Whether attention takes these head counts: a provable multiple.
bool groupsHeads(const opset::Dim &heads, const opset::Dim &headsKv);

/// The finite constant factor by which a mul or div multiplies its other
/// operand, when that has the type of the result.
struct ScaledValue {
  mlir::Value value;
  double factor;
};
std::optional<ScaledValue> scaledByConstant(mlir::Operation *op);

} // namespace azulejo::graphpasses

#endif // AZULEJO_PASSES_GRAPH_ATTENTIONPATTERN_H
