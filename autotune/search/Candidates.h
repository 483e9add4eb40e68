//===- Candidates.h - which schedules are worth measuring -------*- C++ -*-===//
//
// A space may hold thousands of legal schedules; dozens are measured. The
// analytic cost only orders them, and it is often wrong about a knob, so the
// choice mixes trust and doubt:
//
//   * the default schedule comes first, always;
//   * half of the rest are the best guesses of the ranked list;
//   * the other half spread over the list, each the one that differs most from
//     what has been chosen (how many knob values it brings that are rare among
//     the chosen), so that every knob varies.
//
// The choice is a pure function of the space: the same in every process.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_SEARCH_CANDIDATES_H
#define AZULEJO_AUTOTUNE_SEARCH_CANDIDATES_H

#include "ir/schedule/Schedule.h"

#include <set>

namespace azulejo::search {

/// At most `count` schedules, the most promising first.
std::vector<schedule::Schedule>
pickCandidates(const schedule::KnobSpace &space,
               const schedule::Schedule &fallback, size_t count);

/// Legal schedules one step of one knob away from `center`, in table order of
/// the knobs, none of `tried` (by Schedule::str()) among them.
std::vector<schedule::Schedule> neighbours(const schedule::KnobSpace &space,
                                           const schedule::Schedule &center,
                                           const std::set<std::string> &tried,
                                           size_t count);

/// Names of the knobs that take more than one value among the schedules.
std::vector<std::string>
varyingKnobs(const std::vector<schedule::Schedule> &schedules);

/// How many knobs are away from the table's default.
int64_t complexity(const schedule::Schedule &schedule);

/// A full order for ties: fewer knobs away from the default, then the values
/// in table order.
bool isSimpler(const schedule::Schedule &a, const schedule::Schedule &b);

} // namespace azulejo::search

#endif // AZULEJO_AUTOTUNE_SEARCH_CANDIDATES_H
