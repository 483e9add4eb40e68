//===- LaneAnalysis.cpp - how a map's values vary along a row -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/LaneAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace azulejo::gpu {

namespace {

constexpr int64_t kMostDivisor = 4096;

/// The largest power of two that divides the value, and kMostDivisor. Unsigned:
/// the smallest integer has no negative.
int64_t lowBit(uint64_t value) {
  return std::min<uint64_t>(kMostDivisor,
                            value == 0 ? kMostDivisor : value & -value);
}

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

} // namespace

int64_t knownDivisor(Value value) {
  if (std::optional<int64_t> constant = constantOf(value))
    return lowBit(*constant);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
    if (loop && arg == loop.getInductionVar())
      return std::min(knownDivisor(loop.getLowerBound()),
                      knownDivisor(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op))
    return std::min(kMostDivisor, knownDivisor(op->getOperand(0)) *
                                      knownDivisor(op->getOperand(1)));
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::min(knownDivisor(op->getOperand(0)),
                    knownDivisor(op->getOperand(1)));
  return 1;
}

bool isMultipleOf(Value value, int64_t divisor) {
  if (divisor == 1)
    return true;
  if (std::optional<int64_t> constant = constantOf(value))
    return *constant % divisor == 0;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg == loop.getInductionVar() &&
           isMultipleOf(loop.getLowerBound(), divisor) &&
           isMultipleOf(loop.getStep(), divisor);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return isMultipleOf(operand, divisor);
    });
  if (!isa<arith::MulIOp>(op))
    return false;
  // A constant factor has its part of the divisor, the other one the rest.
  for (auto [factor, other] : {std::pair(op->getOperand(0), op->getOperand(1)),
                               std::pair(op->getOperand(1), op->getOperand(0))})
    if (std::optional<int64_t> constant = constantOf(factor))
      return isMultipleOf(
          other, divisor / int64_t(std::gcd(llvm::AbsoluteValue(*constant),
                                            uint64_t(divisor))));
  return isMultipleOf(op->getOperand(0), divisor) ||
         isMultipleOf(op->getOperand(1), divisor);
}

bool isAlwaysInside(tile::MapOp map, unsigned axis) {
  int64_t shape = map.getShape()[axis];
  Value origin = map.getOrigin()[axis];
  std::optional<int64_t> end = constantOf(map.getExtent()[axis]),
                         begin = constantOf(origin);
  if (!end)
    return false;
  // An origin is below its extent, so a multiple of the shape leaves room for
  // a whole one.
  return begin ? *begin + shape <= *end
               : *end % shape == 0 && isMultipleOf(origin, shape);
}

LaneAnalysis::LaneAnalysis(tile::MapOp map, int64_t width, unsigned laneAxis)
    : width(width), laneAxis(laneAxis) {
  Block &body = map.getBody().front();
  size_t rank = map.getShape().size();
  // Other coordinates and the elements of per-row tiles stand still along a
  // row.
  for (BlockArgument arg : body.getArguments())
    shapes[arg] = {Row, 1};
  for (auto [i, input] : llvm::enumerate(map.getInputs()))
    if (cast<RankedTensorType>(input.getType()).getRank() ==
        static_cast<int64_t>(rank))
      shapes[body.getArgument(rank + i)] = {Varying, 1};
  shapes[body.getArgument(laneAxis)] = {
      Linear, std::min(width, knownDivisor(map.getOrigin()[laneAxis]))};
  for (Operation &op : body.without_terminator()) {
    Shape shape = infer(op);
    for (Value result : op.getResults())
      shapes[result] = shape;
  }
}

LaneAnalysis::Shape LaneAnalysis::shape(Value value) const {
  auto it = shapes.find(value);
  return it != shapes.end() ? it->second : Shape{Row, knownDivisor(value)};
}

/// No group of neighbours lies on both sides of `bound`.
bool LaneAnalysis::straddlesNothing(Shape x, Value bound) const {
  return x.kind == Linear && x.divisor % width == 0 &&
         shape(bound).kind <= Uniform && shape(bound).divisor % width == 0;
}

LaneAnalysis::Shape LaneAnalysis::inferDivision(Operation &op, Shape x,
                                                Value by) const {
  // The neighbours fall into one period of the divisor when both the first of
  // them and the divisor are multiples of their number.
  std::optional<int64_t> divisor = constantOf(by);
  if (!divisor || *divisor <= 0 || *divisor % width || x.divisor % width)
    return {Varying, 1};
  if (isa<arith::RemUIOp>(op))
    return {Linear, std::min(x.divisor, lowBit(*divisor))};
  return {Uniform, 1};
}

LaneAnalysis::Shape LaneAnalysis::infer(Operation &op) const {
  Kind most = Row;
  for (Value operand : op.getOperands())
    most = std::max(most, kind(operand));
  if (isa<tile::ReadOp, tile::WriteOp>(op))
    return {most == Linear ? Varying : most, 1};
  if (op.getNumOperands() == 0)
    return {Row, knownDivisor(op.getResult(0))};
  Shape x = shape(op.getOperand(0));
  Shape y = op.getNumOperands() > 1 ? shape(op.getOperand(1)) : x;
  if (most <= Uniform) {
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      return {most, std::min(x.divisor, y.divisor)};
    if (isa<arith::MulIOp>(op))
      return {most, std::min(kMostDivisor, x.divisor * y.divisor)};
    return {most, 1};
  }
  if (most == Varying)
    return {Varying, 1};
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return x;
  bool lineByPoint = x.kind == Linear && y.kind <= Uniform;
  bool pointByLine = x.kind <= Uniform && y.kind == Linear;
  if ((isa<arith::AddIOp>(op) && (lineByPoint || pointByLine)) ||
      (isa<arith::SubIOp>(op) && lineByPoint))
    return {Linear, std::min(x.divisor, y.divisor)};
  if (isa<arith::DivUIOp, arith::RemUIOp>(op) && lineByPoint)
    return inferDivision(op, x, op.getOperand(1));
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    using P = arith::CmpIPredicate;
    P p = compare.getPredicate();
    bool cuts = p == P::slt || p == P::ult || p == P::sge || p == P::uge;
    if (cuts && straddlesNothing(x, op.getOperand(1)))
      return {Uniform, 1};
    return {Varying, 1};
  }
  if (isa<arith::SelectOp>(op)) {
    Shape z = shape(op.getOperand(2));
    if (x.kind <= Uniform && y.kind == Linear && z.kind == Linear)
      return {Linear, std::min(y.divisor, z.divisor)};
  }
  return {Varying, 1};
}

bool LaneAnalysis::isContiguous(ValueRange indices) const {
  if (indices.empty())
    return false;
  for (Value index : indices.drop_back())
    if (kind(index) > Uniform)
      return false;
  Shape last = shape(indices.back());
  return last.kind == Linear && last.divisor % width == 0;
}

} // namespace azulejo::gpu
