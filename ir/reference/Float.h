//===- Float.h - narrow floating-point formats, bit by bit ------*- C++ -*-===//
//
// Conversions between double and the storage formats, written so that one can
// see that they are right: one rounding, to nearest, ties to even, straight
// from double. A double holds every value of every format exactly, so
// decoding never rounds.
//
// Overflow: f16, bf16 and f32 give infinity, as IEEE 754 does. The fp8 formats
// are storage for quantised data and saturate, infinities included, as the
// conversion instructions of GPUs do: f8e4m3 (no infinity) stops at 448,
// f8e5m2 at 57344. NaN stays NaN; its payload and sign are not kept.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_FLOAT_H
#define AZULEJO_IR_REFERENCE_FLOAT_H

#include "azulejo/DType.h"

namespace azulejo::reference {

/// What describes a binary format: sign, exponent and mantissa fields.
struct FloatFormat {
  int mantissaBits;
  int bias;
  uint32_t maxFiniteBits; ///< magnitude bits of the largest finite value
  uint32_t nanBits;       ///< the NaN that encoding gives
  int signShift;          ///< position of the sign bit
  bool saturates;         ///< overflow gives the largest finite value
};

/// The format of f32, f16, bf16, f8e4m3 or f8e5m2.
const FloatFormat &formatOf(DType dtype);

/// The bits of `value` rounded to `dtype` (one of the formats above).
uint32_t encode(DType dtype, double value);

/// The exact value of `bits` in `dtype`.
double decode(DType dtype, uint32_t bits);

/// `value` rounded to what `dtype` holds. f64 gives `value` itself.
double roundTo(DType dtype, double value);

/// Explicit bits of mantissa of tf32, which has the exponents of f32.
inline constexpr int kTf32MantissaBits = 10;

/// `value` with the mantissa of tf32, to nearest, ties away from zero,
/// as GPUs round the operands of such products (cvt.rna.tf32.f32).
float roundToTf32(float value);

/// The distance between neighbours of `dtype` at the magnitude of `value`: the
/// smallest subnormal near zero; the largest step for infinities.
double ulpOf(DType dtype, double value);

/// The largest finite value.
double maxFinite(DType dtype);

/// The smallest positive normal value.
double minNormal(DType dtype);

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_FLOAT_H
