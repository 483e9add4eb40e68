//===- CompileStage.h - candidates compiled in the background ---*- C++ -*-===//
//
// Threads that each have a runner of their own and compile one candidate after
// the other, while the thread that tunes judges those that are done. It learns
// of them by asking. Where the system refuses all threads, asking compiles the
// next one.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_COMPILESTAGE_H
#define AZULEJO_FRONTEND_DRIVER_COMPILESTAGE_H

#include "frontend/driver/CandidateRunner.h"
#include "frontend/driver/HelperThreads.h"
#include "frontend/driver/TuningClock.h"

#include <mutex>

namespace azulejo::driver {

/// Makes a runner whose requests end early once `cancelled` says so.
using RunnerMaker = std::function<std::unique_ptr<CandidateRunner>(
    std::function<bool()> cancelled)>;

class CompileStage {
public:
  /// Calls compile(index, runner) once for each of `which`, in order, on up to
  /// `threads` threads; counts them in the clock's `done`.
  CompileStage(std::vector<size_t> which, size_t threads, TuningClock &clock,
               const RunnerMaker &makeRunner,
               std::function<void(size_t, CandidateRunner &)> compile);
  /// Stops and waits.
  ~CompileStage();

  /// Begins no more candidates and cancels those that have begun.
  void stop() { stopping = true; }
  bool isDone() const { return alone ? isOver() : ended == started; }
  bool wasStopped() const { return stopping; }
  /// What was compiled since the last call; whoever is done first comes first.
  std::vector<size_t> takeCompiled();

private:
  void work(const RunnerMaker &makeRunner);
  void compileNext();
  bool isOver() const { return stopping || next >= which.size(); }

  std::vector<size_t> which;
  TuningClock &clock;
  std::function<void(size_t, CandidateRunner &)> compile;
  std::atomic<size_t> next{0}, ended{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::vector<size_t> compiled;
  size_t started = 0;
  std::unique_ptr<CandidateRunner> alone; ///< where there is no thread
  HelperThreads threads;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_COMPILESTAGE_H
