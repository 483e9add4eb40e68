//===- CompileStage.cpp - candidates compiled in the background -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/CompileStage.h"

#include <utility>

namespace azulejo::driver {

CompileStage::CompileStage(std::vector<size_t> list, size_t threadCount,
                           TuningClock &clock, const RunnerMaker &makeRunner,
                           std::function<void(size_t, CandidateRunner &)> one)
    : which(std::move(list)), clock(clock), compile(std::move(one)) {
  size_t count = std::min(std::max<size_t>(threadCount, 1), which.size());
  while (started < count) {
    clock.source().threadStarts();
    if (!threads.start([this, makeRunner] { work(makeRunner); })) {
      clock.source().threadEnds();
      break;
    }
    ++started;
  }
  if (started == 0 && count > 0)
    alone =
        makeRunner([this] { return stopping.load() || !this->clock.pump(); });
}

CompileStage::~CompileStage() {
  stop();
  // Not by joining alone: time may pass only while this thread sleeps.
  while (!isDone())
    clock.source().sleep(1e-3);
  threads.join();
}

void CompileStage::work(const RunnerMaker &makeRunner) {
  std::unique_ptr<CandidateRunner> mine =
      makeRunner([this] { return stopping.load(); });
  for (size_t i; !stopping && (i = next.fetch_add(1)) < which.size();) {
    compile(which[i], *mine);
    {
      std::lock_guard<std::mutex> lock(mutex);
      compiled.push_back(which[i]);
    }
    ++clock.done;
  }
  mine.reset();
  ++ended; // first: until time knows of it, none passes
  clock.source().threadEnds();
}

void CompileStage::compileNext() {
  size_t index = which[next++];
  compile(index, *alone);
  compiled.push_back(index);
  ++clock.done;
}

std::vector<size_t> CompileStage::takeCompiled() {
  if (alone && !isOver())
    compileNext();
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(compiled, {});
}

} // namespace azulejo::driver
