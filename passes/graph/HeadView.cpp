//===- HeadView.cpp - q, k and v as attention wants them ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/graph/HeadView.h"
#include "ir/graph/GraphOps.h"
#include "passes/graph/AttentionPattern.h"

#include <cmath>

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::Dim;
using opset::Shape;

Value graphpasses::withoutScale(GraphWriter &w, Value x, double &scale,
                                int depth) {
  Operation *op = x.getDefiningOp();
  if (!op || depth == 0)
    return x;
  if (std::optional<ScaledValue> inner = scaledByConstant(op);
      inner && std::isfinite(scale * inner->factor)) {
    scale *= inner->factor;
    return withoutScale(w, inner->value, scale, depth - 1);
  }
  if (!isa<graphir::TransposeOp, graphir::ReshapeOp, graphir::BroadcastOp>(op))
    return x;
  Value source = withoutScale(w, op->getOperand(0), scale, depth - 1);
  return source == op->getOperand(0)
             ? x
             : w.op(graphir::kindOf(op), source, graphir::attrsOf(op));
}

static bool swapsLastTwo(ArrayRef<int64_t> perm) {
  size_t rank = perm.size();
  for (size_t i = 0; i + 2 < rank; ++i)
    if (perm[i] != static_cast<int64_t>(i))
      return false;
  return rank >= 2 && perm[rank - 2] == static_cast<int64_t>(rank) - 1;
}

StoredOperand graphpasses::throughSwaps(StoredOperand operand) {
  while (auto op = operand.value.getDefiningOp<graphir::TransposeOp>()) {
    if (!swapsLastTwo(op.getPerm()))
      break;
    operand = {op.getInput(), !operand.swapped};
  }
  return operand;
}

static Value behindReshapes(Value x) {
  while (auto reshape = x.getDefiningOp<graphir::ReshapeOp>())
    x = reshape.getInput();
  return x;
}

Value graphpasses::viewAs(GraphWriter &w, Value x, Shape shape) {
  for (Value at = x;;) {
    if (at && w.shapeOf(at) == shape)
      return at;
    auto reshape = at ? at.getDefiningOp<graphir::ReshapeOp>() : nullptr;
    if (!reshape)
      return w.reshape(at, std::move(shape));
    at = reshape.getInput();
  }
}

/// The one value that `op` stretches or repeats along `axis`, where that value
/// has size 1.
static Value repeatedAlong(Operation *op, size_t axis, size_t rank) {
  if (!isa<graphir::BroadcastOp, graphir::ConcatOp>(op))
    return {};
  Value source = op->getOperand(0);
  Shape from = GraphWriter::shapeOf(source),
        to = GraphWriter::shapeOf(op->getResult(0));
  if (auto concat = dyn_cast<graphir::ConcatOp>(op))
    if (static_cast<size_t>(concat.getAxis()) != axis ||
        !llvm::all_equal(op->getOperands()))
      return {};
  if (to.size() != rank || from.size() != rank || !from[axis].isConstant(1))
    return {};
  from[axis] = to[axis];
  return from == to ? source : Value();
}

/// ids[h] = floor(h / ratio): the coordinate of the KV head in a tensor
/// [Hkv, ratio], flattened.
static std::optional<Dim> headsGathered(Value ids, const Dim &heads) {
  Value grid = behindReshapes(ids);
  Shape shape = GraphWriter::shapeOf(grid);
  std::optional<Position> position = positionOf(grid);
  if (GraphWriter::shapeOf(ids) != Shape{heads} || shape.size() != 2 ||
      !position || position->perAxis[0] != 1 || position->perAxis[1] != 0 ||
      position->constant != Dim(0))
    return std::nullopt;
  return shape[0];
}

std::optional<Repeated> graphpasses::readRepeat(Value x, const Dim &batch,
                                                const Dim &heads) {
  Value made = behindReshapes(x);
  Operation *op = made.getDefiningOp();
  if (!op)
    return std::nullopt;
  Shape shape = GraphWriter::shapeOf(made);
  Shape outer = GraphWriter::shapeOf(x);
  // The last two axes must be those of the operand itself.
  if (shape.size() < 4 || outer.size() < 2 ||
      !std::equal(outer.end() - 2, outer.end(), shape.end() - 2) ||
      shape[0] != batch)
    return std::nullopt;
  if (auto gather = dyn_cast<graphir::GatherOp>(op)) {
    std::optional<Dim> headsKv = headsGathered(gather.getIds(), heads);
    Shape table = GraphWriter::shapeOf(gather.getTable());
    bool fits = headsKv && gather.getAxis() == 1 && table.size() == 4 &&
                table[1] == *headsKv;
    return fits ? std::optional(Repeated{gather.getTable(), *headsKv})
                : std::nullopt;
  }
  if (shape.size() == 5 && shape[1] * shape[2] == heads)
    if (Value source = repeatedAlong(op, 2, 5))
      return Repeated{source, shape[1]};
  if (shape.size() == 4 && shape[1] == heads)
    if (Value source = repeatedAlong(op, 1, 4))
      return Repeated{source, Dim(1)};
  return std::nullopt;
}
