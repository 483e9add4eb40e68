//===- EncoderRunTest.cpp - the compiled encoder against loops ------------===//
//
// Compiles the encoder at tiny sizes and compares it with the plain loops of
// PlainEncoder.h, which know nothing of padding or batches.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TinyModel.h"

#include "examples/minilm/Encoder.h"

#include <gtest/gtest.h>

namespace minilm {
namespace {

using azulejo::DType;
using azulejo::Result;

class EncoderRun : public testing::TestWithParam<DType> {
protected:
  EncoderRun()
      : config(tinyConfig()),
        weights(Weights::generate(config, GetParam(), tinyValues)) {}

  /// The parameters as the compiled encoder sees them: rounded to bf16 where
  /// it keeps them so. What remains is the error of its arithmetic.
  Parameters parameters() const {
    Parameters values = tinyParameters(config);
    if (GetParam() == DType::BF16)
      for (const WeightSpec &spec : weightList(config))
        for (float &value : values[spec.name])
          if (!spec.isNorm)
            value = std::bit_cast<float>(uint32_t(toBfloat16(value)) << 16);
    return values;
  }

  Result<Encoder> compile() const {
    Result<azulejo::Device> device = azulejo::Device::open("cpu");
    if (!device)
      return device.error();
    azulejo::CompileOptions options;
    options.cache.mode = azulejo::CacheMode::Off;
    return Encoder::compile(config, weights, GetParam(), *device, options);
  }

  /// Relative error of each row; unit-length rows make it the 2-norm.
  void compare(const TokenBatch &batch, const std::vector<float> &vectors) {
    double tolerance = GetParam() == DType::F32 ? 1e-5 : 3e-2;
    Parameters values = parameters();
    for (int64_t row = 0; row < batch.rows; ++row) {
      std::vector<double> exact = plainEmbedding(
          config, values,
          std::span(batch.ids).subspan(size_t(row * batch.columns),
                                       size_t(batch.lengths[row])));
      double square = 0;
      for (int64_t c = 0; c < config.hidden; ++c) {
        double off = vectors[row * config.hidden + c] - exact[c];
        square += off * off;
      }
      EXPECT_LE(std::sqrt(square), tolerance)
          << "row " << row << " of length " << batch.lengths[row];
    }
  }

  Config config;
  Weights weights;
};

TEST_P(EncoderRun, AgreesWithPlainLoops) {
  Result<Encoder> encoder = compile();
  ASSERT_TRUE(encoder) << encoder.error().str();
  // One compilation; batches of other sizes, lengths and paddings.
  for (const std::vector<int32_t> &lengths :
       {std::vector<int32_t>{1}, std::vector<int32_t>{2, 40, 7},
        std::vector<int32_t>{5, 5}, std::vector<int32_t>(70, 3)}) {
    TokenBatch batch = tinyBatch(config, lengths);
    Result<std::vector<float>> vectors = encoder->embed(batch);
    ASSERT_TRUE(vectors) << vectors.error().str();
    compare(batch, *vectors);
  }
}

TEST_P(EncoderRun, DoesNotSeePadding) {
  Result<Encoder> encoder = compile();
  ASSERT_TRUE(encoder) << encoder.error().str();
  TokenBatch batch = tinyBatch(config, {3, 9});
  Result<std::vector<float>> clean = encoder->embed(batch);
  for (int64_t t = 3; t < batch.columns; ++t)
    batch.ids[t] = 42;
  Result<std::vector<float>> dirty = encoder->embed(batch);
  ASSERT_TRUE(clean) << clean.error().str();
  ASSERT_TRUE(dirty) << dirty.error().str();
  EXPECT_EQ(*clean, *dirty);
}

TEST_P(EncoderRun, RefusesBatchesItCannotTake) {
  Result<Encoder> encoder = compile();
  ASSERT_TRUE(encoder) << encoder.error().str();
  TokenBatch tooLong = tinyBatch(config, {41});
  EXPECT_EQ(encoder->embed(tooLong).error().rule, "encoder.positions");
  TokenBatch foreign = tinyBatch(config, {3});
  foreign.ids[1] = 53;
  EXPECT_EQ(encoder->embed(foreign).error().rule, "encoder.vocabulary");
}

INSTANTIATE_TEST_SUITE_P(Types, EncoderRun,
                         testing::Values(DType::F32, DType::BF16),
                         [](const auto &info) {
                           return std::string(dtypeName(info.param));
                         });

} // namespace
} // namespace minilm
