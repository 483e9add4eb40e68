//===- Elementary.cpp - elementary functions as plain arithmetic ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/scalar/Elementary.h"

#include "ir/scalar/LaneMath.h"

#include <limits>

using namespace mlir;

namespace azulejo::scalar {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The tables that tools/fit/fit_elementary.py prints, each with its interval
// and its share in the error of the result.

// [-0.5003, 0.5003], error 3e-09
constexpr float kExp2Tail[] = {
    0.000153285815f, 0.00133909867f, 0.00961850118f,
    0.0555035956f,   0.240226477f,   0.693147182f,
};

// [-0.5003, 0.5003], error 9.4e-08
constexpr float kExp2ShortTail[] = {
    0.00132690056f, 0.00967131369f, 0.0555071235f, 0.240222469f, 0.693147004f,
};

// [-0.3468, 0.3468], error 3.1e-09
constexpr float kExpTail[] = {
    0.00138206058f, 0.00836867373f, 0.0416682661f, 0.166665211f, 0.49999994f,
};

// [-0.1734, 0.1734], error 3.1e-09
constexpr float kExpTwiceTail[] = {
    0.0884518772f, 0.267797559f, 0.666692257f, 1.33332169f, 1.99999976f, 2.0f,
};

// [-0.3333, 0.3333], error 4.6e-09
constexpr float kLogTail[] = {
    -0.128800333f, 0.139845937f,  -0.121874802f, 0.14005734f, -0.166801959f,
    0.200104266f,  -0.249998063f, 0.333332151f,  -0.5f,
};

// [1e-09, 0.6172], error 4e-09
constexpr float kSinTail[] = {
    -0.000195182758f,
    0.00833218917f,
    -0.166666552f,
};

// [1e-09, 0.6172], error 1.2e-10
constexpr float kCosTail[] = {
    2.44323273e-05f,
    -0.00138873095f,
    0.0416666456f,
    -0.5f,
};

// [1e-09, 0.4225], error 6.8e-09
constexpr float kTanhTail[] = {
    -0.0055147768f, 0.0204690564f, -0.0536879115f, 0.133308291f, -0.333332598f,
};

// [1e-12, 0.02944], error 4.2e-12
constexpr double kLog2Odd[] = {
    0.34074252995682691, 0.41167200237363494, 0.57708359788244457,
    0.96179667326724838, 2.8853900817901539,
};

// [-0.5, 0.5], error 1.9e-09
constexpr double kExp2Wide[] = {
    0.00015345811362937976, 0.0013399931201330522, 0.009618488957539981,
    0.055503287769689005,   0.24022646890630225,   0.69314720573726518,
    1.0000000005541669,
};

constexpr float kLn2 = 0.693147182f;
constexpr float kLn2Rest = -1.90465421e-09f;
constexpr float kLog2E = 1.44269502f;

// Adding one of these rounds a float of moderate size to an integer k, which
// then lies in the low bits of the sum; subtracting it again gives k as a
// float. The second holds k + 127, the exponent field of 2^k; the third twice
// that, to be split over two factors.
constexpr float kRound = 0x1.8p23f;
constexpr float kRoundBiased = kRound + 127;
constexpr float kRoundTwiceBiased = kRound + 254;
constexpr double kRoundWide = 0x1.8p52;

/// 2^k from a sum with kRoundBiased, for -126 <= k <= 127; 0 for the k below,
/// infinity for the k above.
Value powerOfTwo(LaneMath &l, Value sum) {
  return l.fromBits(l.shiftLeft(l.bits(sum), 23));
}

/// p 2^k from a sum with kRoundTwiceBiased, for -252 <= k <= 254. The second
/// of the two products alone rounds, so that subnormals are right.
Value scale(LaneMath &l, Value p, Value sum) {
  Value both = l.bits(sum);
  Value half = l.shiftRight(both, 1);
  Value first = l.fromBits(l.shiftLeft(half, 23));
  Value second = l.fromBits(l.shiftLeft(l.subInt(both, half), 23));
  return l.mul(l.mul(p, first), second);
}

/// 2^f for |f| <= 1/2.
template <size_t N>
Value exp2Near(LaneMath &l, Value f, const float (&tail)[N]) {
  return l.fma(f, l.horner(f, tail), l.f32(1));
}

Value emitExp2(LaneMath &l, Value x) {
  Value t = l.atMost(l.f32(129), l.atLeast(l.f32(-151), x));
  Value magic = l.f32(kRoundTwiceBiased);
  Value sum = l.add(t, magic);
  Value f = l.sub(t, l.sub(sum, magic));
  return scale(l, exp2Near(l, f, kExp2Tail), sum);
}

/// 2^x as `afn` allows it: scaled by one factor, so that it is 0 below -126.5
/// and infinite above 127.5.
Value emitExp2Approximately(LaneMath &l, Value x) {
  Value t = l.atMost(l.f32(128), l.atLeast(l.f32(-127), x));
  Value magic = l.f32(kRoundBiased);
  Value sum = l.add(t, magic);
  Value f = l.sub(t, l.sub(sum, magic));
  return l.mul(exp2Near(l, f, kExp2ShortTail), powerOfTwo(l, sum));
}

Value emitExp(LaneMath &l, Value x) {
  Value t = l.atMost(l.f32(89), l.atLeast(l.f32(-104.5), x));
  Value magic = l.f32(kRoundTwiceBiased);
  Value sum = l.fma(t, l.f32(kLog2E), magic);
  Value k = l.sub(sum, magic);
  Value f = l.fma(k, l.f32(-kLn2), t);
  f = l.fma(k, l.f32(-kLn2Rest), f);
  Value q = l.horner(f, kExpTail);
  Value p = l.fma(l.fma(q, f, l.f32(1)), f, l.f32(1));
  return scale(l, p, sum);
}

Value emitLog(LaneMath &l, Value x) {
  // x = 2^e (1 + f) with 2/3 <= 1 + f < 4/3, which keeps e = 0 around x = 1.
  Value tiny = l.less(x, l.f32(0x1p-126f));
  Value normal = l.select(tiny, l.mul(x, l.f32(0x1p23f)), x);
  Value bits = l.bits(normal);
  Value e = l.shiftRightSigned(l.subInt(bits, l.i32(0x3f2aaaab)), 23);
  Value m = l.fromBits(l.subInt(bits, l.shiftLeft(e, 23)));
  Value f = l.sub(m, l.f32(1));
  Value power = l.add(l.toFloat(e), l.select(tiny, l.f32(-23), l.f32(0)));
  Value r = l.fma(l.horner(f, kLogTail), l.mul(f, f), f);
  r = l.fma(power, l.f32(kLn2), r);
  // Infinity and NaN are their own logarithms.
  r = l.select(l.less(x, l.f32(kInf)), r, x);
  r = l.select(l.equal(x, l.f32(0)), l.f32(-kInf), r);
  return l.select(l.less(x, l.f32(0)), l.f32(kNan), r);
}

/// sin(x + quarterTurns pi / 2).
Value emitSinCos(LaneMath &l, Value x, int quarterTurns) {
  // x = k pi / 2 + r. No f32 lies so near a multiple of pi / 2 that pi / 2 in
  // two f64 would be too coarse. From about 2^40 on, the error of 2 / pi begins
  // to show in k, so that r leaves the interval of the fit.
  Value wide = l.widen(x), magic = l.f64(kRoundWide);
  Value sum = l.fma(wide, l.f64(0.63661977236758138), magic);
  Value k = l.sub(sum, magic);
  Value rest = l.fma(k, l.f64(-1.5707963267948966), wide);
  rest = l.fma(k, l.f64(-6.123233995736766e-17), rest);
  // Keeps the result in [-1, 1] then. An infinity is NaN by now.
  Value r = l.atLeast(l.f32(-0.8f), l.atMost(l.f32(0.8f), l.narrow(rest)));
  Value quarter = l.lowHalf(l.bits(sum));
  if (quarterTurns != 0)
    quarter = l.addInt(quarter, l.i32(quarterTurns));

  Value z = l.mul(r, r);
  Value sine = l.fma(l.mul(l.horner(z, kSinTail), z), r, r);
  Value cosine = l.fma(l.horner(z, kCosTail), z, l.f32(1));
  // The low bit of `quarter` becomes a sign to choose by, the next one that of
  // the result.
  Value odd = l.fromBits(l.either(l.shiftLeft(quarter, 31), l.i32(0x3f800000)));
  Value sign = l.shiftLeft(l.shiftRight(quarter, 1), 31);
  Value chosen = l.select(l.less(odd, l.f32(0)), cosine, sine);
  Value result = l.fromBits(l.flip(l.bits(chosen), sign));
  if (quarterTurns != 0)
    return result;
  // The sum of r and its correction has lost the sign of a zero.
  return l.select(l.equal(x, l.f32(0)), x, result);
}

Value emitTanh(LaneMath &l, Value x) {
  Value a = l.abs(x);
  Value z = l.mul(a, a);
  Value small = l.fma(l.mul(l.horner(z, kTanhTail), z), a, a);
  // 1 - 2 / (e^2a + 1), which rounds to 1 from 9.1 on.
  Value t = l.atMost(l.f32(10), a);
  Value magic = l.f32(kRoundBiased);
  Value sum = l.fma(t, l.f32(2 * kLog2E), magic);
  Value k = l.sub(sum, magic);
  Value f = l.fma(k, l.f32(-kLn2 / 2), t);
  f = l.fma(k, l.f32(-kLn2Rest / 2), f);
  Value p = l.fma(f, l.horner(f, kExpTwiceTail), l.f32(1));
  Value above = l.fma(p, powerOfTwo(l, sum), l.f32(1));
  Value large = l.sub(l.f32(1), l.div(l.f32(2), above));
  return l.copySign(l.select(l.less(a, l.f32(0.65f)), small, large), x);
}

/// log2 of a >= 0 in f64, good to 2^-40 relative. `a` was widened from f32, so
/// it has no subnormals.
Value emitLog2Wide(LaneMath &l, Value a) {
  // a = 2^e m with m in [sqrt 1/2, sqrt 2). An exponent field in the low bits
  // of 2^52 is e as a number.
  constexpr int64_t kOne = 0x3ff0000000000000, kRootHalf = 0x3fe6a09e667f3bcd;
  Value t = l.addInt(l.bits(a), l.i64(kOne - kRootHalf));
  Value field = l.either(l.shiftRight(t, 52), l.i64(0x4330000000000000));
  Value e = l.sub(l.fromBits(field), l.f64(0x1p52 + 1023));
  Value m = l.fromBits(
      l.addInt(l.both(t, l.i64(0x000fffffffffffff)), l.i64(kRootHalf)));
  Value s = l.div(l.sub(m, l.f64(1)), l.add(m, l.f64(1)));
  return l.fma(s, l.horner(l.mul(s, s), kLog2Odd), e);
}

Value emitPow(LaneMath &l, Value x, Value y) {
  Value zero = l.f32(0), inf = l.f32(kInf), one = l.f32(1);
  Value a = l.abs(x), wide = l.widen(a);
  Value log = emitLog2Wide(l, wide);
  // Infinity and NaN pass through as their own logarithms.
  log = l.select(l.less(a, inf), log, wide);
  log = l.select(l.equal(a, zero), l.f64(-kInf), log);

  // An infinite y acts as a huge one: (-1)^inf is 1 and not inf * 0.
  constexpr float kHuge = std::numeric_limits<float>::max();
  Value finiteY = l.atLeast(l.f32(-kHuge), l.atMost(l.f32(kHuge), y));
  Value t = l.mul(l.widen(finiteY), log);
  t = l.atLeast(l.f64(-160), l.atMost(l.f64(160), t));
  Value magic = l.f64(kRoundWide);
  Value sum = l.add(t, magic);
  Value p = l.horner(l.sub(t, l.sub(sum, magic)), kExp2Wide);
  Value field = l.addInt(l.bits(sum), l.i64(1023));
  p = l.mul(p, l.fromBits(l.shiftLeft(field, 52)));
  // This also rounds to subnormals, zero and infinity.
  Value result = l.narrow(p);

  // A negative x gives its sign to odd powers and has no real others.
  Value halfY = l.mul(y, l.f32(0.5f));
  Value whole = l.equal(l.floor(y), y);
  Value wholeHalf = l.equal(l.floor(halfY), halfY);
  Value sign = l.both(l.bits(x), l.i32(std::numeric_limits<int32_t>::min()));
  Value flipped = l.fromBits(l.flip(l.bits(result), sign));
  Value odd = l.select(wholeHalf, result, flipped);
  Value other = l.select(l.less(x, zero), l.f32(kNan), result);
  other = l.select(l.less(a, inf), other, result);
  result = l.select(whole, odd, other);

  // pow(x, 0) and pow(1, y) are 1 even where the other is NaN.
  Value unit = l.either(l.equal(y, zero), l.equal(x, one));
  return l.select(unit, one, result);
}

} // namespace

