//===- BudgetPlan.h - what tuning has time for ------------------*- C++ -*-===//
//
// Candidates are compiled, judged (verified, and timed for the first time) and
// ranked by more timings. How long each takes is not known before: a kernel may
// compile in 30 ms or 3 s and run for a microsecond or a second. So no stage
// has a fixed part of the budget. Each goes on as long as what must still
// follow has room behind it, by what it has cost so far:
//
//   left >= waiting * (verify + time) + untimed * time + ranking
//
//   waiting   compiled and not verified        time   of the first samples
//   untimed   verified and not timed           ranking: see rankingSeconds()
//
// The costs are the least that was seen: what is slow once, the first of its
// kind or a candidate that hangs, must not make the plan give up the rest.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_BUDGETPLAN_H
#define AZULEJO_FRONTEND_DRIVER_BUDGETPLAN_H

#include <algorithm>
#include <cstddef>
#include <optional>

namespace azulejo::driver {

class BudgetPlan {
public:
  /// `seconds`: the whole budget; `finalists`: how many ranking ends with.
  BudgetPlan(double seconds, size_t finalists)
      : budget(seconds), finalists(finalists) {}

  /// What one candidate's verification, or first samples, took.
  void verified(double seconds) { least(verifySeconds, seconds); }
  void timed(double seconds) { least(timeSeconds, seconds); }

  /// Kept for telling the best ones apart: two rounds of the finalists, but
  /// never more than this part of the budget, which it is until a cost is
  /// known.
  double rankingSeconds() const {
    double most = kMostForRanking * budget;
    return timeSeconds ? std::min(most, 2.0 * static_cast<double>(finalists) *
                                            *timeSeconds)
                       : most;
  }

  /// Whether there is time to judge one more candidate.
  bool canJudge(double secondsLeft) const {
    return secondsLeft > judging(1) + rankingSeconds();
  }

  /// Whether to compile on, while so many wait to be verified and so many, of
  /// those that are good, to be timed.
  bool canCompile(double secondsLeft, size_t waiting, size_t untimed) const {
    return secondsLeft >
           judging(waiting) +
               static_cast<double>(untimed) * timeSeconds.value_or(0) +
               rankingSeconds();
  }

  bool knowsTiming() const { return timeSeconds.has_value(); }
  /// How many first samples could be taken; of unknown length: no end of them.
  size_t timings(double secondsLeft) const {
    constexpr double kMany = 1e6;
    double count = timeSeconds && *timeSeconds > 0
                       ? std::max(secondsLeft, 0.0) / *timeSeconds
                       : kMany;
    return static_cast<size_t>(std::min(count, kMany));
  }

private:
  static constexpr double kMostForRanking = 0.35;

  static void least(std::optional<double> &slot, double seconds) {
    slot = slot ? std::min(*slot, seconds) : seconds;
  }
  double judging(size_t count) const {
    return static_cast<double>(count) *
           (verifySeconds.value_or(0) + timeSeconds.value_or(0));
  }

  double budget;
  size_t finalists;
  std::optional<double> verifySeconds, timeSeconds;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_BUDGETPLAN_H
