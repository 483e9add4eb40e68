//===- FloatTest.cpp - narrow formats against LLVM's APFloat --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Float.h"

#include "llvm/ADT/APFloat.h"
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace azulejo::reference {
namespace {

const llvm::fltSemantics &semanticsOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return llvm::APFloat::IEEEhalf();
  case DType::BF16:
    return llvm::APFloat::BFloat();
  case DType::F8E4M3:
    return llvm::APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  default:
    return llvm::APFloat::IEEEsingle();
  }
}

double oracleDecode(DType dtype, uint32_t bits) {
  llvm::APFloat value(semanticsOf(dtype),
                      llvm::APInt(8 * dtypeBytes(dtype), bits));
  bool lost = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  return value.convertToDouble();
}

uint32_t oracleEncode(DType dtype, double from) {
  llvm::APFloat value(from);
  bool lost = false;
  value.convert(semanticsOf(dtype), llvm::APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue());
}

constexpr DType kNarrow[] = {DType::F16, DType::BF16, DType::F8E4M3,
                             DType::F8E5M2};

TEST(Float, EveryPatternDecodesAndComesBack) {
  for (DType dtype : kNarrow) {
    uint32_t patterns = 1u << (8 * dtypeBytes(dtype));
    for (uint32_t bits = 0; bits < patterns; ++bits) {
      double want = oracleDecode(dtype, bits), got = decode(dtype, bits);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << bits;
        ASSERT_TRUE(std::isnan(decode(dtype, encode(dtype, got))));
        continue;
      }
      ASSERT_EQ(got, want) << dtypeName(dtype) << " " << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << bits;
      if (std::isfinite(got)) {
        ASSERT_EQ(encode(dtype, got), bits) << dtypeName(dtype);
      }
    }
  }
}

// Between each two neighbours: the middle (a tie) and just beside it.
TEST(Float, RoundsToNearestEvenBetweenAllNeighbours) {
  for (DType dtype : kNarrow)
    for (uint32_t bits = 0; bits < formatOf(dtype).maxFiniteBits; ++bits) {
      double low = decode(dtype, bits), high = decode(dtype, bits + 1);
      double middle = low / 2 + high / 2;
      for (double x : {middle, std::nextafter(middle, low),
                       std::nextafter(middle, high)}) {
        ASSERT_EQ(encode(dtype, x), oracleEncode(dtype, x)) << x;
        ASSERT_EQ(encode(dtype, -x), oracleEncode(dtype, -x)) << x;
      }
    }
}

TEST(Float, F32AgreesWithTheHardware) {
  uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double x = std::bit_cast<double>(state);
    double y = std::ldexp(static_cast<double>(state >> 11),
                          static_cast<int>(state % 280) - 200);
    for (double v : {x, y}) {
      if (std::isnan(v))
        continue;
      ASSERT_EQ(encode(DType::F32, v),
                std::bit_cast<uint32_t>(static_cast<float>(v)))
          << v;
      ASSERT_EQ(decode(DType::F32, encode(DType::F32, v)),
                static_cast<float>(v));
    }
  }
}

TEST(Float, OverflowGivesInfinityExceptInFp8) {
  EXPECT_EQ(roundTo(DType::F16, 65519.99), 65504);
  EXPECT_EQ(roundTo(DType::F16, 65520), INFINITY);
  EXPECT_EQ(roundTo(DType::F16, -1e300), -INFINITY);
  EXPECT_EQ(roundTo(DType::BF16, 3.4e38), INFINITY);
  EXPECT_EQ(roundTo(DType::F8E4M3, 1e9), 448);
  EXPECT_EQ(roundTo(DType::F8E4M3, -INFINITY), -448);
  EXPECT_EQ(roundTo(DType::F8E5M2, INFINITY), 57344);
  EXPECT_TRUE(std::isnan(roundTo(DType::F8E4M3, NAN)));
}

// One rounding only: through f32 this value would become a tie and fall to
// the even neighbour 1.0.
TEST(Float, RoundsOnceFromDouble) {
  double x = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(roundTo(DType::F16, x), 1 + std::ldexp(1, -10));
  EXPECT_EQ(roundTo(DType::F16, static_cast<float>(x)), 1);
}

/// Against APFloat's tf32, whose ties go to even unless told otherwise.
TEST(Float, Tf32IsNearestWithTiesAwayFromZero) {
  const llvm::fltSemantics &f32 = llvm::APFloat::IEEEsingle(),
                           &tf32 = llvm::APFloat::FloatTF32();
  uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 1664525 + 1013904223;
    uint32_t bits = state;
    if (i % 3 == 0) // ties, and their neighbours
      bits = (bits & ~0x1fffu) + 0x1000 + (i % 9) / 3 - 1;
    float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value))
      continue;
    bool lost = false;
    llvm::APFloat want(f32, llvm::APInt(32, bits));
    want.convert(tf32, llvm::APFloat::rmNearestTiesToAway, &lost);
    want.convert(f32, llvm::APFloat::rmNearestTiesToEven, &lost);
    ASSERT_EQ(std::bit_cast<uint32_t>(roundToTf32(value)),
              want.bitcastToAPInt().getZExtValue())
        << std::hex << bits;
  }
  EXPECT_EQ(roundToTf32(INFINITY), INFINITY);
  EXPECT_EQ(roundToTf32(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(roundToTf32(NAN)));
  EXPECT_EQ(roundToTf32(std::numeric_limits<float>::max()), INFINITY);
}

TEST(Float, UlpIsTheDistanceToTheNeighbour) {
  EXPECT_EQ(ulpOf(DType::F32, 1), std::ldexp(1, -23));
  EXPECT_EQ(ulpOf(DType::F16, -1000), 0.5);
  EXPECT_EQ(ulpOf(DType::BF16, 1.99), std::ldexp(1, -7));
  EXPECT_EQ(ulpOf(DType::F16, 0), std::ldexp(1, -24));
  EXPECT_EQ(ulpOf(DType::F16, INFINITY), 32);
  EXPECT_EQ(minNormal(DType::F16), std::ldexp(1, -14));
  EXPECT_EQ(maxFinite(DType::F8E5M2), 57344);
}

} // namespace
} // namespace azulejo::reference
