//===- Partition.cpp - few schedules for many sizes -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Partition.h"

#include <algorithm>

namespace azulejo::driver {

namespace {

/// The best way to cover points up to one of them with so many parts.
struct Cover {
  double loss = kNever;
  size_t first = 0, schedule = 0; ///< of the last part
};

} // namespace

/// covers[parts - 1][point]
static std::vector<std::vector<Cover>>
allCovers(const PartitionProblem &problem) {
  size_t points = problem.joined.size();
  std::vector<std::vector<Cover>> covers;
  while (covers.size() < std::min(problem.mostParts, points)) {
    const std::vector<Cover> *fewer = covers.empty() ? nullptr : &covers.back();
    std::vector<Cover> next(points);
    for (size_t schedule = 0; schedule < problem.loss.size(); ++schedule)
      for (size_t last = 0; last < points; ++last) {
        // The last part grows backwards from `last`.
        double loss = 0;
        bool wanted = problem.best.empty();
        for (size_t first = last + 1; first-- > 0;) {
          loss += problem.loss[schedule][first];
          wanted = wanted || problem.best[first] == schedule;
          double before = first == 0 ? (fewer ? kNever : 0)
                          : fewer    ? (*fewer)[first - 1].loss
                                     : kNever;
          if (wanted && !problem.joined[first] &&
              before + loss < next[last].loss)
            next[last] = {before + loss, first, schedule};
        }
      }
    covers.push_back(std::move(next));
  }
  return covers;
}

Partition partition(const PartitionProblem &problem) {
  size_t points = problem.joined.size();
  if (points == 0 || problem.joined[0])
    return {};
  std::vector<std::vector<Cover>> covers = allCovers(problem);
  size_t best = 0;
  auto total = [&](size_t parts) {
    return covers[parts].back().loss +
           problem.price * static_cast<double>(parts);
  };
  for (size_t parts = 1; parts < covers.size(); ++parts)
    if (total(parts) < total(best))
      best = parts;
  Partition result;
  result.loss = covers[best].back().loss;
  if (result.loss == kNever)
    return {};
  for (size_t last = points, parts = best + 1; parts-- > 0;) {
    const Cover &cover = covers[parts][last - 1];
    result.parts.insert(result.parts.begin(),
                        {cover.first, last - 1, cover.schedule});
    last = cover.first;
  }
  return result;
}

} // namespace azulejo::driver
