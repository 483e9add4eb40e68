//===- Float.cpp - narrow floating-point formats, bit by bit --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace azulejo::reference {

const FloatFormat &formatOf(DType dtype) {
  static constexpr FloatFormat f32{23, 127, 0x7f7fffff, 0x7fc00000, 31, false};
  static constexpr FloatFormat f16{10, 15, 0x7bff, 0x7e00, 15, false};
  static constexpr FloatFormat bf16{7, 127, 0x7f7f, 0x7fc0, 15, false};
  static constexpr FloatFormat e4m3{3, 7, 0x7e, 0x7f, 7, true};
  static constexpr FloatFormat e5m2{2, 15, 0x7b, 0x7f, 7, true};
  switch (dtype) {
  case DType::F16:
    return f16;
  case DType::BF16:
    return bf16;
  case DType::F8E4M3:
    return e4m3;
  case DType::F8E5M2:
    return e5m2;
  default:
    return f32;
  }
}

/// The exponent that decides the step at this magnitude: subnormals share the
/// exponent of the smallest normal.
static int stepExponent(const FloatFormat &format, double magnitude) {
  int exponent = 1 - format.bias;
  if (magnitude > 0)
    exponent = std::max(exponent, std::ilogb(magnitude));
  return exponent - format.mantissaBits;
}

uint32_t encode(DType dtype, double value) {
  const FloatFormat &format = formatOf(dtype);
  if (std::isnan(value))
    return format.nanBits;
  uint32_t sign = std::signbit(value) ? 1u << format.signShift : 0;
  double magnitude = std::fabs(value);
  uint32_t overflow = format.maxFiniteBits + (format.saturates ? 0 : 1);
  if (magnitude > 2 * maxFinite(dtype))
    return sign | overflow;
  int step = stepExponent(format, magnitude);
  // Scaling by a power of two is exact here, so this is the only rounding.
  // `quotient` counts steps and includes the hidden bit of a normal value;
  // adding it to the exponent field makes a carry out of the mantissa land in
  // the exponent, where it belongs.
  auto quotient =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
  auto field =
      static_cast<uint32_t>(step + format.mantissaBits + format.bias - 1);
  uint32_t bits = (field << format.mantissaBits) + quotient;
  return sign | (bits > format.maxFiniteBits ? overflow : bits);
}

double decode(DType dtype, uint32_t bits) {
  const FloatFormat &format = formatOf(dtype);
  uint32_t signBit = 1u << format.signShift;
  bool negative = bits & signBit;
  uint32_t magnitudeBits = bits & (signBit - 1);
  double magnitude;
  if (magnitudeBits > format.maxFiniteBits) {
    // f8e4m3 has one pattern above the largest finite value, and it is NaN;
    // elsewhere an all-zero mantissa marks infinity.
    bool infinite =
        dtype != DType::F8E4M3 && magnitudeBits == format.maxFiniteBits + 1;
    magnitude = infinite ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else {
    auto field = static_cast<int>(magnitudeBits >> format.mantissaBits);
    uint32_t hidden = field ? 1u << format.mantissaBits : 0;
    uint32_t mantissa =
        (magnitudeBits & ((1u << format.mantissaBits) - 1)) + hidden;
    magnitude =
        std::ldexp(static_cast<double>(mantissa),
                   std::max(field, 1) - format.bias - format.mantissaBits);
  }
  return negative ? -magnitude : magnitude;
}

double roundTo(DType dtype, double value) {
  if (dtype == DType::F64)
    return value;
  if (dtype == DType::F32)
    return static_cast<double>(static_cast<float>(value));
  return decode(dtype, encode(dtype, value));
}

float roundToTf32(float value) {
  if (!std::isfinite(value))
    return value;
  constexpr uint32_t step = 1u << (23 - kTf32MantissaBits);
  // Sign and magnitude: half a step more, then cut, goes away from zero.
  uint32_t bits = std::bit_cast<uint32_t>(value) + step / 2;
  return std::bit_cast<float>(bits & ~(step - 1));
}

double ulpOf(DType dtype, double value) {
  double magnitude = std::fabs(value);
  if (dtype == DType::F64)
    return std::nextafter(magnitude, INFINITY) - magnitude;
  if (!(magnitude <= maxFinite(dtype)))
    magnitude = maxFinite(dtype);
  return std::ldexp(1.0, stepExponent(formatOf(dtype), magnitude));
}

double maxFinite(DType dtype) {
  if (dtype == DType::F64)
    return std::numeric_limits<double>::max();
  return decode(dtype, formatOf(dtype).maxFiniteBits);
}

double minNormal(DType dtype) {
  if (dtype == DType::F64)
    return std::numeric_limits<double>::min();
  return std::ldexp(1.0, 1 - formatOf(dtype).bias);
}

} // namespace azulejo::reference
