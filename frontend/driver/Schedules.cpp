//===- Schedules.cpp - which schedule each region runs under --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Schedules.h"

#include "frontend/driver/Tuner.h"

namespace azulejo::driver {

Result<ChosenSchedules> chooseSchedules(const std::vector<std::string> &regions,
                                        const target::TargetDesc &target,
                                        const api::CompileRequest &request) {
  ChosenSchedules chosen;
  Tuner tuner(target, request);
  for (size_t i = 0; i < regions.size(); ++i) {
    Result<RegionSchedules> known = schedulesOf(regions[i], target);
    if (!known)
      return known.error();
    std::optional<schedule::Schedule> best = tuner.recorded(regions[i], *known);
    if (!best && request.tuneSeconds > 0) {
      // Regions share the seconds that are left evenly.
      Result<schedule::Schedule> tuned =
          tuner.tune(regions[i], *known, regions.size() - i);
      if (!tuned)
        return tuned.error();
      best = *tuned;
    }
    chosen.schedules.push_back(best ? *best : known->fallback);
  }
  chosen.candidates = tuner.candidatesJson();
  chosen.complete = tuner.complete();
  return chosen;
}

} // namespace azulejo::driver
