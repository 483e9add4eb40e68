//===- BudgetTest.cpp - how much tuning gets done in how much time --------===//
//
// Tuning as it is, but for the runners, which do nothing and say how long it
// took, and for the time, which passes when everybody sleeps: sixteen cores on
// any machine, in a moment, and always the same.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TunerFixture.h"

#include "TestRegions.h"
#include "frontend/driver/BudgetPlan.h"

#include <condition_variable>

using namespace azulejo;
using namespace azulejo::test;
namespace json = llvm::json;

namespace {

/// Jumps to the next moment at which somebody wakes up, once all threads sleep.
class VirtualTime : public driver::TimeSource {
public:
  int64_t nowNs() override {
    std::lock_guard lock(mutex);
    return now;
  }
  void sleep(double seconds) override {
    std::unique_lock lock(mutex);
    std::condition_variable woken;
    int64_t wake = now + static_cast<int64_t>(seconds * 1e9);
    auto place = sleepers.emplace(wake, &woken);
    pass();
    woken.wait(lock, [&] { return now >= wake; });
    sleepers.erase(place);
  }
  void threadStarts() override {
    std::lock_guard lock(mutex);
    ++threads;
  }
  void threadEnds() override {
    std::lock_guard lock(mutex);
    --threads;
    pass();
  }

private:
  void pass() {
    if (sleepers.empty() || sleepers.size() < threads)
      return;
    now = std::max(now, sleepers.begin()->first);
    for (auto &[wake, woken] : sleepers)
      if (wake <= now)
        woken->notify_one();
  }

  std::mutex mutex;
  int64_t now = 1'000'000'000;
  size_t threads = 0;
  std::multimap<int64_t, std::condition_variable *> sleepers;
};

/// Seconds.
struct Costs {
  double warmUp = 0, references = 0, open = 0, compile = 0, verify = 0,
         sample = 0;
};

/// Takes its time and finds everything good.
class IdleRunner : public driver::CandidateRunner {
public:
  IdleRunner(std::shared_ptr<driver::TimeSource> clock, const Costs &costs,
             std::function<bool()> cancelled)
      : clock(std::move(clock)), costs(costs), cancelled(std::move(cancelled)) {
  }

  Status warmUp() override { return take(costs.warmUp); }
  Result<driver::KernelCode>
  compile(const std::string &, const schedule::Schedule &schedule) override {
    if (Status status = take(costs.compile); !status)
      return status.error();
    driver::KernelCode code;
    code.family = schedule.family;
    code.schedule = schedule;
    code.image = schedule.str();
    return code;
  }
  Result<driver::References> makeReferences(const std::string &) override {
    if (Status status = take(costs.references); !status)
      return status.error();
    return driver::References();
  }
  Status open(const std::string &, const driver::References &) override {
    if (opened)
      return {};
    opened = true;
    return take(costs.open);
  }
  Result<driver::Verdict> verify(const driver::KernelCode &) override {
    if (Status status = take(costs.verify); !status)
      return status.error();
    return driver::Verdict{2, true, 0};
  }
  Result<measure::Timing> time(const driver::KernelCode &code,
                               const measure::TimeOptions &how) override {
    measure::Timing timing;
    while (static_cast<int64_t>(timing.samplesNs.size()) < how.samples) {
      if (Status status = take(costs.sample); !status)
        return status.error();
      timing.samplesNs.push_back(
          1e3 + static_cast<double>(std::hash<std::string>()(code.image) % 97));
    }
    timing.disturbance.seconds =
        costs.sample * static_cast<double>(timing.samplesNs.size());
    return timing;
  }

private:
  /// As a worker does: somebody asks every 20 ms whether to go on.
  Status take(double seconds) {
    for (; seconds > 0; seconds -= 0.02) {
      if (cancelled && cancelled())
        return makeError(ErrorCode::Interrupted, "tuning", "stopped");
      clock->sleep(std::min(seconds, 0.02));
    }
    return {};
  }

