//===- PortableProductTest.cpp - the model of products without roles ------===//
//
// What was measured on an H200 for 4096^3 (docs/design/kernel-dialect.md): the
// model need not know the clocks, but which schedules are good.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/MatrixSchedules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

using namespace azulejo;
using namespace azulejo::tiling;

namespace {

schedule::KnobSpace portableSpace(bool computed = false) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  EXPECT_TRUE(h200);
  ProductFacts facts;
  facts.rows = facts.columns = facts.depth = 4096;
  facts.elementBytes = 2;
  facts.plain = false; // no bulk copies, so no roles
  facts.computed = computed;
  return productSpace(facts, *h200);
}

schedule::Schedule portable(const std::string &knobs) {
  Result<schedule::Schedule> schedule = schedule::Schedule::parse(
      "Matmul{warpsM=2,warpsN=4,tileM=128,tileN=256,consumers=0,minBlocks=1,"
      "rasterGroup=8," +
          knobs + "}",
      target::Kind::Gpu);
  EXPECT_TRUE(schedule) << schedule.error().str();
  return *schedule;
}

TEST(PortableProduct, TheBestIsOneThatWasMeasuredAsGood) {
  // At least 98 % of the best of eight.
  const std::array<std::pair<int64_t, int64_t>, 2> good{{{32, 4}, {64, 3}}};
  schedule::Schedule best = firstOf(portableSpace());
  EXPECT_EQ(best.knob("consumers"), 0);
  EXPECT_EQ(best.knob("tileM") * best.knob("tileN"), 128 * 256) << best.str();
  EXPECT_EQ(best.knob("warpsM") * best.knob("warpsN"), 8) << best.str();
  std::pair<int64_t, int64_t> depth{best.knob("tileK"), best.knob("stages")};
  EXPECT_NE(std::find(good.begin(), good.end(), depth), good.end())
      << best.str();
}

/// Operands that are computed come without a slice ahead: the model of those
/// that do says nothing about them.
TEST(PortableProduct, ComputedOperandsAreModelledByThemselves) {
  for (const char *knobs : {"tileK=32,stages=4", "tileK=64,stages=3"})
    EXPECT_NE(portableSpace().cost(portable(knobs)),
              portableSpace(/*computed=*/true).cost(portable(knobs)));
}

TEST(PortableProduct, CopiesThatAreWaitedForSoonCostTime) {
  schedule::KnobSpace space = portableSpace();
  auto cost = [&](const std::string &knobs) {
    schedule::Schedule schedule = portable(knobs);
    EXPECT_EQ(space.illegal(schedule).value_or(""), "");
    return space.cost(schedule);
  };
  double three = cost("tileK=64,stages=3");
  // 385 and 405 TFLOP/s.
  EXPECT_GT(cost("tileK=128,stages=2"), 1.02 * three);
  EXPECT_LT(cost("tileK=128,stages=2"), 1.1 * three);
  // Half as long a step is half as much time for a copy.
  EXPECT_GT(cost("tileK=64,stages=2"), cost("tileK=128,stages=2"));
  EXPECT_GT(cost("tileK=32,stages=3"), cost("tileK=32,stages=4"));
  // A block begins with the copies of all stages but one: 395 TFLOP/s.
  EXPECT_GT(cost("tileK=64,stages=4"), three);
}

} // namespace
