//===- MaskPattern.cpp - reading masks as alignments and windows ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/graph/MaskPattern.h"
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"
#include "ir/graph/GraphWriter.h"
#include "passes/graph/ScalarConstants.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::Dim;
using opset::Shape;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The coordinate of an axis of size 1 is 0.
static Position settled(Position position, const Shape &shape) {
  for (auto [coefficient, dim] : llvm::zip(position.perAxis, shape))
    if (dim.isConstant(1))
      coefficient = 0;
  return position;
}

static Position aligned(const Position &position, size_t rank) {
  Position result = position;
  while (result.perAxis.size() < rank)
    result.perAxis.insert(result.perAxis.begin(), 0);
  return result;
}

/// A reshape that only adds or drops axes of size 1.
static std::optional<Position> reshaped(const Position &position,
                                        const Shape &from, const Shape &to) {
  SmallVector<int64_t> kept;
  Shape fromKept, toKept;
  for (auto [coefficient, dim] : llvm::zip(position.perAxis, from))
    if (!dim.isConstant(1)) {
      kept.push_back(coefficient);
      fromKept.push_back(dim);
    }
  Position result{{}, position.constant};
  size_t next = 0;
  for (const Dim &dim : to) {
    bool unit = dim.isConstant(1);
    if (!unit)
      toKept.push_back(dim);
    result.perAxis.push_back(unit || next >= kept.size() ? 0 : kept[next++]);
  }
  return fromKept == toKept ? std::optional(result) : std::nullopt;
}

/// The largest coordinate of an axis, as a folded iota gives it.
static std::optional<Position> largest(graphir::ReduceMaxOp op, int depth) {
  std::optional<Position> inner = positionOf(op.getInput(), depth - 1);
  if (!inner)
    return std::nullopt;
  Shape shape = GraphWriter::shapeOf(op.getInput());
  Position result{{}, inner->constant};
  for (auto [axis, coefficient] : llvm::enumerate(inner->perAxis)) {
    bool folded = llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis));
    if (!folded || op.getKeepdims())
      result.perAxis.push_back(folded ? 0 : coefficient);
    if (!folded || coefficient == 0)
      continue;
    if (coefficient < 0)
      return std::nullopt;
    result.constant =
        result.constant + Dim(coefficient) * (shape[axis] - Dim(1));
  }
  return result;
}

static std::optional<Position> sum(Operation *op, int depth) {
  std::optional<Position> a = positionOf(op->getOperand(0), depth - 1),
                          b = positionOf(op->getOperand(1), depth - 1);
  if (!a || !b)
    return std::nullopt;
  size_t rank = std::max(a->perAxis.size(), b->perAxis.size());
  Position left = aligned(*a, rank), right = aligned(*b, rank);
  bool minus = isa<graphir::SubOp>(op);
  for (auto [x, y] : llvm::zip(left.perAxis, right.perAxis))
    x += minus ? -y : y;
  left.constant =
      minus ? left.constant - right.constant : left.constant + right.constant;
  return left;
}

static std::optional<Position> moved(Operation *op, int depth) {
  std::optional<Position> inner = positionOf(op->getOperand(0), depth - 1);
  if (!inner)
    return std::nullopt;
  Shape from = GraphWriter::shapeOf(op->getOperand(0)),
        to = GraphWriter::shapeOf(op->getResult(0));
  if (isa<graphir::ReshapeOp>(op))
    return reshaped(*inner, from, to);
  if (isa<graphir::BroadcastOp>(op))
    return aligned(*inner, to.size());
  if (auto transpose = dyn_cast<graphir::TransposeOp>(op)) {
    Position result{{}, inner->constant};
    for (int64_t axis : transpose.getPerm())
      result.perAxis.push_back(inner->perAxis[axis]);
    return result;
  }
  if (auto slice = dyn_cast<graphir::SliceOp>(op)) {
    for (auto [axis, coefficient] : llvm::enumerate(inner->perAxis)) {
      inner->constant =
          inner->constant + Dim(coefficient) * Dim(slice.getStarts()[axis]);
      coefficient *= slice.getSteps()[axis];
    }
    return settled(*inner, to);
  }
  return std::nullopt;
}

