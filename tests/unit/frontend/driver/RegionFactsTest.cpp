//===- RegionFactsTest.cpp - sizes, keys and data of a region -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/RegionFacts.h"

#include "TestRegions.h"
#include "frontend/driver/TrialData.h"
#include "frontend/driver/TuningRecords.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::test;
using driver::Sizes;
using reference::HostTensor;

namespace {

TEST(RegionFacts, SizesLieInTheRangesAndAreAffordable) {
  for (const std::string &region :
       {rowChainRegion(), matmulRegion(), attentionRegion()}) {
    auto facts = driver::factsOf(region, target::hostTarget());
    ASSERT_TRUE(facts) << facts.error().str();
    std::vector<Sizes> all = facts->small;
    EXPECT_GE(all.size(), 1u);
    all.push_back(facts->tuned);
    for (const Sizes &sizes : all)
      for (const graph::DimSymbol &dim : facts->graph.dims()) {
        ASSERT_TRUE(sizes.count(dim.name));
        EXPECT_GE(sizes.at(dim.name), dim.min);
        EXPECT_LE(sizes.at(dim.name), dim.max);
      }
    EXPECT_LT(facts->bytesAt(facts->tuned), 128 << 20);
    for (const Sizes &sizes : facts->small)
      EXPECT_LE(facts->flopsAt(sizes), 1e8);
  }
}

TEST(RegionFacts, HugeDimensionsAreCutDown) {
  auto facts = driver::factsOf(rowChainRegion(1 << 16), target::hostTarget());
  ASSERT_TRUE(facts);
  EXPECT_LT(facts->bytesAt(facts->tuned), 128 << 20);
  EXPECT_GE(facts->tuned.at("S"), 1);
  EXPECT_EQ(facts->bucket(), "S=" + std::to_string(facts->tuned.at("S")));
  EXPECT_EQ(facts->dtypes(), "f32,f32->f32");
}

TEST(RegionFacts, MiddleOfARangeIsAPowerOfTwo) {
  auto facts = driver::factsOf(rowChainRegion(), target::hostTarget());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->tuned.at("S"), 64); // of 1 to 4096
  EXPECT_FALSE(driver::factsOf("no region", target::hostTarget()));
}

TEST(RegionFacts, ExpectedSizesAreTuned) {
  std::string expected = rowChainRegion(768, {{"S", 512}});
  auto facts = driver::factsOf(expected, target::hostTarget());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->tuned.at("S"), 512);
  EXPECT_EQ(facts->bucket(), "S=512");
  EXPECT_NE(expected, rowChainRegion());
  // Still not larger than what can be run in a moment.
  facts = driver::factsOf(rowChainRegion(1 << 16, {{"S", 4096}}),
                          target::hostTarget());
  ASSERT_TRUE(facts);
  EXPECT_LT(facts->bytesAt(facts->tuned), 128 << 20);
}

TEST(TuningKey, EveryPartCounts) {
  const target::TargetDesc &target = target::hostTarget();
  auto facts = driver::factsOf(rowChainRegion(), target);
  ASSERT_TRUE(facts);
  api::CompileRequest request;
  auto keyOf = [](const driver::RegionFacts &of, const std::string &family,
                  const target::TargetDesc &on,
                  const api::CompileRequest &how) {
    return driver::tuningKey(of, family, on, how).hex;
  };
  driver::RegionFacts wider = *driver::factsOf(rowChainRegion(769), target);
  wider.tuned = facts->tuned;
  driver::RegionFacts longer = *facts;
  longer.tuned["S"] *= 2;
  std::set<std::string> keys{keyOf(*facts, "RowChain", target, request),
                             keyOf(wider, "RowChain", target, request),
                             keyOf(longer, "RowChain", target, request),
                             keyOf(*facts, "Matmul", target, request)};
  api::CompileRequest other = request;
  other.deterministic = true;
  keys.insert(keyOf(*facts, "RowChain", target, other));
  other = request;
  other.threads = 7;
  keys.insert(keyOf(*facts, "RowChain", target, other));
  target::TargetDesc changed = target;
  changed.features += ",+something";
  keys.insert(keyOf(*facts, "RowChain", changed, request));
  changed = target;
  changed.l2Bytes *= 2;
  keys.insert(keyOf(*facts, "RowChain", changed, request));
  EXPECT_EQ(keys.size(), 8u);
}

