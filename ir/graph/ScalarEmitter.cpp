//===- ScalarEmitter.cpp - bodies of elementwise ops ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/ScalarEmitter.h"
#include "ir/graph/GraphTypes.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

static bool holdsFloat(Value x) {
  return isa<FloatType>(getElementTypeOrSelf(x));
}

static Type elementOf(Operation *op, unsigned operand) {
  return getElementTypeOrSelf(op->getOperand(operand).getType());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

SmallVector<Value> ScalarEmitter::asGiven(Operation *, ValueRange x) {
  return SmallVector<Value>(x);
}

static Type promotedCompute(Operation *op, unsigned a, unsigned b) {
  std::optional<opset::DType> first = toDType(elementOf(op, a)),
                              second = toDType(elementOf(op, b));
  if (!first || !second)
    return computeType(elementOf(op, a));
  return computeType(
      fromDType(op->getContext(), opset::promote(*first, *second)));
}

SmallVector<Value> ScalarEmitter::promoted(Operation *op, ValueRange x) {
  Type element = promotedCompute(op, 0, 1);
  return {convert(x[0], element), convert(x[1], element)};
}

SmallVector<Value> ScalarEmitter::promotedBranches(Operation *op,
                                                   ValueRange x) {
  Type element = promotedCompute(op, 1, 2);
  return {x[0], convert(x[1], element), convert(x[2], element)};
}

//===----------------------------------------------------------------------===//
// Constants and types
//===----------------------------------------------------------------------===//

Type ScalarEmitter::shapedLike(Value x, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(x.getType()))
    return shaped.clone(element);
  return element;
}

static Value constantOf(OpBuilder &builder, Location loc, Type type,
                        TypedAttr scalar) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(shaped, Attribute(scalar)));
  return arith::ConstantOp::create(builder, loc, scalar);
}

Value ScalarEmitter::constant(Value like, double value) {
  Type element = getElementTypeOrSelf(like);
  if (!isa<FloatType>(element))
    return constant(like, static_cast<int64_t>(value));
  return constantOf(builder, loc, like.getType(),
                    builder.getFloatAttr(element, value));
}

