//===- TuningClock.h - the budget and the user ------------------*- C++ -*-===//
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
#include <chrono>
#include <thread>

namespace azulejo::driver {

/// Where tuning takes its time from: the machine's clock, or that of a test,
/// whose time passes when all its threads sleep. So every thread that tuning
/// starts is announced, by its starter, and says when it ends.
class TimeSource {
public:
  virtual ~TimeSource() = default;
  virtual int64_t nowNs() { return measure::nowNs(); }
  virtual void sleep(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  virtual void threadStarts() {}
  virtual void threadEnds() {}
};

class TuningClock {
public:
  TuningClock(const api::CompileRequest &request, TimeSource &time,
              double seconds)
      : request(request), time(time), begin(time.nowNs()), budget(seconds) {}

  TimeSource &source() const { return time; }
  double total() const { return budget; }
  double elapsed() const {
    return static_cast<double>(time.nowNs() - begin) * 1e-9;
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
    int64_t now = time.nowNs();
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
  /// Stops whoever works in the background: nobody waits for it any more.
  void giveUp() { expired = true; }
  bool isStopped() const { return interrupted || expired; }
  bool isInterrupted() const { return interrupted; }

private:
  const api::CompileRequest &request;
  TimeSource &time;
  int64_t begin, reported = 0;
  double budget;
  std::string phaseName;
  int64_t phaseTotal = 0, reportedDone = 0;
  std::atomic<bool> interrupted{false}, expired{false};
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TUNINGCLOCK_H