// Whoever expects a size finds what was tuned at it, whatever else they expect.
TEST(TuningKey, TypicalSizesCountBySizeAlone) {
  const target::TargetDesc &target = target::hostTarget();
  auto plain = driver::factsOf(rowChainRegion(), target),
       expected = driver::factsOf(rowChainRegion(768, {{"S", 64}}), target);
  ASSERT_TRUE(plain && expected);
  EXPECT_EQ(plain->tuned, expected->tuned) << "64 is the middle of the range";
  EXPECT_EQ(plain->key, expected->key);
  EXPECT_EQ(expected->key.find("graph.typical"), std::string::npos);
}

TEST(TuningRecords, OnlyPointsOfTheSpaceAreLegal) {
  schedule::KnobSpace space;
  space.family = "RowChain";
  space.values["rowTile"] = {1, 4, 8};
  space.illegal =
      [](const schedule::Schedule &s) -> std::optional<std::string> {
    return s.knob("rowTile") == 8 ? std::optional<std::string>("eight")
                                  : std::nullopt;
  };
  schedule::Schedule schedule =
      schedule::Schedule::defaults("RowChain", target::Kind::Cpu);
  EXPECT_TRUE(space.contains(schedule));
  schedule.knobs["rowTile"] = 2;
  EXPECT_FALSE(space.contains(schedule));
  schedule.knobs["rowTile"] = 8;
  EXPECT_FALSE(space.contains(schedule));
  schedule.knobs["rowTile"] = 1;
  schedule.knobs["unroll"] = 4; // not in this space
  EXPECT_FALSE(space.contains(schedule));
  // Knobs that mean something together only.
  space.others.push_back({{"unroll", {4}}});
  schedule.knobs["rowTile"] = 4;
  EXPECT_TRUE(space.contains(schedule));
  schedule.knobs["rowTile"] = 1;
  EXPECT_FALSE(space.contains(schedule));
  EXPECT_EQ(space.enumerate(100).size(), 3u);
  EXPECT_FALSE(space.contains(
      schedule::Schedule::defaults("Matmul", target::Kind::Cpu)));
}

HostTensor ramp(int64_t count) {
  HostTensor tensor = HostTensor::dense(DType::F32, {count});
  for (int64_t i = 0; i < count; ++i)
    tensor.setFlat(i, std::sin(static_cast<double>(i)));
  return tensor;
}

TEST(Disagreement, AllowsRoundingAndNothingElse) {
  HostTensor expected = ramp(1000), actual = expected;
  auto differs = [&] {
    return driver::disagreement(actual, expected, DType::F32, 64).has_value();
  };
  EXPECT_FALSE(differs());
  for (int64_t i = 0; i < 1000; ++i)
    actual.setFlat(i, expected.flat(i) * (1 + 3e-7 * (i % 2 ? 1 : -1)));
  EXPECT_FALSE(differs());
  actual = expected;
  actual.setFlat(999, expected.flat(999) + 1e-3);
  EXPECT_TRUE(differs());
  actual = expected;
  actual.setFlat(0, std::nan(""));
  EXPECT_TRUE(differs());
  actual = expected;
  for (int64_t i = 0; i < 1000; ++i)
    actual.setFlat(i, expected.flat(i) * 1.00001);
  EXPECT_TRUE(differs());
}

TEST(Disagreement, IntegersAreEqualOrNot) {
  HostTensor expected = HostTensor::dense(DType::I32, {4}), actual = expected;
  EXPECT_FALSE(driver::disagreement(actual, expected, DType::F32, 1));
  actual.setFlatInt(3, 1);
  EXPECT_TRUE(driver::disagreement(actual, expected, DType::F32, 1));
}

TEST(RandomInputs, FitWhatTheyIndexAndRepeat) {
  graph::Graph graph;
  auto N = *graph.dim("N", 1, 100);
  auto table = *graph.input("table", {DType::F32, {graph::Dim(10), N}});
  auto ids = *graph.input("ids", {DType::I32, {N}});
  auto rows = graph.append("gather", {table, ids});
  ASSERT_TRUE(rows) << rows.error().str();
  ASSERT_TRUE(graph.output("y", rows->front()));
  Sizes sizes{{"N", 50}};
  auto inputs = driver::randomInputs(graph, sizes, 3);
  ASSERT_TRUE(inputs);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 50; ++i)
    seen.insert((*inputs)[1].flatInt(i));
  EXPECT_GE(*seen.begin(), 0);
  EXPECT_LT(*seen.rbegin(), 10);
  EXPECT_GT(seen.size(), 3u);
  auto again = driver::randomInputs(graph, sizes, 3);
  auto other = driver::randomInputs(graph, sizes, 4);
  EXPECT_EQ((*inputs)[0].bytes, (*again)[0].bytes);
  EXPECT_NE((*inputs)[0].bytes, (*other)[0].bytes);
}

} // namespace
