//===- Float8Test.cpp - fp8 written as integer arithmetic -----------------===//
//
// The reference is LLVM's soft float, with the saturation that the house rules
// add. Vectors run on CPUs, scalars on GPUs without conversion instructions.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/scalar/Float8.h"
#include "tests/unit/ir/scalar/LaneFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace azulejo;

namespace {

struct Format {
  const char *name;
  Type (*type)(OpBuilder &);
  const llvm::fltSemantics &(*semantics)();
  float largest;
};

const Format kFormats[] = {
    {"e4m3", [](OpBuilder &b) { return Type(b.getType<Float8E4M3FNType>()); },
     llvm::APFloat::Float8E4M3FN, 448},
    {"e5m2", [](OpBuilder &b) { return Type(b.getType<Float8E5M2Type>()); },
     llvm::APFloat::Float8E5M2, 57344},
};

Type like(Value model, Type element) {
  if (auto vector = dyn_cast<VectorType>(model.getType()))
    return vector.clone(element);
  return element;
}

/// Numbers 0 to 255 to the values of those bytes.
scalar::LaneFunction widening(const Format &format, int lanes) {
  return {1, lanes, [&](OpBuilder &b, Location loc, ArrayRef<Value> x) {
            Value bytes = arith::FPToUIOp::create(
                b, loc, like(x[0], b.getI8Type()), x[0]);
            return scalar::widenFloat8(b, loc, bytes, format.type(b));
          }};
}

/// Values to the numbers of the bytes that they round to.
scalar::LaneFunction narrowing(const Format &format, int lanes) {
  return {1, lanes, [&](OpBuilder &b, Location loc, ArrayRef<Value> x) {
            Value bytes = scalar::narrowFloat8(b, loc, x[0], format.type(b));
            return Value(arith::UIToFPOp::create(
                b, loc, like(x[0], b.getF32Type()), bytes));
          }};
}

uint8_t rounded(const Format &format, float x) {
  llvm::APFloat value(
      std::isnan(x) ? x : std::clamp(x, -format.largest, format.largest));
  bool inexact;
  value.convert(format.semantics(), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
  return static_cast<uint8_t>(value.bitcastToAPInt().getZExtValue());
}

float widened(const Format &format, uint8_t byte) {
  llvm::APFloat value(format.semantics(), llvm::APInt(8, byte));
  bool inexact;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
  return value.convertToFloat();
}

TEST(Float8, EveryByteWidensExactly) {
  for (const Format &format : kFormats)
    for (int lanes : {0, 16}) {
      scalar::LaneFunction widen = widening(format, lanes);
      ASSERT_FALSE(HasFatalFailure());
      for (int byte = 0; byte < 256; ++byte) {
        float want = widened(format, static_cast<uint8_t>(byte));
        float got = widen(static_cast<float>(byte));
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(got)) << format.name << " " << byte;
          continue;
        }
        EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want))
            << format.name << " " << byte;
      }
    }
}

TEST(Float8, EveryValueRoundsToNearestAndSaturates) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 4099)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const Format &format : kFormats) {
    // Every value of the format, every tie between two, and their neighbours.
    std::vector<float> all = x;
    for (int byte = 0; byte < 255; ++byte) {
      float here = widened(format, static_cast<uint8_t>(byte)),
            next = widened(format, static_cast<uint8_t>(byte + 1));
      for (float value : {here, (here + next) / 2})
        for (float towards : {value, -INFINITY, INFINITY})
          all.push_back(std::nextafter(value, towards));
    }
    for (float value : {INFINITY, -INFINITY, NAN, -NAN, 0.f, -0.f})
      all.push_back(value);
    for (int lanes : {0, 16}) {
      scalar::LaneFunction narrow = narrowing(format, lanes);
      ASSERT_FALSE(HasFatalFailure());
      std::vector<float> got = narrow(all);
      for (size_t i = 0; i < all.size(); ++i) {
        auto byte = static_cast<uint8_t>(got[i]);
        if (std::isnan(all[i])) {
          ASSERT_TRUE(std::isnan(widened(format, byte))) << format.name;
          continue;
        }
        ASSERT_EQ(byte, rounded(format, all[i]))
            << format.name << " of " << all[i];
      }
    }
  }
}

} // namespace
