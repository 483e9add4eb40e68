//===- Candidates.cpp - which schedules are worth measuring ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/search/Candidates.h"

#include <algorithm>

namespace azulejo::search {

using schedule::KnobSpace;
using schedule::KnobSpec;
using schedule::Schedule;

// The spread looks at so many of the ranked list; beyond it the cost model
// says that a schedule is hopeless, and the scan stays cheap.
static constexpr size_t kRankedLimit = 4096;

namespace {

/// How often each knob value occurs among the chosen schedules.
class ValueCounts {
public:
  void add(const Schedule &schedule) {
    for (const auto &knob : schedule.knobs)
      ++counts[knob];
  }
  /// High for schedules that bring values which are rare so far.
  double novelty(const Schedule &schedule) const {
    double total = 0;
    for (const auto &knob : schedule.knobs) {
      auto it = counts.find(knob);
      total += 1.0 / (1.0 + (it == counts.end() ? 0 : it->second));
    }
    return total;
  }

private:
  std::map<std::pair<const std::string, int64_t>, int64_t> counts;
};

} // namespace

std::vector<Schedule> pickCandidates(const KnobSpace &space,
                                     const Schedule &fallback, size_t count) {
  std::vector<Schedule> picked;
  if (count == 0)
    return picked;
  ValueCounts seen;
  auto take = [&](const Schedule &schedule) {
    picked.push_back(schedule);
    seen.add(schedule);
  };
  take(fallback);
  std::vector<Schedule> ranked = space.enumerate(kRankedLimit);
  std::erase(ranked, fallback);
  size_t best = std::min(ranked.size(), count / 2);
  for (size_t i = 0; i < best; ++i)
    take(ranked[i]);

  std::vector<bool> used(ranked.size(), false);
  std::fill(used.begin(), used.begin() + best, true);
  while (picked.size() < count) {
    size_t choice = ranked.size();
    double most = 0;
    for (size_t i = 0; i < ranked.size(); ++i) {
      if (used[i])
        continue;
      double novelty = seen.novelty(ranked[i]);
      // Equal novelty: the better rank, which comes first.
      if (choice == ranked.size() || novelty > most + 1e-12) {
        choice = i;
        most = novelty;
      }
    }
    if (choice == ranked.size())
      break;
    used[choice] = true;
    take(ranked[choice]);
  }
  return picked;
}

std::vector<Schedule> neighbours(const KnobSpace &space, const Schedule &center,
                                 const std::set<std::string> &tried,
                                 size_t count) {
  std::vector<Schedule> found;
  const KnobSpace::Values *around = space.valuesAround(center);
  if (!around)
    return found;
  for (const KnobSpec &spec : schedule::knobsOf(space.family, space.kind)) {
    auto it = around->find(spec.name);
    if (it == around->end())
      continue;
    std::vector<int64_t> values = it->second;
    std::sort(values.begin(), values.end());
    int64_t here = center.knob(spec.name);
    auto above = std::upper_bound(values.begin(), values.end(), here);
    auto below = std::lower_bound(values.begin(), values.end(), here);
    std::vector<int64_t> steps;
    if (below != values.begin())
      steps.push_back(*std::prev(below));
    if (above != values.end())
      steps.push_back(*above);
    for (int64_t step : steps) {
      Schedule next = center;
      next.knobs[spec.name] = step;
      if (tried.count(next.str()) || (space.illegal && space.illegal(next)))
        continue;
      found.push_back(std::move(next));
    }
  }
  if (space.cost)
    std::stable_sort(found.begin(), found.end(),
                     [&](const Schedule &a, const Schedule &b) {
                       return space.cost(a) < space.cost(b);
                     });
  if (found.size() > count)
    found.resize(count);
  return found;
}

std::vector<std::string> varyingKnobs(const std::vector<Schedule> &schedules) {
  std::vector<std::string> names;
  if (schedules.empty())
    return names;
  for (const KnobSpec &spec :
       schedule::knobsOf(schedules[0].family, schedules[0].kind))
    if (std::any_of(schedules.begin(), schedules.end(), [&](const Schedule &s) {
          return s.knob(spec.name) != schedules[0].knob(spec.name);
        }))
      names.push_back(spec.name);
  return names;
}

int64_t complexity(const Schedule &schedule) {
  int64_t away = 0;
  for (const KnobSpec &spec : schedule::knobsOf(schedule.family, schedule.kind))
    away += schedule.knob(spec.name) != spec.defaultValue;
  return away;
}

bool isSimpler(const Schedule &a, const Schedule &b) {
  if (complexity(a) != complexity(b))
    return complexity(a) < complexity(b);
  for (const KnobSpec &spec : schedule::knobsOf(a.family, a.kind))
    if (a.knob(spec.name) != b.knob(spec.name))
      return a.knob(spec.name) < b.knob(spec.name);
  return false;
}

} // namespace azulejo::search
