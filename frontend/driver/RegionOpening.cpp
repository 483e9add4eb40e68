//===- RegionOpening.cpp - what judging waits for -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionOpening.h"

namespace azulejo::driver {

RegionOpening::RegionOpening(const std::string &region, CandidateRunner &runner,
                             TuningClock &clock, const RunnerMaker &makeRunner)
    : region(region), runner(runner), clock(clock) {
  begin(maker, [this, makeRunner] {
    std::unique_ptr<CandidateRunner> mine =
        makeRunner([this] { return this->clock.isStopped(); });
    references = mine->makeReferences(this->region);
    mine.reset();
    referencesDone = true;
  });
  begin(opener, [this] { open(); });
}

RegionOpening::~RegionOpening() {
  // As in CompileStage; and so that the runners learn that time is up.
  while (!isDone()) {
    clock.pump();
    clock.source().sleep(1e-3);
  }
  opener.join();
  maker.join();
}

void RegionOpening::begin(std::thread &thread, std::function<void()> work) {
  ++running;
  clock.source().threadStarts();
  thread = std::thread([this, work = std::move(work)] {
    work();
    --running; // first: until time knows of it, none passes
    clock.source().threadEnds();
  });
}

void RegionOpening::open() {
  Status warm = runner.warmUp();
  while (!referencesDone)
    clock.source().sleep(1e-3);
  if (!warm)
    result = warm;
  else if (!*references)
    result = references->error();
  else
    result = runner.open(region, **references);
}

} // namespace azulejo::driver
