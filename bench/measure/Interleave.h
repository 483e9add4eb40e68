//===- Interleave.h - contestants take turns --------------------*- C++ -*-===//
//
// What is compared runs in one process, in turns, so that a change of clock or
// a busy neighbour hits all alike. A turn is a pause (threads of the one before
// stop spinning), one untimed call, and a burst of timed calls. Every
// contestant's result is checked on its first and after its last turn.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_MEASURE_INTERLEAVE_H
#define AZULEJO_BENCH_MEASURE_INTERLEAVE_H

#include "azulejo/Error.h"
#include "bench/measure/Samples.h"
#include "bench/subjects/ErrorTally.h"

#include <functional>
#include <span>
#include <string>

namespace azulejo::bench {

struct Contestant {
  std::string name;
  std::function<Status()> run;
  std::function<void()> poison;   ///< spoils the outputs before a check
  std::function<Verdict()> check; ///< judges them after a run
};

struct Pace {
  double seconds = 1; ///< of timed calls per contestant, about
  int minTurns = 3;
  int threads = 1; ///< above one, turns begin with a pause
};

struct Timing {
  Samples samples;
  Verdict verdict;
};

/// One Timing per contestant; the first failed run ends it.
Result<std::vector<Timing>> interleave(std::span<const Contestant> contestants,
                                       const Pace &pace);

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_MEASURE_INTERLEAVE_H
