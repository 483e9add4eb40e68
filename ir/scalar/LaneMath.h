//===- LaneMath.h - arithmetic on f32 lanes ---------------------*- C++ -*-===//
//
// A thin builder with which Elementary.cpp writes its formulas. All values of
// one instance have one shape, a scalar or a vector of some length, and the
// element type follows from each value: f32 and i32, or the wide f64 and i64.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_SCALAR_LANEMATH_H
#define AZULEJO_IR_SCALAR_LANEMATH_H

#include "ir/scalar/Elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace azulejo::scalar {

class LaneMath {
public:
  using Value = mlir::Value;
  using Order = mlir::arith::CmpFPredicate;

  /// Works in the shape of `model`.
  LaneMath(mlir::OpBuilder &b, mlir::Location loc, Value model,
           Clamp clamp = Clamp::Select)
      : b(b), loc(loc), shape(model.getType()), clamp(clamp) {}

  // Constants in every lane. The float ones are exact: a coefficient that was
  // rounded to f32 is passed as that.
  Value f32(double v) { return real(b.getF32Type(), v); }
  Value f64(double v) { return real(b.getF64Type(), v); }
  Value i32(int32_t v) { return integer(b.getI32Type(), v); }
  Value i64(int64_t v) { return integer(b.getI64Type(), v); }

  Value add(Value x, Value y) { return make<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<mlir::arith::DivFOp>(x, y); }
  /// x * y + z with one rounding.
  Value fma(Value x, Value y, Value z) {
    return make<mlir::math::FmaOp>(x, y, z);
  }
  Value abs(Value x) { return make<mlir::math::AbsFOp>(x); }
  Value negative(Value x) { return make<mlir::arith::NegFOp>(x); }
  Value floor(Value x) { return make<mlir::math::FloorOp>(x); }
  Value sqrt(Value x) { return make<mlir::math::SqrtOp>(x); }
  Value copySign(Value magnitude, Value sign) {
    return make<mlir::math::CopySignOp>(magnitude, sign);
  }

  Value addInt(Value x, Value y) { return make<mlir::arith::AddIOp>(x, y); }
  Value subInt(Value x, Value y) { return make<mlir::arith::SubIOp>(x, y); }
  /// Of signed integers.
  Value lesser(Value x, Value y) { return make<mlir::arith::MinSIOp>(x, y); }
  Value both(Value x, Value y) { return make<mlir::arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return make<mlir::arith::OrIOp>(x, y); }
  Value flip(Value x, Value y) { return make<mlir::arith::XOrIOp>(x, y); }
  Value shiftLeft(Value x, int n) {
    return make<mlir::arith::ShLIOp>(x, integer(elementOf(x), n));
  }
  Value shiftRight(Value x, int n) {
    return make<mlir::arith::ShRUIOp>(x, integer(elementOf(x), n));
  }
  /// Shifts in copies of the sign.
  Value shiftRightSigned(Value x, int n) {
    return make<mlir::arith::ShRSIOp>(x, integer(elementOf(x), n));
  }

  /// The representation of a float as an integer of its width, and back.
  Value bits(Value x) {
    bool wide = elementOf(x).isF64();
    return cast<mlir::arith::BitcastOp>(x,
                                        wide ? b.getI64Type() : b.getI32Type());
  }
  Value fromBits(Value x) {
    bool wide = elementOf(x).isInteger(64);
    return cast<mlir::arith::BitcastOp>(x, wide ? mlir::Type(b.getF64Type())
                                                : mlir::Type(b.getF32Type()));
  }
  Value widen(Value x) { return cast<mlir::arith::ExtFOp>(x, b.getF64Type()); }
  Value narrow(Value x) {
    return cast<mlir::arith::TruncFOp>(x, b.getF32Type());
  }
  Value lowHalf(Value x) {
    return cast<mlir::arith::TruncIOp>(x, b.getI32Type());
  }
  Value toFloat(Value x) {
    return cast<mlir::arith::SIToFPOp>(x, b.getF32Type());
  }

  Value compare(Order order, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, loc, order, x, y);
  }
  Value less(Value x, Value y) { return compare(Order::OLT, x, y); }
  Value equal(Value x, Value y) { return compare(Order::OEQ, x, y); }
  Value select(Value condition, Value x, Value y) {
    return make<mlir::arith::SelectOp>(condition, x, y);
  }
  /// min and max that keep a NaN in x. By selection they are one instruction
  /// each on x86, whose min and max return their second operand if either is
  /// NaN. GPUs have an instruction that propagates NaN, for f32 only. Limits
  /// are no zeros, so the sign of one does not matter.
  Value atMost(Value limit, Value x) {
    if (hasMinimum(x))
      return make<mlir::arith::MinimumFOp>(x, limit);
    return select(less(limit, x), limit, x);
  }
  Value atLeast(Value limit, Value x) {
    if (hasMinimum(x))
      return make<mlir::arith::MaximumFOp>(x, limit);
    return select(compare(Order::OGT, limit, x), limit, x);
  }

  /// The polynomial in x with `coefficients`, highest power first.
  template <typename T, size_t N>
  Value horner(Value x, const T (&coefficients)[N]) {
    Value sum = real(elementOf(x), coefficients[0]);
    for (size_t i = 1; i < N; ++i)
      sum = fma(sum, x, real(elementOf(x), coefficients[i]));
    return sum;
  }

private:
  bool hasMinimum(Value x) const {
    return clamp == Clamp::Minimum && elementOf(x).isF32();
  }
  static mlir::Type elementOf(Value x) {
    return mlir::getElementTypeOrSelf(x.getType());
  }
  mlir::Type like(mlir::Type element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value constant(mlir::TypedAttr lane) {
    mlir::Type type = like(lane.getType());
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      lane = mlir::DenseElementsAttr::get(vector, mlir::Attribute(lane));
    return mlir::arith::ConstantOp::create(b, loc, lane);
  }
  Value real(mlir::Type element, double v) {
    return constant(mlir::FloatAttr::get(element, v));
  }
  Value integer(mlir::Type element, int64_t v) {
    return constant(mlir::IntegerAttr::get(element, v));
  }
  template <typename Op, typename... Operands>
  Value make(Operands... operands) {
    return Op::create(b, loc, operands...);
  }
  template <typename Op> Value cast(Value x, mlir::Type element) {
    return Op::create(b, loc, like(element), x);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type shape;
  Clamp clamp;
};

} // namespace azulejo::scalar

#endif // AZULEJO_IR_SCALAR_LANEMATH_H
