//===- Unbranched.cpp - division and roots without branches ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/scalar/Unbranched.h"

#include "ir/scalar/LaneMath.h"

#include <limits>

using namespace mlir;

namespace azulejo::scalar {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {

/// An operand as `scaled` 2^(exponent - 126), where `scaled` is in [2^-23, 4)
/// or 0, infinite or NaN.
struct Scaled {
  Value scaled, exponent;
};

} // namespace

/// 2^n for n from -126 to 127.
static Value power(LaneMath &m, Value n) {
  return m.fromBits(m.shiftLeft(m.addInt(n, m.i32(127)), 23));
}

static Scaled scaled(LaneMath &m, Value x) {
  Value field = m.both(m.shiftRight(m.bits(x), 23), m.i32(255));
  // Beyond, the power would be subnormal; a factor of 4 does no harm.
  Value exponent = m.lesser(field, m.i32(252));
  return {m.mul(x, power(m, m.subInt(m.i32(126), exponent))), exponent};
}

Value emitUnbranchedQuotient(OpBuilder &b, Location loc, Value x, Value y) {
  LaneMath m(b, loc, x);
  Scaled over = scaled(m, x), under = scaled(m, y);
  Value less = m.negative(under.scaled), one = m.f32(1);
  Value rough = arith::DivFOp::create(b, loc, one, under.scaled,
                                      arith::FastMathFlags::afn);
  Value reciprocal = m.fma(m.fma(less, rough, one), rough, rough);
  // Where all bits of y's mantissa are set, 1/y is a little more than half way
  // to the next number, which is odd, and the step does not get there.
  Value isFull =
      m.shiftRight(m.addInt(m.both(m.bits(y), m.i32(0x7fffff)), m.i32(1)), 23);
  reciprocal = m.fromBits(m.either(m.bits(reciprocal), isFull));
  Value first = m.mul(over.scaled, rough), quotient = first;
  for (int round = 0; round < 2; ++round)
    quotient = m.fma(m.fma(less, quotient, over.scaled), reciprocal, quotient);
  // Of zeros, infinities and NaN the first product is the answer, and what
  // follows it is NaN, or lost the sign.
  Value size = m.abs(first);
  Value ordinary =
      m.both(m.less(m.f32(0), size), m.less(size, m.f32(kInfinity)));
  quotient = m.select(ordinary, quotient, first);
  // In two steps, because the power itself may leave the range.
  Value exponent = m.subInt(over.exponent, under.exponent);
  Value half = m.shiftRightSigned(exponent, 1);
  return m.mul(m.mul(quotient, power(m, half)),
               power(m, m.subInt(exponent, half)));
}

Value emitUnbranchedRoot(OpBuilder &b, Location loc, Value x) {
  LaneMath m(b, loc, x);
  Value isSmall = m.less(x, m.f32(0x1p-64));
  Value inner = m.mul(x, m.select(isSmall, m.f32(0x1p64), m.f32(1)));
  Value rough = math::RsqrtOp::create(b, loc, inner, arith::FastMathFlags::afn);
  Value root = m.mul(inner, rough), half = m.mul(rough, m.f32(0.5));
  Value error = m.fma(m.negative(root), half, m.f32(0.5));
  root = m.fma(root, error, root);
  half = m.fma(half, error, half);
  root = m.fma(m.fma(m.negative(root), root, inner), half, root);
  root = m.mul(root, m.select(isSmall, m.f32(0x1p-32), m.f32(1)));
  // Zeros and infinity are their own roots.
  Value own = m.either(m.equal(x, m.f32(0)), m.equal(x, m.f32(kInfinity)));
  return m.select(own, x, root);
}

} // namespace azulejo::scalar
