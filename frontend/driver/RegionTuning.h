//===- RegionTuning.h - the tuning of one region ----------------*- C++ -*-===//
//
//   pick -> compile (parallel) -> verify -> time (halving) -> neighbours of
//   the best, the same way -> winner
//
// The stages overlap: what is compiled is verified while others are compiled
// and, on a GPU, timed for the first time. On a CPU first timings wait until
// the compilers are quiet. How long each stage goes on is BudgetPlan's matter.
// Candidates with equal images are one candidate. What this build has found to
// be bad before is not tried again.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_REGIONTUNING_H
#define AZULEJO_FRONTEND_DRIVER_REGIONTUNING_H

#include "autotune/cache/Store.h"
#include "autotune/measure/Statistics.h"
#include "frontend/driver/BudgetPlan.h"
#include "frontend/driver/RegionFacts.h"
#include "frontend/driver/RegionOpening.h"
#include "frontend/driver/Tuner.h"

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

  /// Compiles and verifies one schedule and times nothing; the candidate has a
  /// status. An error: it could not be judged.
  Result<Candidate> check(const schedule::Schedule &schedule);

  const std::vector<Candidate> &tried() const { return candidates; }
  const cache::Environment &environment() const { return timedWith; }
  /// No stage was cut short.
  bool isComplete() const { return complete; }

private:
  using Indices = std::vector<size_t>;
  static constexpr size_t kFinalists = 6;
  static constexpr int64_t kFirstSamples = 5;

  Status start();
  Indices add(std::vector<schedule::Schedule> schedules);
  /// Compiles and verifies; on a GPU also times, once.
  Status judge(const Indices &which);
  /// Waits for, and takes over, what RegionOpening made. False: not yet.
  Result<bool> isOpen();
  Status judgeOne(size_t index);
  /// Takes a compiled candidate over from its thread.
  void arrive(size_t index);
  std::optional<cache::TuneLock> takeTurn(double limit);
  /// Until `kAll` of the budget is used.
  double secondsLeft() const;
  /// `afresh`: samples so far do not count.
  Indices timeByHalving(Indices alive, double limit, bool afresh);
  /// Neighbours of the best, until none of them is better.
  Status climb(Indices &finalists);
  void timeOnce(Candidate &candidate, int64_t samples, double maxSeconds);
  size_t winnerOf(const Indices &finalists);
  void shareResults();
  void fail(Candidate &candidate, const Error &error);
  void compileOne(Candidate &candidate, CandidateRunner &by);
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
  BudgetPlan plan;
  std::unique_ptr<CandidateRunner> runner;
  std::unique_ptr<RegionOpening> opening; ///< while the runner is its
  References references;
  std::vector<Candidate> candidates;
  /// Those that compilers are done with, and of them those to be judged.
  Indices arrived, ready;
  std::atomic<bool> complete{true}; ///< compilers clear it, too
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_REGIONTUNING_H