Value emitSoftmaxExp2(OpBuilder &b, Location loc, Value x) {
  LaneMath l(b, loc, x);
  Value magic = l.f32(kRoundBiased);
  Value sum = l.add(x, magic);
  Value f = l.sub(x, l.sub(sum, magic));
  Value p = exp2Near(l, f, kExp2ShortTail);
  // From -126 on, p 2^k is normal. A NaN in p survives the product.
  p = l.mul(p, powerOfTwo(l, sum));
  return l.select(l.less(x, l.f32(-126)), l.f32(0), p);
}

Value expandMath(OpBuilder &b, Location loc, Operation *op, ValueRange operands,
                 Clamp clamp) {
  if (operands.empty() ||
      !getElementTypeOrSelf(operands.front().getType()).isF32())
    return {};
  Value x = operands.front();
  LaneMath l(b, loc, x, clamp);
  if (isa<math::ExpOp>(op))
    return emitExp(l, x);
  if (auto exp2 = dyn_cast<math::Exp2Op>(op))
    return bitEnumContainsAll(exp2.getFastmath(), arith::FastMathFlags::afn)
               ? emitExp2Approximately(l, x)
               : emitExp2(l, x);
  if (isa<math::LogOp>(op))
    return emitLog(l, x);
  if (isa<math::SinOp>(op))
    return emitSinCos(l, x, 0);
  if (isa<math::CosOp>(op))
    return emitSinCos(l, x, 1);
  if (isa<math::TanhOp>(op))
    return emitTanh(l, x);
  if (isa<math::PowFOp>(op))
    return emitPow(l, x, operands[1]);
  if (isa<math::RsqrtOp>(op))
    return l.div(l.f32(1), l.sqrt(x));
  return {};
}

} // namespace azulejo::scalar
