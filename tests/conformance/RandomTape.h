//===- RandomTape.h - tapes drawn and shrunk by RapidCheck ------*- C++ -*-===//
//
// Tapes of random graphs (RandomGraph.h). A seed is one tape, always the same
// with one version of RapidCheck; what a test keeps for good is the tape.
//
// The tape of a failing graph is shrunk: whole steps are cut out, many at a
// time first, then attention, then single choices go towards 0. As each try
// costs a compilation and a run, it is greedy (go on from the first simpler
// graph that fails, at the place where it was found), no graph is tried twice,
// and there is a budget.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_RANDOMTAPE_H
#define AZULEJO_TESTS_CONFORMANCE_RANDOMTAPE_H

#include "tests/conformance/RandomGraph.h"

#include <functional>

namespace azulejo::conformance {

/// The tape of a seed; its graph has at least kMinOps ops.
Tape drawTape(uint64_t seed);

struct ShrinkBudget {
  int tries = 300;
  double seconds = 120;
};

struct Shrunk {
  RandomGraph graph;
  int tries = 0;
  double seconds = 0;
  /// No simpler graph fails; else the budget was spent before that was known.
  bool smallest = false;
};

/// The simplest graph found for which `fails` holds, as it does for `failing`.
Shrunk shrinkGraph(RandomGraph failing,
                   const std::function<bool(const RandomGraph &)> &fails,
                   const ShrinkBudget &budget = {});

/// "{3, 0, 17}": to be pasted into a test.
std::string spelled(const Tape &tape);

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_RANDOMTAPE_H
