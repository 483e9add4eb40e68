//===- Interleave.cpp - contestants take turns ----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/measure/Interleave.h"

#include <cmath>
#include <thread>

namespace azulejo::bench {

// BLAS and OpenMP threads spin for some 26 ms after their last work.
static constexpr std::chrono::milliseconds kSettle{30};
// A burst is long enough for the clock's step and short enough for many turns.
static constexpr double kBurstMs = 20;
static constexpr int kMaxBurst = 200;
// Calls this long warm themselves up.
static constexpr double kLongMs = 300;

static Status checkedRun(const Contestant &contestant, Verdict &verdict,
                         double &ms) {
  contestant.poison();
  Clock::time_point start = Clock::now();
  if (Status status = contestant.run(); !status)
    return status;
  ms = millisecondsSince(start);
  Verdict now = contestant.check();
  verdict.good &= now.good;
  verdict.error = std::max(verdict.error, now.error);
  return {};
}

namespace {
struct Progress {
  double callMs = 0;
  double spentMs = 0;
};
} // namespace

static Status takeTurn(const Contestant &contestant, const Pace &pace,
                       Progress &progress, Samples &samples) {
  if (pace.threads > 1)
    std::this_thread::sleep_for(kSettle);
  if (progress.callMs < kLongMs)
    if (Status status = contestant.run(); !status)
      return status;
  int calls = 1;
  if (progress.callMs > 0)
    calls = static_cast<int>(
        std::min<double>(kMaxBurst, std::ceil(kBurstMs / progress.callMs)));
  double shortest = progress.callMs;
  for (int i = 0; i < calls; ++i) {
    Clock::time_point start = Clock::now();
    if (Status status = contestant.run(); !status)
      return status;
    double ms = millisecondsSince(start);
    samples.ms.push_back(ms);
    progress.spentMs += ms;
    shortest = std::min(shortest, ms);
  }
  progress.callMs = shortest;
  return {};
}

Result<std::vector<Timing>> interleave(std::span<const Contestant> contestants,
                                       const Pace &pace) {
  std::vector<Timing> timings(contestants.size());
  std::vector<Progress> progress(contestants.size());
  for (size_t i = 0; i < contestants.size(); ++i) {
    timings[i].verdict.good = true;
    if (Status status =
            checkedRun(contestants[i], timings[i].verdict, progress[i].callMs);
        !status)
      return status.error();
  }
  auto done = [&](int turn) {
    if (turn < pace.minTurns)
      return false;
    for (const Progress &one : progress)
      if (one.spentMs < pace.seconds * 1e3)
        return false;
    return true;
  };
  // The order turns with the rounds, so that nobody always follows the same.
  for (int turn = 0; !done(turn); ++turn)
    for (size_t i = 0; i < contestants.size(); ++i) {
      size_t which = (i + size_t(turn)) % contestants.size();
      if (turn >= pace.minTurns &&
          progress[which].spentMs >= pace.seconds * 1e3)
        continue;
      if (Status status = takeTurn(contestants[which], pace, progress[which],
                                   timings[which].samples);
          !status)
        return status.error();
    }
  for (size_t i = 0; i < contestants.size(); ++i) {
    double ignored = 0;
    if (Status status = checkedRun(contestants[i], timings[i].verdict, ignored);
        !status)
      return status.error();
  }
  return timings;
}

} // namespace azulejo::bench
