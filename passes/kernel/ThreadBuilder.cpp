//===- ThreadBuilder.cpp - code of one thread -----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/ThreadBuilder.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;

namespace azulejo::gpu {

Value ThreadBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}

Value ThreadBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value ThreadBuilder::zero(Type type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

std::optional<int64_t> ThreadBuilder::constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value ThreadBuilder::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value ThreadBuilder::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(loc, x, y);
}
Value ThreadBuilder::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(loc, x, y);
}
Value ThreadBuilder::min(Value x, Value y) {
  return b.createOrFold<arith::MinSIOp>(loc, x, y);
}
Value ThreadBuilder::max(Value x, Value y) {
  return b.createOrFold<arith::MaxSIOp>(loc, x, y);
}
Value ThreadBuilder::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}
Value ThreadBuilder::bitAnd(Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(loc, x, y);
}
Value ThreadBuilder::bitOr(Value x, Value y) {
  return b.createOrFold<arith::OrIOp>(loc, x, y);
}

Value ThreadBuilder::ceilDiv(Value x, int64_t divisor) {
  return b.createOrFold<arith::DivUIOp>(loc, add(x, i64(divisor - 1)),
                                        i64(divisor));
}

Value ThreadBuilder::floorTo(Value x, int64_t step) {
  Value quotient = b.createOrFold<arith::DivUIOp>(loc, x, i64(step));
  return mul(quotient, i64(step));
}

Value ThreadBuilder::combine(Value x, Value y, StringRef kind) {
  bool isFloat = isa<FloatType>(x.getType());
  if (kind == "sum")
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y))
                   : Value(arith::AddIOp::create(b, loc, x, y));
  return isFloat ? Value(arith::MaximumFOp::create(b, loc, x, y))
                 : Value(arith::MaxSIOp::create(b, loc, x, y));
}

Value ThreadBuilder::foldPairs(SmallVector<Value> values, StringRef kind) {
  for (; values.size() > 1; values.resize(values.size() / 2))
    for (size_t i = 0; 2 * i < values.size(); ++i)
      values[i] = combine(values[2 * i], values[2 * i + 1], kind);
  return values[0];
}

Value ThreadBuilder::identity(Type type, StringRef kind) {
  if (kind == "sum")
    return zero(type);
  if (auto real = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        b, loc, b.getFloatAttr(real, -std::numeric_limits<double>::infinity()));
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type, APInt::getSignedMinValue(width)));
}

Value ThreadBuilder::cloneScalar(Operation &op, ValueRange operands) {
  auto threadType = [&](Type type) {
    return type.isIndex() ? Type(b.getI64Type()) : type;
  };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (constant.getType().isIndex())
      return i64(cast<IntegerAttr>(constant.getValue()).getInt());
    return b.clone(op)->getResult(0);
  }
  Type result = threadType(op.getResult(0).getType());
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    unsigned from = operands[0].getType().getIntOrFloatBitWidth(),
             to = result.getIntOrFloatBitWidth();
    if (from == to)
      return operands[0];
    if (from > to)
      return arith::TruncIOp::create(b, loc, result, operands[0]);
    if (isa<arith::IndexCastUIOp>(op))
      return arith::ExtUIOp::create(b, loc, result, operands[0]);
    return arith::ExtSIOp::create(b, loc, result, operands[0]);
  }
  // Index arithmetic is where constants meet; the folders of arith keep the
  // program short.
  if (isa<arith::AddIOp>(op))
    return add(operands[0], operands[1]);
  if (isa<arith::SubIOp>(op))
    return sub(operands[0], operands[1]);
  if (isa<arith::MulIOp>(op))
    return mul(operands[0], operands[1]);
  OperationState state(loc, op.getName(), operands, {result}, op.getAttrs());
  return b.create(state)->getResult(0);
}

SmallVector<Value> ThreadBuilder::loop(Value low, Value high, Value step,
                                       ValueRange carried, Body body) {
  auto op = scf::ForOp::create(b, loc, low, high, step, carried);
  OpBuilder::InsertionGuard guard(b);
  // Without carried values the builder has made the terminator already.
  if (carried.empty())
    b.setInsertionPoint(op.getBody()->getTerminator());
  else
    b.setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value>
ThreadBuilder::when(Value condition, ValueRange otherwise,
                    function_ref<SmallVector<Value>()> body) {
  bool gives = !otherwise.empty();
  auto op = scf::IfOp::create(b, loc, otherwise.getTypes(), condition,
                              /*withElseRegion=*/gives);
  OpBuilder::InsertionGuard guard(b);
  if (!gives) {
    b.setInsertionPoint(op.thenBlock()->getTerminator());
    body();
    return {};
  }
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, loc, body());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return SmallVector<Value>(op.getResults());
}

void ThreadBuilder::choose(Value condition, function_ref<void()> yes,
                           function_ref<void()> no) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  yes();
  b.setInsertionPoint(op.elseBlock()->getTerminator());
  no();
}

} // namespace azulejo::gpu