std::optional<Position> graphpasses::positionOf(Value x, int depth) {
  Operation *op = x.getDefiningOp();
  opset::DType dtype = GraphWriter::dtypeOf(x);
  // Floats hold positions only up to a point, so they are left alone.
  if (!op || depth == 0 ||
      (dtype != opset::DType::I32 && dtype != opset::DType::I64))
    return std::nullopt;
  Shape shape = GraphWriter::shapeOf(x);
  if (auto iota = dyn_cast<graphir::IotaOp>(op)) {
    Position position;
    position.perAxis.assign(shape.size(), 0);
    position.perAxis[iota.getAxis()] = 1;
    return settled(position, shape);
  }
  if (isa<graphir::ConstantOp>(op)) {
    std::optional<double> value = constantOf(x);
    if (!value)
      return std::nullopt;
    Position position{{}, Dim(static_cast<int64_t>(*value))};
    position.perAxis.assign(shape.size(), 0);
    return position;
  }
  if (auto reduce = dyn_cast<graphir::ReduceMaxOp>(op))
    return largest(reduce, depth);
  if (isa<graphir::AddOp, graphir::SubOp>(op))
    return sum(op, depth);
  if (isa<graphir::CastOp>(op))
    return positionOf(op->getOperand(0), depth - 1);
  return moved(op, depth);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

namespace {
/// perQuery * i + perKey * j + constant <= 0
struct Inequality {
  int64_t perQuery = 0, perKey = 0;
  Dim constant;
};
} // namespace

static std::optional<Inequality> inequalityOf(const Condition &condition) {
  auto compare = condition.value.getDefiningOp<graphir::CompareOp>();
  if (!compare)
    return std::nullopt;
  std::optional<Position> a = positionOf(compare.getLhs()),
                          b = positionOf(compare.getRhs());
  StringRef predicate = compare.getPredicate();
  if (!a || !b || predicate == "eq" || predicate == "ne")
    return std::nullopt;
  bool less = predicate.starts_with("l");
  bool strict = predicate.ends_with("t");
  if (condition.negated)
    less = !less, strict = !strict;
  if (!less)
    std::swap(a, b);
  // Now a <= b, or a < b.
  size_t rank = std::max({a->perAxis.size(), b->perAxis.size(), size_t{2}});
  Position left = aligned(*a, rank), right = aligned(*b, rank);
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    if (left.perAxis[axis] != right.perAxis[axis])
      return std::nullopt;
  return Inequality{left.perAxis[rank - 2] - right.perAxis[rank - 2],
                    left.perAxis[rank - 1] - right.perAxis[rank - 1],
                    left.constant - right.constant + Dim(strict ? 1 : 0)};
}

void graphpasses::splitCondition(Condition condition,
                                 SmallVectorImpl<Condition> &parts) {
  Operation *op = condition.value.getDefiningOp();
  auto part = [&](Value value, bool negated) {
    splitCondition({value, negated, condition.scores}, parts);
  };
  if (auto inner = dyn_cast_or_null<graphir::NotOp>(op))
    return part(inner.getInput(), !condition.negated);
  // A stretched condition is still a conjunction, and aligns as before.
  if (auto stretch = dyn_cast_or_null<graphir::BroadcastOp>(op))
    return part(stretch.getInput(), condition.negated);
  bool splits = op && (condition.negated ? isa<graphir::OrOp>(op)
                                         : isa<graphir::AndOp>(op));
  if (!splits) {
    parts.push_back(std::move(condition));
    return;
  }
  part(op->getOperand(0), condition.negated);
  part(op->getOperand(1), condition.negated);
}

static bool atLeast(const Dim &dim, int64_t least) {
  // Sizes are never negative, so neither is a sum without minus signs.
  Dim rest = dim - Dim(least);
  for (const auto &[monomial, coefficient] : rest.monomials())
    if (coefficient < 0)
      return false;
  return true;
}

MaskParts graphpasses::readMask(ArrayRef<Condition> parts, const Dim &queries,
                                const Dim &keys) {
  MaskParts mask;
  Dim offset, corner = keys - queries;
  SmallVector<std::pair<Condition, std::optional<Inequality>>> open;
  for (const Condition &part : parts) {
    std::optional<Inequality> form = inequalityOf(part);
    bool causal = form && form->perQuery == -1 && form->perKey == 1;
    Dim shift = causal ? Dim(0) - form->constant : Dim();
    if (causal && mask.causal == "none" &&
        (shift == Dim(0) || shift == corner)) {
      mask.causal = shift == Dim(0) ? "top_left" : "bottom_right";
      offset = shift;
    } else {
      open.push_back({part, form});
    }
  }
  for (const auto &[part, form] : open) {
    // i - j + constant <= 0 and own = i + offset: own - j < window.
    std::optional<int64_t> window;
    if (form && form->perQuery == 1 && form->perKey == -1)
      window = (offset + Dim(1) - form->constant).constant();
    if (mask.causal != "none" && mask.window == 0 && window && *window > 0)
      mask.window = *window;
    else
      mask.rest.push_back(part);
  }
  // Top left always shows key 0, bottom right the own key if there are at
  // least as many keys; a window must reach a key that exists.
  if (mask.causal == "bottom_right" || mask.window > 0)
    mask.leavesKeys =
        mask.causal == "bottom_right" ? atLeast(corner, 0) : corner == Dim(0);
  return mask;
}
