//===- Ranking.cpp - what measurements say about candidates ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/search/Ranking.h"

#include "autotune/search/Candidates.h"

#include <algorithm>
#include <numeric>

namespace azulejo::search {

static bool isFaster(const Measured &a, const Measured &b) {
  if (a.medianNs != b.medianNs)
    return a.medianNs < b.medianNs;
  return isSimpler(a.schedule, b.schedule);
}

size_t chooseBest(const std::vector<Measured> &measured) {
  size_t fastest = 0;
  for (size_t i = 1; i < measured.size(); ++i)
    if (isFaster(measured[i], measured[fastest]))
      fastest = i;
  const Measured &best = measured[fastest];
  size_t winner = fastest;
  for (size_t i = 0; i < measured.size(); ++i) {
    const Measured &other = measured[i];
    double ratio = other.medianNs / std::max(best.medianNs, 1e-9);
    // Wide intervals must not let a clearly slower one win.
    bool ties = ratio <= 1 + kTieFraction || (ratio <= 1 + 2 * kTieFraction &&
                                              other.ciLowNs <= best.ciHighNs);
    if (ties && isSimpler(other.schedule, measured[winner].schedule))
      winner = i;
  }
  return winner;
}

std::vector<size_t> survivors(const std::vector<Measured> &measured,
                              size_t atLeast) {
  std::vector<size_t> order(measured.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return isFaster(measured[a], measured[b]);
  });
  if (order.empty())
    return order;
  size_t half = std::max(atLeast, (order.size() + 1) / 2);
  size_t most = std::max(half, order.size() * 3 / 4);
  size_t keep = 0;
  while (keep < order.size() &&
         (keep < half || (keep < most && measured[order[keep]].ciLowNs <=
                                             measured[order[0]].ciHighNs)))
    ++keep;
  order.resize(keep);
  return order;
}

} // namespace azulejo::search
