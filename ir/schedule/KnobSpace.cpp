//===- KnobSpace.cpp - walking the legal schedules of a region ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/schedule/Schedule.h"

#include <algorithm>

namespace azulejo::schedule {

static std::vector<Schedule> combinations(const KnobSpace &space,
                                          const KnobSpace::Values &values) {
  std::vector<Schedule> all{Schedule::defaults(space.family, space.kind)};
  for (const KnobSpec &spec : knobsOf(space.family, space.kind)) {
    auto it = values.find(spec.name);
    if (it == values.end())
      continue;
    std::vector<Schedule> next;
    for (const Schedule &base : all)
      for (int64_t value : it->second) {
        next.push_back(base);
        next.back().knobs[spec.name] = value;
      }
    all = std::move(next);
  }
  return all;
}

static bool isCombination(const Schedule &schedule,
                          const KnobSpace::Values &values) {
  for (const KnobSpec &spec : knobsOf(schedule.family, schedule.kind)) {
    auto it = values.find(spec.name);
    int64_t value = schedule.knob(spec.name);
    bool known = it == values.end()
                     ? value == spec.defaultValue
                     : std::find(it->second.begin(), it->second.end(), value) !=
                           it->second.end();
    if (!known)
      return false;
  }
  return true;
}

const KnobSpace::Values *
KnobSpace::valuesAround(const Schedule &schedule) const {
  if (schedule.family != family || schedule.kind != kind)
    return nullptr;
  if (isCombination(schedule, values))
    return &values;
  for (const Values &other : others)
    if (isCombination(schedule, other))
      return &other;
  return nullptr;
}

bool KnobSpace::contains(const Schedule &schedule) const {
  return valuesAround(schedule) && (!illegal || !illegal(schedule));
}

std::vector<Schedule> KnobSpace::enumerate(size_t limit) const {
  std::vector<Schedule> all = combinations(*this, values);
  for (const Values &other : others)
    for (Schedule &schedule : combinations(*this, other))
      all.push_back(std::move(schedule));
  if (illegal)
    std::erase_if(all,
                  [&](const Schedule &s) { return illegal(s).has_value(); });
  // A stable order with a full tie-break: the same region gives the same list
  // in every process.
  std::vector<std::pair<double, Schedule>> ranked;
  for (Schedule &schedule : all)
    ranked.emplace_back(cost ? cost(schedule) : 0.0, std::move(schedule));
  std::stable_sort(
      ranked.begin(), ranked.end(), [](const auto &a, const auto &b) {
        return a.first != b.first ? a.first < b.first
                                  : a.second.knobs < b.second.knobs;
      });
  std::vector<Schedule> result;
  for (auto &[cost, schedule] : ranked) {
    if (result.size() == limit)
      break;
    result.push_back(std::move(schedule));
  }
  return result;
}

} // namespace azulejo::schedule
