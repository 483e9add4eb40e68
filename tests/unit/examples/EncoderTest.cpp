//===- EncoderTest.cpp - the encoder's graph ------------------------------===//
//
// Needs libazulejo but no compiler: that the whole encoder can be built as one
// valid graph, and that this graph, evaluated by the reference, computes what
// the plain loops compute.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "EncoderOracle.h"
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

/// In double, so that only a wrong graph can make a difference.
TEST(EncoderGraph, ComputesWhatPlainLoopsCompute) {
  Config config = tinyConfig();
  Weights weights = Weights::generate(config, DType::F32, tinyValues);
  Parameters parameters = tinyParameters(config);
  for (const std::vector<int32_t> &lengths :
       {std::vector<int32_t>{1}, std::vector<int32_t>{2, 40, 7},
        std::vector<int32_t>{5, 5}}) {
    TokenBatch batch = tinyBatch(config, lengths);
    Result<azulejo::reference::HostTensor> result = evaluateEncoder(
        config, weights, DType::F32, batch, azulejo::reference::Mode::Oracle);
    ASSERT_TRUE(result) << result.error().str();
    for (int64_t row = 0; row < batch.rows; ++row) {
      std::vector<double> exact = plainEmbedding(
          config, parameters,
          std::span(batch.ids).subspan(size_t(row * batch.columns),
                                       size_t(lengths[row])));
      for (int64_t c = 0; c < config.hidden; ++c)
        ASSERT_NEAR(result->at({row, c}), exact[c], 1e-12)
            << "row " << row << " of length " << lengths[row];
    }
  }
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
