//===- Float8.cpp - fp8 in registers of host code -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/scalar/Float8.h"
#include "ir/scalar/LaneMath.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace azulejo::scalar {
namespace {

struct Format {
  int mantissa, bias;
  int32_t infinity; ///< bits from which on nothing is finite
  double largest;

  explicit Format(Type storage)
      : Format(isa<Float8E5M2Type>(storage) ? Format{2, 15, 0x7c, 57344}
                                            : Format{3, 7, 0x7f, 448}) {}
  double minNormal() const { return std::ldexp(1, 1 - bias); }
  double minSubnormal() const { return std::ldexp(1, 1 - bias - mantissa); }

private:
  Format(int mantissa, int bias, int32_t infinity, double largest)
      : mantissa(mantissa), bias(bias), infinity(infinity), largest(largest) {}
};

Type like(Value model, Type element) {
  if (auto vector = dyn_cast<VectorType>(model.getType()))
    return vector.clone(element);
  return element;
}

} // namespace

bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

Value widenFloat8(OpBuilder &b, Location loc, Value bytes, Type storage) {
  Format format(storage);
  Value wide =
      arith::ExtUIOp::create(b, loc, like(bytes, b.getI32Type()), bytes);
  LaneMath l(b, loc, wide);
  Value sign = l.shiftLeft(l.both(wide, l.i32(0x80)), 24);
  Value magnitude = l.both(wide, l.i32(0x7f));
  // Exponent and mantissa moved to their places are the value short of the
  // difference of the biases; a product makes that up, subnormals included.
  Value scaled = l.mul(l.fromBits(l.shiftLeft(magnitude, 23 - format.mantissa)),
                       l.f32(std::ldexp(1, 127 - format.bias)));
  auto is = [&](arith::CmpIPredicate order, int32_t bits) -> Value {
    return arith::CmpIOp::create(b, loc, order, magnitude, l.i32(bits));
  };
  bool hasInfinity = isa<Float8E5M2Type>(storage);
  Value nan = l.f32(std::numeric_limits<double>::quiet_NaN());
  Value value = l.select(
      is(hasInfinity ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::uge,
         format.infinity),
      nan, scaled);
  if (hasInfinity)
    value = l.select(is(arith::CmpIPredicate::eq, format.infinity),
                     l.f32(std::numeric_limits<double>::infinity()), value);
  return l.fromBits(l.either(l.bits(value), sign));
}

Value narrowFloat8(OpBuilder &b, Location loc, Value value, Type storage) {
  Format format(storage);
  LaneMath l(b, loc, value);
  Value bits = l.bits(value);
  Value sign = l.both(l.shiftRight(bits, 24), l.i32(0x80));
  Value magnitude = l.atMost(l.f32(format.largest), l.abs(value));
  Value pattern = l.bits(magnitude);
  // Normal results: add just under half of the last place kept, and one more
  // where that place is odd; a carry into the exponent is right.
  int dropped = 23 - format.mantissa;
  Value odd = l.both(l.shiftRight(pattern, dropped), l.i32(1));
  Value rounded =
      l.addInt(l.addInt(pattern, l.i32((1 << (dropped - 1)) - 1)), odd);
  Value normal = l.subInt(l.shiftRight(rounded, dropped),
                          l.i32((127 - format.bias) << format.mantissa));
  // Subnormal ones: next to 2^23 of the smallest step, f32 holds exactly the
  // multiples of that step, so the addition rounds.
  Value anchor = l.f32(std::ldexp(format.minSubnormal(), 23));
  Value subnormal = l.subInt(l.bits(l.add(magnitude, anchor)), l.bits(anchor));
  Value result =
      l.select(l.less(magnitude, l.f32(format.minNormal())), subnormal, normal);
  Value isNan = l.compare(arith::CmpFPredicate::UNO, value, value);
  result = l.select(isNan, l.i32(format.infinity | 3), l.either(result, sign));
  return arith::TruncIOp::create(b, loc, like(value, b.getI8Type()), result);
}

} // namespace azulejo::scalar
