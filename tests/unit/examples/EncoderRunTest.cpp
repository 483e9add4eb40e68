//===- EncoderRunTest.cpp - the compiled encoder against loops ------------===//
//
// Compiles the encoder at tiny sizes and compares it with the reference
// evaluator on the same graph (EncoderTest.cpp checks that graph).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "EncoderOracle.h"
#include "TinyModel.h"

#include "examples/minilm/Encoder.h"
#include "ir/reference/Check.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace minilm {
namespace {

using azulejo::DType;
using azulejo::Result;

class EncoderRun : public testing::TestWithParam<DType> {
protected:
  EncoderRun()
      : config(tinyConfig()),
        weights(Weights::generate(config, GetParam(), tinyValues)) {}

  Result<Encoder> compile() const {
    Result<azulejo::Device> device = azulejo::Device::open("cpu");
    if (!device)
      return device.error();
    azulejo::CompileOptions options;
    options.cache.mode = azulejo::CacheMode::Off;
    return Encoder::compile(config, weights, GetParam(), *device, options);
  }

  /// The numerics contract: at most twice the error of a plain unfused run.
  void compare(const TokenBatch &batch, const std::vector<float> &vectors) {
    using namespace azulejo::reference;
    Result<HostTensor> oracle = evaluateEncoder(config, weights, GetParam(),
                                                batch, Mode::Oracle),
                       plain = evaluateEncoder(config, weights, GetParam(),
                                               batch, Mode::Plain);
    ASSERT_TRUE(oracle) << oracle.error().str();
    ASSERT_TRUE(plain) << plain.error().str();
    HostTensor actual =
        HostTensor::of(DType::F32, {batch.rows, config.hidden},
                       std::vector<double>(vectors.begin(), vectors.end()));
    CheckReport report =
        check(actual, *oracle, *plain, {.precision = GetParam()});
    EXPECT_TRUE(report.pass) << report.str();
  }

  Config config;
  Weights weights;
};

TEST_P(EncoderRun, AgreesWithTheReference) {
  Result<Encoder> encoder = compile();
  ASSERT_TRUE(encoder) << encoder.error().str();
  // One compilation; batches of other sizes, lengths and paddings.
  for (const std::vector<int32_t> &lengths :
       {std::vector<int32_t>{1}, std::vector<int32_t>{2, 40, 7},
        std::vector<int32_t>{5, 5}, std::vector<int32_t>(64, 3)}) {
    TokenBatch batch = tinyBatch(config, lengths);
    Result<std::vector<float>> vectors = encoder->embed(batch);
    ASSERT_TRUE(vectors) << vectors.error().str();
    compare(batch, *vectors);
  }
}

TEST_P(EncoderRun, SplitsLargeBatches) {
  // More rows than the graph's batch takes at once run in two parts.
  Result<Encoder> encoder = compile();
  ASSERT_TRUE(encoder) << encoder.error().str();
  TokenBatch batch = tinyBatch(config, std::vector<int32_t>(70, 3));
  Result<std::vector<float>> all = encoder->embed(batch);
  ASSERT_TRUE(all) << all.error().str();
  TokenBatch part = tinyBatch(config, std::vector<int32_t>(64, 3));
  Result<std::vector<float>> first = encoder->embed(part);
  ASSERT_TRUE(first) << first.error().str();
  ASSERT_LT(first->size(), all->size());
  EXPECT_TRUE(std::equal(first->begin(), first->end(), all->begin()));
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
