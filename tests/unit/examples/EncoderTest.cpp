//===- EncoderTest.cpp - the encoder's graph ------------------------------===//
//
// Needs libazulejo but no compiler: that the whole encoder can be built as one
// valid graph.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TinyModel.h"

#include "examples/minilm/Encoder.h"

#include <gtest/gtest.h>

namespace minilm {
namespace {

using azulejo::DType;
using azulejo::Graph;
using azulejo::Result;
using azulejo::Status;

TEST(EncoderGraph, IsValidForBothElementTypes) {
  for (DType dtype : {DType::F32, DType::BF16})
    for (const Config &config : {Config{}, tinyConfig()}) {
      Graph graph = buildGraph(config, dtype);
      Status status = graph.status();
      EXPECT_TRUE(status) << status.error().str();
    }
}

TEST(EncoderGraph, DependsOnSizesAndElementType) {
  auto digest = [](const Config &config, DType dtype) {
    Result<std::string> text = buildGraph(config, dtype).digest();
    EXPECT_TRUE(text);
    return text ? *text : std::string();
  };
  Config config = tinyConfig();
  std::string base = digest(config, DType::F32);
  EXPECT_EQ(digest(config, DType::F32), base);
  EXPECT_NE(digest(config, DType::BF16), base);
  config.normEpsilon = 1e-5;
  EXPECT_NE(digest(config, DType::F32), base);
  config = tinyConfig();
  config.layers = 1;
  EXPECT_NE(digest(config, DType::F32), base);
}

TEST(EncoderGraph, RefusesOtherElementTypes) {
  Config config = tinyConfig();
  Weights weights = Weights::generate(config, DType::F32, tinyValues);
  Result<azulejo::Device> device = azulejo::Device::open("cpu");
  ASSERT_TRUE(device) << device.error().str();
  Result<Encoder> encoder =
      Encoder::compile(config, weights, DType::F16, *device);
  ASSERT_FALSE(encoder);
  EXPECT_EQ(encoder.error().rule, "encoder.dtype");
}

} // namespace
} // namespace minilm
