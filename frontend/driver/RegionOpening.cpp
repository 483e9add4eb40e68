//===- RegionOpening.cpp - what judging waits for -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionOpening.h"

namespace azulejo::driver {

RegionOpening::RegionOpening(const std::string &region, CandidateRunner &runner,
                             TuningClock &clock, const RunnerMaker &makeRunner)
    : region(region), runner(runner), clock(clock) {
  begin([this, makeRunner] {
    std::unique_ptr<CandidateRunner> mine =
        makeRunner([this] { return isOver(); });
    references = mine->makeReferences(this->region);
    mine.reset();
    referencesDone = true;
  });
  begin([this] { open(); });
}

RegionOpening::~RegionOpening() {
  // As in CompileStage; and so that the runners learn that time is up.
  while (!isDone()) {
    clock.pump();
    clock.source().sleep(1e-3);
  }
  threads.join();
}

bool RegionOpening::isOver() {
  return std::this_thread::get_id() == tuning ? !clock.pump()
                                              : clock.isStopped();
}

void RegionOpening::begin(const std::function<void()> &work) {
  ++running;
  clock.source().threadStarts();
  bool started = threads.start([this, work] {
    work();
    --running; // first: until time knows of it, none passes
    clock.source().threadEnds();
  });
  if (started)
    return;
  clock.source().threadEnds();
  work();
  --running;
}

void RegionOpening::open() {
  Status warm = runner.warmUp();
  while (!referencesDone) {
    isOver(); // so that the other thread learns of it
    clock.source().sleep(1e-3);
  }
  if (!warm)
    result = warm;
  else if (!*references)
    result = references->error();
  else
    result = runner.open(region, **references);
}

} // namespace azulejo::driver
