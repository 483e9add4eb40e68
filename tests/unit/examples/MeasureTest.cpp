//===- MeasureTest.cpp - what the examples measure with -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "examples/measure/Program.h"

#include <gtest/gtest.h>

#include <cmath>

namespace measure {
namespace {

using azulejo::DType;
using azulejo::Result;

TEST(Measure, ReadsTrafficFromExplain) {
  Result<Traffic> traffic = readTraffic(
      R"({"kernels": [{"bytes": 1}, {"bytes": 2}],
          "bytes": {"unfused": 30, "fused": 20, "lower_bound": 10}})");
  ASSERT_TRUE(traffic) << traffic.error().str();
  EXPECT_EQ(traffic->kernels, 2u);
  EXPECT_EQ(traffic->unfusedBytes, 30);
  EXPECT_EQ(traffic->planBytes, 20);
  EXPECT_EQ(traffic->lowerBoundBytes, 10);
}

TEST(Measure, RefusesIncompleteExplainData) {
  for (const char *text :
       {"", "[]", "{}", R"({"kernels": []})",
        R"({"bytes": {"unfused": 1, "fused": 1, "lower_bound": 1}})",
        R"({"kernels": 1,
            "bytes": {"unfused": 1, "fused": 1, "lower_bound": 1}})",
        R"({"kernels": [], "bytes": {"unfused": 1, "fused": 1}})",
        R"({"kernels": [],
            "bytes": {"unfused": null, "fused": 1, "lower_bound": 1}})"})
    EXPECT_FALSE(readTraffic(text)) << text;
}

TEST(Measure, WritesBytesInDecimalUnits) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(999), "999 B");
  EXPECT_EQ(bytesText(805306368), "805.3 MB");
  EXPECT_EQ(bytesText(2.5e15), "2500.0 TB");
}

TEST(HostTensor, RoundsToItsType) {
  HostTensor half(DType::BF16, {2});
  half.set(0, 1.00390625f); // a tie, goes to even
  half.set(1, -3);
  EXPECT_EQ(half.at(0), 1.0f);
  EXPECT_EQ(half.at(1), -3.0f);
  EXPECT_EQ(HostTensor::of({2}, std::vector<int32_t>{7, -7}).at(1), -7.0f);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(half.view().data) % 64, 0u);
}

TEST(HostTensor, ComparesByNorm) {
  HostTensor a = HostTensor::of({2}, std::vector<float>{3, 4});
  HostTensor b = HostTensor::of({2}, std::vector<float>{3, 4.5f});
  EXPECT_EQ(relativeError(a, a), 0);
  EXPECT_DOUBLE_EQ(relativeError(b, a), 0.1);
  b.set(0, NAN);
  EXPECT_FALSE(relativeError(b, a) <= 1e9);
  HostTensor zero(DType::F32, {2});
  EXPECT_FALSE(relativeError(a, zero) <= 1e9);
}

TEST(HostTensor, RepeatsItsRandomNumbers) {
  HostTensor a = HostTensor::random(DType::F32, {100}, 1),
             b = HostTensor::random(DType::F32, {100}, 1),
             c = HostTensor::random(DType::F32, {100}, 2);
  EXPECT_EQ(relativeError(a, b), 0);
  EXPECT_GT(relativeError(a, c), 0.5);
}

} // namespace
} // namespace measure