Value ScalarEmitter::constant(Value like, int64_t value) {
  Type element = getElementTypeOrSelf(like);
  if (isa<FloatType>(element))
    return constant(like, static_cast<double>(value));
  unsigned width = element.getIntOrFloatBitWidth();
  APInt bits(64, static_cast<uint64_t>(value));
  return constantOf(builder, loc, like.getType(),
                    IntegerAttr::get(element, bits.trunc(width)));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarEmitter::add(Value a, Value b) {
  return floatOrInt<arith::AddFOp, arith::AddIOp>(a, b);
}

Value ScalarEmitter::mul(Value a, Value b) {
  return floatOrInt<arith::MulFOp, arith::MulIOp>(a, b);
}

// maximumf and minimumf give NaN if either side is NaN and order -0 below +0.
Value ScalarEmitter::min(Value a, Value b) {
  return floatOrInt<arith::MinimumFOp, arith::MinSIOp>(a, b);
}

Value ScalarEmitter::max(Value a, Value b) {
  return floatOrInt<arith::MaximumFOp, arith::MaxSIOp>(a, b);
}

Value ScalarEmitter::neg(Value x) {
  if (holdsFloat(x))
    return op<arith::NegFOp>(x);
  return op<arith::SubIOp>(constant(x, 0), x);
}

Value ScalarEmitter::exp(Value x) { return op<math::ExpOp>(x); }

Value ScalarEmitter::select(Value condition, Value a, Value b) {
  return op<arith::SelectOp>(condition, a, b);
}

Value ScalarEmitter::compare(StringRef predicate, Value a, Value b) {
  // Ordered predicates are false on NaN; only "ne" is true then.
  if (holdsFloat(a)) {
    auto code = llvm::StringSwitch<arith::CmpFPredicate>(predicate)
                    .Case("eq", arith::CmpFPredicate::OEQ)
                    .Case("ne", arith::CmpFPredicate::UNE)
                    .Case("lt", arith::CmpFPredicate::OLT)
                    .Case("le", arith::CmpFPredicate::OLE)
                    .Case("gt", arith::CmpFPredicate::OGT)
                    .Default(arith::CmpFPredicate::OGE);
    return arith::CmpFOp::create(builder, loc, code, a, b);
  }
  // Truth values order as numbers: false below true.
  bool truth = getElementTypeOrSelf(a).isInteger(1);
  auto order = [&](arith::CmpIPredicate number, arith::CmpIPredicate boolean) {
    return truth ? boolean : number;
  };
  using P = arith::CmpIPredicate;
  auto code = llvm::StringSwitch<P>(predicate)
                  .Case("eq", P::eq)
                  .Case("ne", P::ne)
                  .Case("lt", order(P::slt, P::ult))
                  .Case("le", order(P::sle, P::ule))
                  .Case("gt", order(P::sgt, P::ugt))
                  .Default(order(P::sge, P::uge));
  return arith::CmpIOp::create(builder, loc, code, a, b);
}

/// As graph.cast to an integer of `width` bits; NaN bounds were refused.
static int64_t saturate(double value, unsigned width) {
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  int64_t greatest = static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
  if (value >= limit)
    return greatest;
  if (value < -limit)
    return -greatest - 1;
  return static_cast<int64_t>(value);
}

Value ScalarEmitter::clamp(Value x, double low, double high) {
  if (holdsFloat(x))
    return min(max(x, constant(x, low)), constant(x, high));
  unsigned width = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  return min(max(x, constant(x, saturate(low, width))),
             constant(x, saturate(high, width)));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Where sigmoid has reached 0 and 1: 2^t is infinite and zero there.
constexpr double kGateEnd = 104.0;

Value ScalarEmitter::expBelowMaximum(Value x) {
  // As in gateOf: 2^t, and what the rounding of t has lost. The limit keeps
  // infinity out of the product; 2^t is 0 there.
  Value left = max(x, constant(x, -kGateEnd));
  Value t = mul(left, constant(x, std::numbers::log2e));
  Value lost = op<math::FmaOp>(t, constant(x, -std::numbers::ln2), left);
  Value power = exp2Approximately(t);
  return op<math::FmaOp>(power, lost, power);
}

Value ScalarEmitter::sigmoid(Value x) {
  return gateOf(max(x, constant(x, -kGateEnd)));
}

Value ScalarEmitter::silu(Value x) {
  // The limit keeps infinity out of the product; the gate is 0 there.
  Value left = max(x, constant(x, -kGateEnd));
  return mul(left, gateOf(left));
}

Value ScalarEmitter::gateOf(Value left) {
  // exp(-x) is 2^t exp(d), where d = -x - t ln 2 is what the rounding of
  // t = -x log2 e has lost: without it the error would grow with |x|. f32's
  // ln 2 is right to 31 bits, so one fma gives d. |d| is below 2^-16, thus
  // exp(d) is 1 + d.
  Value x = min(left, constant(left, kGateEnd));
  Value t = mul(x, constant(x, -std::numbers::log2e));
  Value lost = op<math::FmaOp>(t, constant(x, std::numbers::ln2), x);
  Value one = constant(x, 1.0);
  Value scale = op<arith::SubFOp>(one, lost);
  Value above = op<math::FmaOp>(exp2Approximately(t), scale, one);
  return op<arith::DivFOp>(one, above, arith::FastMathFlags::afn);
}

// The share of the normal distribution beyond a is 2^(a q(a) - 1). Highest
// power first, as tools/fit/fit_elementary.py prints it: [1e-09, 5.5],
// error 2.5e-08 per unit of that exponent. The exponent falls on beyond the
// interval.
constexpr float kNormalBeyond[] = {
    -2.49035583e-08f, 7.50522929e-07f,  -9.73270653e-06f, 6.88999135e-05f,
    -0.000252694706f, -5.70141492e-05f, 0.00701636402f,   -0.0524866395f,
    -0.459207147f,    -1.15110552f,
};

Value ScalarEmitter::geluErf(Value x) {
  // x - x s on the right and -|x| s on the left, where s is the share beyond
  // |x|: neither cancels, as 1 + erf does in the left tail. From 16 on s is 0
  // in f32, so the limit keeps infinity out of the product. -0.0 instead of
  // +0.0 gives zeros, and the left end, their sign.
  Value a = min(op<math::AbsFOp>(x), constant(x, 16.0));
  Value q = constant(x, kNormalBeyond[0]);
  for (float coefficient : llvm::drop_begin(kNormalBeyond))
    q = op<math::FmaOp>(q, a, constant(x, coefficient));
  Value share = exp2Approximately(op<math::FmaOp>(q, a, constant(x, -1.0)));
  Value right = max(x, constant(x, -0.0));
  return op<math::FmaOp>(neg(a), share, right);
}

Value ScalarEmitter::geluTanh(Value x) {
  // (1 + tanh(u)) / 2 is sigmoid(2 u), which does not cancel for negative u.
  // From -16 on it is 0 in f32, and the limit keeps infinity out of the
  // product.
  constexpr double kSlope = 2 * 0.79788456080286536 * std::numbers::log2e;
  Value left = max(x, constant(x, -16.0));
  Value slope = op<math::FmaOp>(
      mul(left, left), constant(x, -kSlope * 0.044715), constant(x, -kSlope));
  Value above = add(exp2Approximately(mul(left, slope)), constant(x, 1.0));
  Value gate =
      op<arith::DivFOp>(constant(x, 1.0), above, arith::FastMathFlags::afn);
  return mul(left, gate);
}

Value ScalarEmitter::exp2Approximately(Value x) {
  return op<math::Exp2Op>(x, arith::FastMathFlags::afn);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value ScalarEmitter::convert(Value x, Type element) {
  Type from = getElementTypeOrSelf(x);
  if (from == element)
    return x;
  Type to = shapedLike(x, element);
  bool truth = from.isInteger(1);
  if (isa<FloatType>(element)) {
    if (truth)
      return op<arith::UIToFPOp>(to, x);
    return op<arith::SIToFPOp>(to, x);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (truth)
    return op<arith::ExtUIOp>(to, x);
  if (width > from.getIntOrFloatBitWidth())
    return op<arith::ExtSIOp>(to, x);
  return op<arith::TruncIOp>(to, x);
}

Value ScalarEmitter::roundToFloat(Value x, FloatType to) {
  Type f32 = builder.getF32Type();
  Value wide = holdsFloat(x) ? x : convert(x, f32);
  if (to.isF32())
    return wide;
  // The fp8 types saturate: a lowering must not have to decide whether
  // overflow gives infinity or NaN.
  if (to.getWidth() == 8) {
    double limit =
        APFloat::getLargest(to.getFloatSemantics()).convertToDouble();
    wide = clamp(wide, -limit, limit);
  }
  Value narrow = op<arith::TruncFOp>(shapedLike(x, to), wide);
  return op<arith::ExtFOp>(shapedLike(x, f32), narrow);
}

/// Truncates a float to an integer of `width` bits, held in `element`.
/// fptosi is undefined out of range, so it only sees values inside.
Value ScalarEmitter::truncateToInt(Value x, unsigned width, Type element) {
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  Value above = compare("ge", x, constant(x, limit));
  // -limit - 1 truncates out of range; where f32 cannot tell it from -limit,
  // both saturate to the same value.
  Value below = compare("le", x, constant(x, -limit - 1));
  Value unordered =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
  Value outside = op<arith::OrIOp>(op<arith::OrIOp>(above, below), unordered);
  Value inside = select(outside, constant(x, 0.0), x);
  Value result = op<arith::FPToSIOp>(shapedLike(x, element), inside);
  int64_t greatest = static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
  result = select(above, constant(result, greatest), result);
  return select(below, constant(result, -greatest - 1), result);
}

Value ScalarEmitter::cast(Value x, Type to) {
  if (auto target = dyn_cast<FloatType>(to))
    return roundToFloat(x, target);
  Type element = computeType(to);
  unsigned width = to.getIntOrFloatBitWidth();
  if (width == 1) {
    if (getElementTypeOrSelf(x).isInteger(1))
      return x;
    return compare("ne", x, constant(x, 0));
  }
  if (holdsFloat(x))
    return truncateToInt(x, width, element);
  Value result = convert(x, element);
  if (to == element)
    return result;
  // i8 lives in i32: wrap to eight bits, then spread the sign again.
  Value narrow = op<arith::TruncIOp>(shapedLike(x, to), result);
  return op<arith::ExtSIOp>(shapedLike(x, element), narrow);
}
