//===- Schedules.cpp - which schedule each region runs under --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Schedules.h"

#include "frontend/driver/Tuner.h"

namespace azulejo::driver {

/// The pinned schedule of each family that has one.
using Pins = std::map<std::string, schedule::Schedule>;

static Result<Pins> parsePins(std::string_view text, target::Kind kind) {
  Pins pins;
  while (!text.empty()) {
    size_t end = std::min(text.find(';'), text.size());
    Result<schedule::Schedule> pin =
        schedule::Schedule::parse(text.substr(0, end), kind);
    if (!pin)
      return pin.error();
    if (!pins.emplace(pin->family, *pin).second)
      return makeError(ErrorCode::InvalidArgument, "option pin",
                       "it names " + pin->family + " twice", "compile.pin",
                       "give one schedule per family, separated by semicolons");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pins;
}

/// The region's default with the pinned knobs in their place; where that makes
/// no sense, the most promising schedule of the space that has them.
static Result<schedule::Schedule> pinned(const RegionSchedules &known,
                                         const schedule::Schedule &pin) {
  schedule::Schedule result = known.fallback;
  for (const auto &[knob, value] : pin.knobs)
    result.knobs[knob] = value;
  std::optional<std::string> reason =
      known.space.illegal ? known.space.illegal(result) : std::nullopt;
  if (!reason)
    return result;
  for (schedule::Schedule &schedule :
       known.space.enumerate(std::numeric_limits<size_t>::max()))
    if (std::all_of(pin.knobs.begin(), pin.knobs.end(), [&](const auto &knob) {
          return schedule.knob(knob.first) == knob.second;
        }))
      return std::move(schedule);
  return makeError(ErrorCode::InvalidArgument, "schedule " + result.str(),
                   *reason, "compile.pin", "pin other knobs");
}

Result<ChosenSchedules> chooseSchedules(const RegionTable &table,
                                        const target::TargetDesc &target,
                                        const api::CompileRequest &request) {
  ChosenSchedules chosen;
  Result<Pins> pins = parsePins(request.pin, target.kind);
  if (!pins)
    return pins.error();
  Tuner tuner(target, request);
  const std::vector<std::string> &regions = table.texts;
  auto isTuned = [&](size_t i) {
    return request.tuneSeconds > 0 &&
           (table.isTuned.empty() || table.isTuned[i]);
  };
  size_t shares = 0;
  for (size_t i = 0; i < regions.size(); ++i)
    shares += isTuned(i);
  for (size_t i = 0; i < regions.size(); ++i) {
    size_t mine = shares;
    shares -= isTuned(i);
    Result<RegionSchedules> known = schedulesOf(regions[i], target);
    if (!known)
      return known.error();
    if (auto pin = pins->find(known->fallback.family); pin != pins->end()) {
      Result<schedule::Schedule> schedule = pinned(*known, pin->second);
      if (!schedule)
        return schedule.error();
      chosen.schedules.push_back(*schedule);
      continue;
    }
    // What is about to be tuned is not served by a record of another size.
    std::optional<schedule::Schedule> best = tuner.recorded(
        regions[i], *known,
        isTuned(i) || table.otherSizes.empty() ? std::vector<Sizes>()
                                               : table.otherSizes[i]);
    if (!best && isTuned(i)) {
      // They share the seconds that are left evenly.
      Result<schedule::Schedule> tuned = tuner.tune(regions[i], *known, mine);
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
