//===- SpelledSoftmax.cpp - a softmax of maximum, exp, sum and quotient ---===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphWriter.h"
#include "passes/graph/AttentionPattern.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::Dim;
using opset::Shape;

/// Through what shape-preserving steps a row statistic of `rows` was brought
/// back to a kept axis: itself, or a reshape or broadcast of it.
static Operation *statisticBehind(Value x) {
  Operation *op = x.getDefiningOp();
  while (isa_and_nonnull<graphir::ReshapeOp, graphir::BroadcastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// Whether `statistic` folds one axis of `rows`, and `x`, made from it, has
/// size 1 there; the axis.
template <typename ReduceT>
static std::optional<int64_t> foldedAxis(Value x, Value rows) {
  auto reduce = dyn_cast_or_null<ReduceT>(statisticBehind(x));
  if (!reduce || reduce.getInput() != rows || reduce.getAxes().size() != 1)
    return std::nullopt;
  int64_t axis = reduce.getAxes()[0];
  Shape kept = GraphWriter::shapeOf(rows), now = GraphWriter::shapeOf(x);
  if (now == kept && isa<graphir::BroadcastOp>(x.getDefiningOp()))
    now = GraphWriter::shapeOf(x.getDefiningOp()->getOperand(0));
  kept[axis] = Dim(1);
  return now == kept ? std::optional(axis) : std::nullopt;
}

std::variant<std::monostate, SpelledSoftmax, Refusal>
graphpasses::readSoftmax(graphir::DivOp quotient) {
  auto exponential = quotient.getLhs().getDefiningOp<graphir::ExpOp>();
  if (!exponential)
    return std::monostate();
  std::optional<int64_t> axis = foldedAxis<graphir::ReduceSumOp>(
      quotient.getRhs(), exponential.getResult());
  auto centred = exponential.getInput().getDefiningOp<graphir::SubOp>();
  if (!axis || quotient.getType() != exponential.getType() ||
      !leadsToProduct(exponential.getInput()))
    return std::monostate();
  if (!centred || centred.getType() != centred.getLhs().getType())
    return Refusal{"the exponential of the scores is not taken relative to "
                   "their row maximum",
                   {exponential, quotient}};
  if (foldedAxis<graphir::ReduceMaxOp>(centred.getRhs(), centred.getLhs()) !=
      axis)
    return Refusal{"what is subtracted before the exponential is not the row "
                   "maximum of the same scores",
                   {centred, quotient}};
  return SpelledSoftmax{centred.getLhs(), *axis};
}
