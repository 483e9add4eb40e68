//===- Timer.h - timing one executable --------------------------*- C++ -*-===//
//
// A sample is one batch of runs, at least 100 us long, divided by its length.
// Caches are cold by default: a batch walks over copies of the tensors that
// together are larger than the caches, so nothing needs to be flushed inside
// or between timed regions and no candidate gains from what another left.
//
// Callers interleave: a few samples of each candidate per round, so that a
// slow spell of the machine meets all of them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_TIMER_H
#define AZULEJO_AUTOTUNE_MEASURE_TIMER_H

#include "autotune/measure/DeviceMonitor.h"
#include "autotune/measure/Disturbance.h"
#include "autotune/measure/TensorSet.h"

namespace azulejo::measure {

struct TimeOptions {
  int64_t samples = 5;
  int64_t minBatchNs = 100'000;
  /// No further sample is begun after this; one always is.
  double maxSeconds = 2;
};

struct Timing {
  std::vector<double> samplesNs; ///< per run
  int64_t batch = 1;             ///< runs of one sample
  Disturbance disturbance;
  std::optional<DeviceConditions> device; ///< of a GPU
};

/// How many copies of `bytes` of tensors make a walk cold; 1 to 1024.
int64_t coldCopies(int64_t bytes, int64_t cacheBytes);

/// Times runs over the copies in turn. One run comes first, untimed unless it
/// is so long that it alone would use up half of maxSeconds. An error: a run
/// failed, or wrote outside of its tensors.
Result<Timing> timeRuns(const runtime::Executable &executable,
                        std::span<TensorSet> copies, GuardedBuffer &workspace,
                        const runtime::Queue &queue,
                        const TimeOptions &options);

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_TIMER_H
