//===- RandomTapeTest.cpp - drawing and shrinking random graphs -----------===//
//
// Faults are planted: a graph "fails" when it holds a certain thing, and
// shrinking has to leave little else of it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/RandomTape.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace azulejo::conformance {
namespace {

bool holds(const RandomGraph &made, const std::string &kind) {
  return std::any_of(made.graph.ops().begin(), made.graph.ops().end(),
                     [&](const graph::Op &op) { return op.kind == kind; });
}

/// The first `count` drawn graphs for which `fails` holds.
std::vector<RandomGraph>
drawn(const std::function<bool(const RandomGraph &)> &fails, size_t count) {
  std::vector<RandomGraph> found;
  for (uint64_t seed = 1; seed < 1000 && found.size() < count; ++seed) {
    Result<RandomGraph> made = makeRandomGraph(drawTape(seed));
    if (made && fails(*made))
      found.push_back(std::move(*made));
  }
  EXPECT_EQ(found.size(), count);
  return found;
}

TEST(RandomTape, ASeedIsOneTape) {
  for (uint64_t seed : {0, 1, 2, 77}) {
    EXPECT_EQ(drawTape(seed), drawTape(seed));
    EXPECT_NE(drawTape(seed), drawTape(seed + 1));
  }
}

TEST(RandomTape, WhatWasReadMakesTheSameGraph) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Tape tape = drawTape(seed);
    Result<RandomGraph> first = makeRandomGraph(tape);
    ASSERT_TRUE(first.ok()) << seed;
    // A drawn tape never ends before its graph does.
    EXPECT_LT(first->tape.size(), tape.size()) << seed;
    Result<RandomGraph> second = makeRandomGraph(first->tape);
    ASSERT_TRUE(second.ok()) << seed;
    EXPECT_EQ(first->tape, second->tape) << seed;
    EXPECT_EQ(first->steps, second->steps) << seed;
    EXPECT_EQ(first->dims, second->dims) << seed;
    EXPECT_EQ(first->graph.canonical(), second->graph.canonical()) << seed;
    ASSERT_EQ(first->inputs.size(), second->inputs.size()) << seed;
    for (size_t i = 0; i < first->inputs.size(); ++i)
      EXPECT_EQ(first->inputs[i].bytes, second->inputs[i].bytes) << seed;
  }
}

// Also one that ends in the middle of a choice, or has no choices at all.
TEST(RandomTape, EveryTapeIsAValidGraph) {
  Tape whole = makeRandomGraph(drawTape(4))->tape;
  int64_t ops = 0;
  for (size_t length = 0; length <= whole.size(); ++length) {
    Result<RandomGraph> made =
        makeRandomGraph(Tape(whole.begin(), whole.begin() + length));
    ASSERT_TRUE(made.ok()) << length << ": " << made.error().str();
    EXPECT_LE(made->tape.size(), length);
    EXPECT_FALSE(made->graph.outputs().empty());
    ops = std::max(ops, made->opCount());
  }
  EXPECT_GE(ops, kMinOps);
  EXPECT_TRUE(makeRandomGraph(Tape(3, 0xffffffff)).ok());
}

TEST(RandomTape, ShrinksToTheOpThatFails) {
  for (const char *kind : {"exp", "rms_norm", "gather", "cache_update"})
    for (RandomGraph &made :
         drawn([&](const RandomGraph &one) { return holds(one, kind); }, 5)) {
      int64_t before = made.opCount();
      Shrunk found = shrinkGraph(
          made, [&](const RandomGraph &one) { return holds(one, kind); });
      EXPECT_TRUE(found.smallest) << kind << ", " << found.tries << " tries";
      EXPECT_TRUE(holds(found.graph, kind));
      EXPECT_LE(found.graph.opCount(), 3) << kind << ", from " << before << ": "
                                          << found.graph.graph.canonical();
      EXPECT_EQ(makeRandomGraph(found.graph.tape)->graph.canonical(),
                found.graph.graph.canonical());
    }
}

// One fault that takes two things, and needs sizes.
TEST(RandomTape, ShrinksToAttentionAndWhatItNeeds) {
  auto fails = [](const RandomGraph &one) {
    auto wide = [&](const auto &dim) { return dim.second >= 16; };
    return holds(one, "attention") && holds(one, "softmax") &&
           std::any_of(one.dims.begin(), one.dims.end(), wide);
  };
  for (RandomGraph &made : drawn(fails, 5)) {
    Shrunk found = shrinkGraph(made, fails);
    EXPECT_TRUE(fails(found.graph));
    EXPECT_LE(found.graph.opCount(), 14)
        << "from " << made.opCount() << ": " << found.graph.graph.canonical();
    EXPECT_LT(found.graph.tape, made.tape);
  }
}

TEST(RandomTape, KeepsTheBudget) {
  RandomGraph made =
      drawn([](const RandomGraph &one) { return holds(one, "exp"); }, 1)[0];
  int asked = 0;
  auto never = [&](const RandomGraph &) {
    ++asked;
    return false;
  };
  Shrunk found = shrinkGraph(made, never, {.tries = 7});
  EXPECT_EQ(asked, 7);
  EXPECT_EQ(found.tries, 7);
  EXPECT_FALSE(found.smallest);
  EXPECT_EQ(found.graph.tape, made.tape);
  EXPECT_EQ(shrinkGraph(made, never, {.seconds = 0}).tries, 0);
}

TEST(RandomTape, IsSpelledAsATestHoldsIt) {
  EXPECT_EQ(spelled({}), "{}");
  EXPECT_EQ(spelled({3, 0, 4294967295u}), "{3, 0, 4294967295}");
}

} // namespace
} // namespace azulejo::conformance
