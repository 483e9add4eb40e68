//===- RegionTuning.h - the tuning of one region ----------------*- C++ -*-===//
//
//   pick -> compile (parallel) -> verify -> time (halving) -> neighbours of
//   the best, the same way -> winner
//
// Each stage has a part of the budget, so that a slow one leaves the later
// ones something: a search that is cut short still has timed what it has.
// Candidates with equal images are one candidate. What this build has found to
// be bad before is not tried again.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_REGIONTUNING_H
#define AZULEJO_FRONTEND_DRIVER_REGIONTUNING_H

#include "autotune/cache/Store.h"
#include "autotune/measure/Statistics.h"
#include "frontend/driver/RegionFacts.h"
#include "frontend/driver/Tuner.h"
#include "frontend/driver/TuningClock.h"

namespace azulejo::driver {

struct Candidate {
  schedule::Schedule schedule;
  KernelCode code;
  std::string digest; ///< of the image; empty: not compiled
  std::string status; ///< as cache::trialStatus; empty: not looked at
  std::string reason;
  std::optional<size_t> sameAs; ///< index of the candidate with this image
  Verdict verdict;
  std::vector<double> samplesNs;
  measure::Disturbance disturbance;
  std::optional<measure::DeviceConditions> device; ///< of a GPU
  measure::Summary summary;
  bool winner = false;
  bool known = false; ///< bad, from an earlier tuning
};

class RegionTuning {
public:
  RegionTuning(const target::TargetDesc &target,
               const api::CompileRequest &request, const TunerOptions &options,
               cache::Store &store, const std::string &region,
               const RegionSchedules &schedules, TuningClock &clock,
               const cache::TuningEntry &known);
  ~RegionTuning();

  /// The winner; an error when no candidate is good or tuning could not begin.
  Result<schedule::Schedule> run();

  const std::vector<Candidate> &tried() const { return candidates; }
  const cache::Environment &environment() const { return timedWith; }
  /// No stage was cut short.
  bool isComplete() const { return complete; }

private:
  using Indices = std::vector<size_t>;
  Status start();
  Indices add(std::vector<schedule::Schedule> schedules);
  /// Until `limit` of the budget is used.
  void compile(const Indices &which, double limit);
  Status verify(const Indices &which, double limit);
  Indices timeByHalving(Indices alive, double limit);
  /// Neighbours of the best, until none of them is better.
  Status climb(Indices &finalists);
  void timeOnce(Candidate &candidate, int64_t samples, double maxSeconds);
  size_t winnerOf(const Indices &finalists);
  void shareResults();
  void fail(Candidate &candidate, const Error &error);
  std::string compileOne(Candidate &candidate, CandidateRunner &runner);
  /// `runs`: it shall do more than compile.
  std::unique_ptr<CandidateRunner> makeRunner(std::function<bool()> cancelled,
                                              bool runs);
  bool cutShort(double limit);

  const target::TargetDesc &target;
  const api::CompileRequest &request;
  const TunerOptions &options;
  cache::Store &store;
  const std::string &region;
  const RegionSchedules &schedules;
  TuningClock &clock;
  const cache::TuningEntry &known; ///< earlier trials
  cache::Environment timedWith;
  std::string workerPath; ///< empty: in this process
  std::unique_ptr<CandidateRunner> runner;
  std::vector<Candidate> candidates;
  bool complete = true;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_REGIONTUNING_H
