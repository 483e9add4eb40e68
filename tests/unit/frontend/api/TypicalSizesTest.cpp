//===- TypicalSizesTest.cpp - the sizes that runs will mostly have --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/TypicalSizes.h"
#include "frontend/api/PlanCache.h"

#include <gtest/gtest.h>

using namespace azulejo;

namespace {

graph::Graph ranged() {
  graph::Graph graph;
  EXPECT_TRUE(graph.dim("B", 1, 64));
  EXPECT_TRUE(graph.dim("S", 0, 5000));
  EXPECT_TRUE(graph.dim("T", 100, 120));
  return graph;
}

std::string bucketed(const std::string &text) {
  Result<api::TypicalSizes> buckets = api::bucketsOf(text, ranged());
  return buckets ? api::textOf(*buckets) : buckets.error().rule;
}

TEST(TypicalSizes, AreRoundedToPowersOfTwoWithinTheRange) {
  EXPECT_EQ(bucketed(""), "");
  EXPECT_EQ(bucketed("S=4096"), "S=4096");
  EXPECT_EQ(bucketed("S=3000"), "S=4096");
  EXPECT_EQ(bucketed("S=2800"), "S=2048");
  EXPECT_EQ(bucketed("S=0"), "S=1");
  EXPECT_EQ(bucketed("S=5000"), "S=4096");
  EXPECT_EQ(bucketed("T=119"), "T=120") << "128 is no size of T";
  EXPECT_EQ(bucketed("T=100,B=7"), "B=8,T=120");
}

TEST(TypicalSizes, OfADimensionThereMayBeSeveral) {
  EXPECT_EQ(bucketed("S=4096,B=2,S=1"), "B=2,S=4096,S=1");
  EXPECT_EQ(bucketed("S=16,S=17,S=14"), "S=16") << "one bucket";
  std::string many;
  for (int64_t size = 1; size <= 4096; size *= 2)
    many += "S=" + std::to_string(size) + ",";
  EXPECT_EQ(bucketed(many + "S=1"), many.substr(0, many.size() - 1));
}

TEST(TypicalSizes, WrongOnesAreRefused) {
  for (const char *text : {"S", "=4", "S=", "S=-1", "S=4x", "S=5001", "B=0",
                           "K=4", ",", "S=1,,B=1", "S=99999999999999999999"})
    EXPECT_EQ(bucketed(text), "compile.sizes") << text;
  Result<api::TypicalSizes> none = api::bucketsOf("S=4", graph::Graph());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().hint, "the graph has no dimension");
}

// A plan was chosen for its bucket; another bucket wants another plan.
TEST(TypicalSizes, BucketsArePartOfAPlansKey) {
  graph::Graph graph = ranged();
  api::CompileRequest request;
  auto keyOf = [&](const char *text) {
    request.typicalSizes = *api::bucketsOf(text, graph);
    return api::PlanCache::keyOf(graph, target::hostTarget(), request,
                                 /*tuned=*/false)
        .hex;
  };
  EXPECT_NE(keyOf("S=4096"), keyOf("S=16"));
  EXPECT_NE(keyOf("S=4096"), keyOf(""));
  EXPECT_EQ(keyOf("S=4096"), keyOf("S=4000"));
}

} // namespace
