//===- Tuner.h - measuring the schedules of a region -------------*- C++ -*-===//
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
#include "frontend/driver/KernelCompiler.h"

#include <memory>

namespace azulejo::driver {

class Tuner {
public:
  Tuner(const target::TargetDesc &target, const api::CompileRequest &request);
  ~Tuner();

  /// The winner of an earlier tuning of this region, if the cache holds one
  /// that is still legal.
  std::optional<schedule::Schedule> recorded(const std::string &region,
                                             const RegionSchedules &schedules);

  /// Measures the region's candidates within this region's share (one of
  /// `shares` left) of the request's seconds and records every trial.
  Result<schedule::Schedule> tune(const std::string &region,
                                  const RegionSchedules &schedules,
                                  size_t shares);

  /// Every schedule looked at so far, as a JSON array.
  std::string candidatesJson() const;
  /// False when the budget or the user ended the work early.
  bool complete() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TUNER_H
