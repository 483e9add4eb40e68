//===- ProductRolesTest.cpp - which products may have warp roles ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/MatrixSchedules.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace azulejo;
using namespace azulejo::tiling;

namespace {

/// Why the space of a product of 4096^3, or of fewer rows, has no such
/// schedule; empty if it has.
std::string refusal(const std::string &knobs, int64_t rows = 4096) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  EXPECT_TRUE(h200);
  ProductFacts facts;
  facts.columns = facts.depth = 4096;
  facts.rows = rows;
  facts.elementBytes = 2;
  facts.plain = true;
  std::string stages =
      knobs.find("stages=") == std::string::npos ? "stages=3," : "";
  Result<schedule::Schedule> schedule = schedule::Schedule::parse(
      "Matmul{tileK=64,minBlocks=1," + stages + knobs + "}", target::Kind::Gpu);
  EXPECT_TRUE(schedule) << schedule.error().str();
  return productSpace(facts, *h200).illegal(*schedule).value_or("");
}

TEST(ProductRoles, GroupsTakeTurnsWhereThereAreTwo) {
  const std::string tile = "warpsM=1,warpsN=1,tileM=128,tileN=128,pingpong=1,";
  EXPECT_EQ(refusal(tile + "consumers=2"), "");
  EXPECT_NE(refusal(tile + "consumers=1"), "");
}

TEST(ProductRoles, KnobsOfRolesMeanNothingWithoutThem) {
  const std::string tile = "warpsM=2,warpsN=4,tileM=128,tileN=256,consumers=0";
  EXPECT_EQ(refusal(tile), "");
  EXPECT_NE(refusal(tile + ",pingpong=1"), "");
  EXPECT_NE(refusal(tile + ",lhsRegisters=1"), "");
  EXPECT_NE(refusal(tile + ",cluster=2"), "");
  EXPECT_NE(refusal(tile + ",dynamic=1"), "");
}

/// Where a counter deals items out, each group has entries in shared memory.
TEST(ProductRoles, CountedItemsTakeSharedMemory) {
  const std::string tile = "warpsM=1,warpsN=1,consumers=2,tileM=128,tileN=256,";
  EXPECT_EQ(refusal(tile + "dynamic=1"), "");
  EXPECT_EQ(refusal(tile + "cluster=2"), "");
  EXPECT_NE(refusal(tile + "dynamic=1,cluster=2"), "");
  std::string with = refusal(tile + "dynamic=1,stages=5"),
              without = refusal(tile + "stages=5");
  EXPECT_NE(with, "");
  EXPECT_NE(without, "");
  EXPECT_NE(with, without);
}

/// They are the tuner's to try, and nobody's default: they gain next to
/// nothing.
TEST(ProductRoles, CountedItemsAreInTheSpaceAndNoDefault) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  ProductFacts facts;
  facts.rows = facts.columns = facts.depth = 4096;
  facts.elementBytes = 2;
  facts.plain = true;
  schedule::KnobSpace space = productSpace(facts, *h200);
  schedule::Schedule schedule = defaultProduct(facts, *h200);
  EXPECT_GT(schedule.knob("consumers"), 0);
  EXPECT_EQ(schedule.knob("dynamic"), 0);
  for (int64_t inTurns : {0, 1}) {
    schedule::Schedule counted = *schedule::Schedule::parse(
        "Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,"
        "stages=4,dynamic=1,pingpong=" +
            std::to_string(inTurns) + "}",
        target::Kind::Gpu);
    EXPECT_TRUE(space.contains(counted));
  }
}

/// Sums are bounded by what a group holds, and those of one product by what a
/// thread is launched with.
TEST(ProductRoles, RegistersBoundTheTile) {
  const std::string alone = "warpsM=1,warpsN=1,pingpong=1,";
  EXPECT_EQ(refusal(alone + "consumers=2,tileM=128,tileN=192"), "");
  EXPECT_NE(refusal(alone + "consumers=2,tileM=128,tileN=224"), "");
  EXPECT_EQ(refusal(alone + "consumers=3,tileM=64,tileN=192"), "");
  EXPECT_NE(refusal(alone + "consumers=3,tileM=64,tileN=224"), "");
}

TEST(ProductRoles, ClustersHaveTilesForAllTheirBlocks) {
  const std::string tile =
      "warpsM=1,warpsN=1,consumers=2,tileM=128,tileN=128,cluster=";
  EXPECT_EQ(refusal(tile + "2", 129), "");
  EXPECT_NE(refusal(tile + "2", 128), "");
  // An item that fills a cluster up needs bounds, which whole tiles have not.
  EXPECT_NE(refusal(tile + "2", 384), "");
  EXPECT_EQ(refusal(tile + "2", 385), "");
  EXPECT_EQ(refusal(tile + "2", 512), "");
  EXPECT_EQ(refusal(tile + "1", 128), "");
}

/// Few rows are another family with knobs of its own, and the same model.
TEST(ProductRoles, FewRowsWithRolesCostSomething) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  FewRowsFacts facts;
  facts.product = {64, 14336, 4096, 2, true};
  facts.lhs.storedBytes = facts.rhs.storedBytes = 2;
  facts.transposeRhs = true;
  schedule::Schedule best = defaultFewRows(facts, *h200);
  EXPECT_GT(best.knob("consumers"), 0) << best.str();
  EXPECT_TRUE(std::isfinite(fewRowsSpace(facts, *h200).cost(best)));
}

TEST(ProductRoles, ColumnsComeInSlabs) {
  EXPECT_NE(refusal("warpsM=1,warpsN=1,consumers=2,tileM=128,tileN=32"), "");
}

} // namespace