  std::shared_ptr<driver::TimeSource> clock;
  Costs costs;
  std::function<bool()> cancelled;
  bool opened = false;
};

class Budget : public TunerFixture {
protected:
  /// Tunes attention under these costs; the number of candidates that got
  /// samples.
  int timedUnder(const Costs &costs, const char *device, int threads,
                 double budget) {
    target = *target::resolveTarget(device);
    auto time = std::make_shared<VirtualTime>();
    options.time = time;
    options.candidates = 48;
    options.neighbours = 12;
    options.makeRunner = [=](bool, std::function<bool()> cancelled) {
      return std::make_unique<IdleRunner>(time, costs, std::move(cancelled));
    };
    request.threads = threads;
    request.tuneSeconds = budget;
    request.gpuOrdinal = 0;
    request.cacheAccess = api::CacheAccess::Off;
    time->threadStarts(); // this one
    int timed = 0;
    for (const json::Object &row : tune(halfAttentionRegion()))
      timed += row.getInteger("samples").value_or(0) > 0;
    time->threadEnds();
    EXPECT_LE(seconds, 1.04 * budget + 0.05); // workers ask every 20 ms
    RecordProperty("timed", timed);
    RecordProperty("milliseconds", static_cast<int>(1e3 * seconds));
    return timed;
  }
};

// What docs/design/tuning.md predicts for an H200 with 16 cores: measured there
// are the times of the device and of compiling; the rest is estimated.
TEST_F(Budget, AttentionOnAnH200In8Seconds) {
  Costs costs{.warmUp = 1.5,
              .references = 1.0,
              .open = 0.5,
              .compile = 0.4,
              .verify = 0.06,
              .sample = 0.01};
  EXPECT_GE(timedUnder(costs, "h200", 16, 8), 32);
  EXPECT_EQ(messages, "");
}

TEST_F(Budget, SlowCompilersAndSlowReferencesLeaveTimeForTiming) {
  Costs costs{.warmUp = 1.5,
              .references = 3.5,
              .open = 0.5,
              .compile = 1.8,
              .verify = 0.06,
              .sample = 0.01};
  EXPECT_GE(timedUnder(costs, "h200", 16, 8), 20);
}

TEST_F(Budget, CompilersThatAreNeverDoneAreLeft) {
  Costs costs{.references = 0.5, .compile = 1, .verify = 0.1, .sample = 0.02};
  // Two cores compile two a second; all 48 would take three budgets.
  EXPECT_GE(timedUnder(costs, "h200", 2, 8), 9);
  EXPECT_FALSE(complete);
}

TEST_F(Budget, OnACpuTimingsWaitForCompilersAndStillFit) {
  Costs costs{.references = 1,
              .open = 0.3,
              .compile = 0.2,
              .verify = 0.05,
              .sample = 0.02};
  EXPECT_GE(timedUnder(costs, "cpu-avx2", 4, 8), 24);
}

TEST_F(Budget, LongKernelsAreFewButTimed) {
  Costs costs{.references = 1, .compile = 0.2, .verify = 0.7, .sample = 0.2};
  EXPECT_GE(timedUnder(costs, "h200", 16, 8), 2);
  EXPECT_GE(timedUnder(costs, "cpu-avx2", 4, 8), 2);
}

TEST_F(Budget, PlentyOfTimeLeavesNothingOut) {
  Costs costs{.warmUp = 1,
              .references = 1,
              .open = 0.5,
              .compile = 0.4,
              .verify = 0.05,
              .sample = 0.001};
  EXPECT_GE(timedUnder(costs, "h200", 16, 60), 48); // and neighbours
  EXPECT_TRUE(complete);
  EXPECT_LT(seconds, 60);
}

TEST_F(Budget, ADeviceThatOpensTooLateEndsInTime) {
  Costs costs{.warmUp = 100, .compile = 0.1};
  EXPECT_EQ(timedUnder(costs, "h200", 4, 2), 0);
  EXPECT_NE(messages.find("the default schedule is used"), std::string::npos);
  EXPECT_FALSE(complete);
}

TEST(BudgetPlan, KeepsRoomForWhatFollows) {
  driver::BudgetPlan plan(10, 5);
  // Nothing is known: a third of the budget is kept.
  EXPECT_TRUE(plan.canCompile(3.6, 100, 100));
  EXPECT_FALSE(plan.canCompile(3.4, 0, 0));
  plan.verified(0.2);
  plan.timed(0.1);
  EXPECT_DOUBLE_EQ(plan.rankingSeconds(), 1.0); // 2 * 5 * 0.1
  EXPECT_TRUE(plan.canJudge(1.31));
  EXPECT_FALSE(plan.canJudge(1.29));
  EXPECT_TRUE(plan.canCompile(2.11, 3, 2)); // 3 * 0.3 + 2 * 0.1 + 1
  EXPECT_FALSE(plan.canCompile(2.09, 3, 2));
  EXPECT_EQ(plan.timings(0.55), 5u);
  EXPECT_EQ(plan.timings(-1), 0u);
  // One that hangs says nothing about the others.
  plan.verified(4);
  EXPECT_TRUE(plan.canJudge(1.31));
  plan.timed(5);
  EXPECT_TRUE(plan.canJudge(1.31));
}

TEST(BudgetPlan, SlowTimingsDoNotTakeAllForRanking) {
  driver::BudgetPlan plan(10, 5);
  plan.timed(2);
  EXPECT_DOUBLE_EQ(plan.rankingSeconds(), 3.5);
}

} // namespace
