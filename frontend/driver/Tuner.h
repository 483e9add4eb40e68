//===- Tuner.h - measuring the schedules of a region ------------*- C++ -*-===//
//
// Joins the parts of autotuning: the family's knob space, search, the workers
// that compile, verify and time candidates, and the records in the cache.
//
// Trouble while tuning never fails a compilation: the default schedule is the
// answer, and a warning says why.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_TUNER_H
#define AZULEJO_FRONTEND_DRIVER_TUNER_H

#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/TuningClock.h"
#include "frontend/driver/WorkerClient.h"

#include <memory>

namespace azulejo::driver {

/// What a request does not say, with the values that products use. Tests set
/// others.
struct TunerOptions {
  size_t candidates = 48; ///< of the first round
  size_t neighbours = 12; ///< of each later one
  WorkerLimits limits;
  int64_t redzoneBytes = measure::kDefaultRedzoneBytes;
  bool cold = true;
  uint64_t seed = 1;
  /// Sees each candidate's code before it is verified and may change it; this
  /// is how tests plant bad candidates.
  std::function<void(KernelCode &)> afterCompile;
  std::shared_ptr<TimeSource> time = std::make_shared<TimeSource>();
  /// What candidates are compiled by and, where it `runs` them, judged by,
  /// until it is `cancelled`. Empty: workers, or this process.
  std::function<std::unique_ptr<CandidateRunner>(
      bool runs, std::function<bool()> cancelled)>
      makeRunner;
};

class Tuner {
public:
  Tuner(const target::TargetDesc &target, const api::CompileRequest &request,
        TunerOptions options = {});
  ~Tuner();

  /// The winner of an earlier tuning of this region, if the cache holds one
  /// that is still legal. A request that tunes accepts only the winner of a
  /// search that was not cut short, and verifies it once more if it was found
  /// under another driver, assembler or build. Its timing is then provisional.
  /// Where there is none at the region's typical sizes, one at `otherSizes`
  /// will do, the first of them.
  std::optional<schedule::Schedule>
  recorded(const std::string &region, const RegionSchedules &schedules,
           const std::vector<Sizes> &otherSizes = {});

  /// Measures the region's candidates within this region's share (one of
  /// `shares` left) of the request's seconds and records every trial.
  Result<schedule::Schedule> tune(const std::string &region,
                                  const RegionSchedules &schedules,
                                  size_t shares);

  /// Every schedule looked at so far, as a JSON array of objects, each region's
  /// fastest first: kernel, region, schedule, status, reason, samples,
  /// provisional, flops, bytes, matrix_share, image_digest, winner; if timed
  /// also median_ns, ci_low_ns, ci_high_ns, percent_of_best, gflops and gbps;
  /// also exact (the test on integers: cases, at_full_size, or why_not); of a
  /// GPU also assembler (who made its image), assembly (registers, ...) and
  /// device (clock, throttling).
  std::string candidatesJson() const;
  /// False when the budget or the user ended the work early.
  bool complete() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TUNER_H
