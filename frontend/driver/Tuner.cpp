//===- Tuner.cpp - measuring the schedules of a region --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Tuner.h"

#include "frontend/driver/TuningRecords.h"

namespace azulejo::driver {

struct Tuner::State {
  const target::TargetDesc &target;
  const api::CompileRequest &request;
  cache::Store store;
};

Tuner::Tuner(const target::TargetDesc &target,
             const api::CompileRequest &request)
    : state(new State{target, request, openStore(request)}) {}
Tuner::~Tuner() = default;

std::optional<schedule::Schedule>
Tuner::recorded(const std::string &region, const RegionSchedules &schedules) {
  Result<RegionFacts> facts = factsOf(region, state->target);
  if (!facts)
    return std::nullopt;
  cache::TuningEntry entry = state->store.loadTuning(
      tuningKey(region, *facts, schedules.fallback.family, state->target,
                state->request));
  const cache::Trial *best = entry.best();
  if (!best)
    return std::nullopt;
  Result<schedule::Schedule> parsed = schedule::Schedule::parse(best->schedule);
  if (!parsed || !(*parsed == schedules.fallback ||
                   isLegal(*parsed, schedules.space)))
    return std::nullopt;
  return *parsed;
}

Result<schedule::Schedule> Tuner::tune(const std::string &,
                                       const RegionSchedules &schedules,
                                       size_t) {
  state->request.log(1, "tuning is not available; default schedules are used");
  return schedules.fallback;
}

std::string Tuner::candidatesJson() const { return "[]"; }
bool Tuner::complete() const { return true; }

} // namespace azulejo::driver
