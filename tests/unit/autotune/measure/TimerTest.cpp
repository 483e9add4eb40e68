//===- TimerTest.cpp - timing one executable ------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/Timer.h"

#include "runtime/cpu/ThreadPool.h"
#include "tests/unit/runtime/TestPlan.h"

#include <algorithm>

using namespace azulejo;
using measure::GuardedBuffer;
using measure::TensorSet;

namespace {

class TimerTest : public testing::Test {
protected:
  void SetUp() override {
    auto made =
        runtime::Executable::prepare(runtime::testPlan("twice"), backend);
    ASSERT_TRUE(made) << made.error().str();
    executable = std::move(*made);
  }

  std::vector<TensorSet> sets(int64_t rows, size_t count) {
    std::vector<TensorSet> all;
    for (size_t i = 0; i < count; ++i) {
      Result<TensorSet> set =
          TensorSet::make(executable->plan(), std::vector<int64_t>{rows}, 128);
      EXPECT_TRUE(set);
      auto *x = reinterpret_cast<float *>(set->buffer(0).data());
      for (int64_t j = 0; j < rows * 8; ++j)
        x[j] = static_cast<float>(j);
      set->poisonOutputs();
      all.push_back(std::move(*set));
    }
    return all;
  }
  Result<GuardedBuffer> workspace(int64_t rows) {
    return measure::makeWorkspace(*executable, std::vector<int64_t>{rows},
                                  queue, 128);
  }

  runtime::CpuBackend backend{runtime::testArch(), ""};
  runtime::ThreadPool pool{1};
  runtime::Queue queue{nullptr, &pool};
  std::unique_ptr<runtime::Executable> executable;
};

TEST(ColdCopies, TogetherLargerThanTheCache) {
  constexpr int64_t MiB = 1 << 20;
  EXPECT_EQ(measure::coldCopies(MiB, 32 * MiB), 64);
  EXPECT_EQ(measure::coldCopies(100 * MiB, 32 * MiB), 1);
  EXPECT_EQ(measure::coldCopies(MiB, 100000 * MiB), 256);
  EXPECT_EQ(measure::coldCopies(0, 32 * MiB), 1024);
  EXPECT_EQ(measure::coldCopies(100, 0), 1);
}

TEST_F(TimerTest, BatchesAreLongAndEveryCopyRuns) {
  std::vector<TensorSet> copies = sets(3, 5);
  Result<GuardedBuffer> memory = workspace(3);
  ASSERT_TRUE(memory);
  measure::TimeOptions options;
  options.samples = 6;
  Result<measure::Timing> timing =
      measure::timeRuns(*executable, copies, *memory, queue, options);
  ASSERT_TRUE(timing) << timing.error().str();
  EXPECT_EQ(timing->samplesNs.size(), 6u);
  for (double sample : timing->samplesNs)
    EXPECT_GE(sample * static_cast<double>(timing->batch),
              0.99 * static_cast<double>(options.minBatchNs));
  for (TensorSet &copy : copies)
    EXPECT_EQ(reinterpret_cast<float *>(copy.buffer(1).data())[23], 46.0f);
}

TEST_F(TimerTest, MoreWorkTakesLonger) {
  double times[2];
  for (int i = 0; i < 2; ++i) {
    // A run of a thousand rows is mostly what any run costs.
    int64_t rows = i ? 512000 : 1000;
    std::vector<TensorSet> copies = sets(rows, 1);
    Result<GuardedBuffer> memory = workspace(rows);
    ASSERT_TRUE(memory);
    auto timing = measure::timeRuns(*executable, copies, *memory, queue, {});
    ASSERT_TRUE(timing);
    // The fastest: others that use the machine make samples longer only.
    times[i] = *std::ranges::min_element(timing->samplesNs);
  }
  EXPECT_GT(times[1], 8 * times[0]);
}

TEST_F(TimerTest, ALongRunIsTimedOnce) {
  std::vector<TensorSet> copies = sets(200000, 1);
  Result<GuardedBuffer> memory = workspace(200000);
  ASSERT_TRUE(memory);
  measure::TimeOptions options;
  options.samples = 1000;
  options.maxSeconds = 1e-6;
  auto timing = measure::timeRuns(*executable, copies, *memory, queue, options);
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->samplesNs.size(), 1u);
}

TEST_F(TimerTest, SizesWithoutANumberOfBytesAreAnError) {
  auto set = TensorSet::make(executable->plan(),
                             std::vector<int64_t>{INT64_MAX / 8}, 128);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().rule, "tune.sizes");
}

TEST_F(TimerTest, RedzoneHitIsAnError) {
  // A plan that claims fewer columns than its kernel writes.
  plan::Plan plan = runtime::testPlan("twice");
  plan.launches[0].args[4].size = plan::Expr(9);
  auto made = runtime::Executable::prepare(plan, backend);
  ASSERT_TRUE(made) << made.error().str();
  executable = std::move(*made);
  std::vector<TensorSet> copies = sets(3, 2);
  Result<GuardedBuffer> memory = workspace(3);
  ASSERT_TRUE(memory);
  auto timing = measure::timeRuns(*executable, copies, *memory, queue, {});
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().code, ErrorCode::CandidateWrong);
  EXPECT_EQ(timing.error().rule, "candidate.redzone");
  EXPECT_NE(timing.error().message.find("output 0: written"), std::string::npos)
      << timing.error().message;
}

} // namespace
