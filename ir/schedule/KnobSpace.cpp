//===- KnobSpace.cpp - walking the legal schedules of a region ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/schedule/Schedule.h"

#include <algorithm>

namespace azulejo::schedule {

/// Shows `visit` every combination of `values`, all in one schedule: there are
/// thousands of them, and most are not legal.
template <typename Visit>
static void forEachCombination(const KnobSpace &space,
                               const KnobSpace::Values &values,
                               const Visit &visit) {
  struct Axis {
    int64_t *knob;
    const std::vector<int64_t> *values;
    size_t at = 0;
    bool advance() {
      at = at + 1 == values->size() ? 0 : at + 1;
      *knob = (*values)[at];
      return at != 0;
    }
  };
  Schedule schedule = Schedule::defaults(space.family, space.kind);
  std::vector<Axis> axes;
  for (const KnobSpec &spec : knobsOf(space.family, space.kind)) {
    auto it = values.find(spec.name);
    if (it == values.end())
      continue;
    if (it->second.empty())
      return;
    axes.push_back({&schedule.knobs[spec.name], &it->second});
    *axes.back().knob = it->second.front();
  }
  bool more = true;
  while (more) {
    visit(schedule);
    more = std::any_of(axes.begin(), axes.end(),
                       [](Axis &axis) { return axis.advance(); });
  }
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
  // Of one family, so values in the order of the knobs' names say it all.
  struct Ranked {
    double cost;
    std::vector<int64_t> values;
    bool operator<(const Ranked &that) const {
      return cost != that.cost ? cost < that.cost : values < that.values;
    }
  };
  std::vector<Ranked> ranked;
  auto rank = [&](const Schedule &schedule) {
    if (illegal && illegal(schedule))
      return;
    Ranked &entry = ranked.emplace_back();
    entry.cost = cost ? cost(schedule) : 0.0;
    entry.values.reserve(schedule.knobs.size());
    for (const auto &[name, value] : schedule.knobs)
      entry.values.push_back(value);
  };
  forEachCombination(*this, values, rank);
  for (const Values &other : others)
    forEachCombination(*this, other, rank);
  // A stable order with a full tie-break: the same region gives the same list
  // in every process.
  limit = std::min(limit, ranked.size());
  std::partial_sort(ranked.begin(),
                    ranked.begin() + static_cast<ptrdiff_t>(limit),
                    ranked.end());
  std::vector<Schedule> result;
  for (size_t i = 0; i < limit; ++i) {
    Schedule &schedule = result.emplace_back(Schedule::defaults(family, kind));
    auto value = ranked[i].values.begin();
    for (auto &[name, knob] : schedule.knobs)
      knob = *value++;
  }
  return result;
}

} // namespace azulejo::schedule
