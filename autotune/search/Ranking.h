//===- Ranking.h - what measurements say about candidates -------*- C++ -*-===//
//
// Successive halving: everybody is timed a little, the better half a little
// more, until few are left, which are timed well. A candidate whose interval
// still reaches the best one's is never dropped while it would be a coin toss,
// unless the round would otherwise not get smaller.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_SEARCH_RANKING_H
#define AZULEJO_AUTOTUNE_SEARCH_RANKING_H

#include "ir/schedule/Schedule.h"

namespace azulejo::search {

struct Measured {
  schedule::Schedule schedule;
  double medianNs = 0, ciLowNs = 0, ciHighNs = 0;
};

/// Differences below this are ties whatever the intervals say.
inline constexpr double kTieFraction = 0.02;

/// Index of the winner: of all that tie with the fastest (within the tie
/// fraction, or within twice it while the intervals overlap) the simplest.
/// `measured` is not empty; the order of its elements does not matter.
size_t chooseBest(const std::vector<Measured> &measured);

/// Indices of the candidates that stay, fastest first: half of them, and up to
/// three quarters while their intervals overlap the fastest one's; never fewer
/// than `atLeast`.
std::vector<size_t> survivors(const std::vector<Measured> &measured,
                              size_t atLeast);

} // namespace azulejo::search

#endif // AZULEJO_AUTOTUNE_SEARCH_RANKING_H
