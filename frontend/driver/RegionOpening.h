//===- RegionOpening.h - what judging waits for -----------------*- C++ -*-===//
//
// Before the first candidate can be judged, the device has to be opened and the
// region's references made: seconds, in which candidates are compiled. So both
// happen in the background and at the same time, the references in a runner of
// their own:
//
//   runner   warm up ........... | open with the references
//   another  make references ... |
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_REGIONOPENING_H
#define AZULEJO_FRONTEND_DRIVER_REGIONOPENING_H

#include "frontend/driver/CompileStage.h"

#include <thread>

namespace azulejo::driver {

class RegionOpening {
public:
  /// Opens `region` in `runner`, which is this object's until isDone().
  RegionOpening(const std::string &region, CandidateRunner &runner,
                TuningClock &clock, const RunnerMaker &makeRunner);
  /// Waits, without end unless the clock is stopped or the runners give up.
  ~RegionOpening();

  bool isDone() const { return running == 0; }
  /// Once it is done: how it went, and what the region was opened with.
  const Status &outcome() const { return result; }
  References takeReferences() { return **std::move(references); }

private:
  /// On a thread, or here where the system refuses one.
  void begin(const std::function<void()> &work);
  /// Whether the clock is stopped; pumps it on the thread that tunes.
  bool isOver();
  void open();

  const std::string &region;
  CandidateRunner &runner;
  TuningClock &clock;
  std::atomic<int> running{0};
  std::atomic<bool> referencesDone{false};
  std::optional<Result<References>> references;
  Status result;
  std::thread::id tuning = std::this_thread::get_id();
  HelperThreads threads;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_REGIONOPENING_H
