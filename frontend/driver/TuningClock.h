//===- TuningClock.h - the budget and the user ------------------*- C++ -*-===//
//-*-===//
//
// One clock for one region's tuning. pump() reports progress (when
// something got done, else ten times a second) and learns whether to stop; it
// is called from the thread that tunes only. isStopped() may be asked by any
// thread.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_TUNINGCLOCK_H
#define AZULEJO_FRONTEND_DRIVER_TUNINGCLOCK_H

#include "autotune/measure/Disturbance.h"
#include "frontend/api/CompilerEntry.h"

#include <atomic>

namespace azulejo::driver {

class TuningClock {
public:
  TuningClock(const api::CompileRequest &request, double seconds)
      : request(request), begin(measure::nowNs()), budget(seconds) {}

  double elapsed() const {
    return static_cast<double>(measure::nowNs() - begin) * 1e-9;
  }
  double left() const { return budget - elapsed(); }
  /// How much of the budget is used up: 0 to 1 and beyond.
  double used() const { return elapsed() / budget; }

  void phase(std::string name, int64_t total) {
    phaseName = std::move(name);
    phaseTotal = total;
    done = 0;
    reported = reportedDone = 0;
  }
  std::atomic<int64_t> done{0};

  /// False: stop now.
  bool pump() {
    int64_t now = measure::nowNs();
    if (!interrupted &&
        (now - reported >= 100'000'000 || done != reportedDone)) {
      reported = now;
      reportedDone = done;
      if (!request.progress(phaseName, done, phaseTotal, std::max(left(), 0.0)))
        interrupted = true;
    }
    // Somewhat beyond the budget, for what is nearly finished.
    if (used() > 1.04)
      expired = true;
    return !isStopped();
  }
  bool isStopped() const { return interrupted || expired; }
  bool isInterrupted() const { return interrupted; }

private:
  const api::CompileRequest &request;
  int64_t begin, reported = 0;
  double budget;
  std::string phaseName;
  int64_t phaseTotal = 0, reportedDone = 0;
  std::atomic<bool> interrupted{false}, expired{false};
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TUNINGCLOCK_H
