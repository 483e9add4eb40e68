//===- DisturbanceTest.cpp - was the machine ours? ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/Disturbance.h"

#include <gtest/gtest.h>

using namespace azulejo;
using measure::Disturbance;

namespace {

TEST(Disturbance, Thresholds) {
  EXPECT_FALSE((Disturbance{0, 0, 100, 105, 1}).isDisturbed());
  EXPECT_TRUE((Disturbance{0, 0, 100, 120, 1}).isDisturbed());
  EXPECT_TRUE((Disturbance{50, 0, 100, 100, 1}).isDisturbed());
  EXPECT_FALSE((Disturbance{3, 1, 100, 100, 0.01}).isDisturbed());
  EXPECT_TRUE((Disturbance{0, 10, 100, 100, 1}).isDisturbed());
  EXPECT_NE((Disturbance{35, 2, 100, 112, 1}).str().find("35 involuntary"),
            std::string::npos);
}

TEST(Disturbance, AClockThatGoesDownBetweenTwoShows) {
  Disturbance fast{0, 0, 100, 101, 0.5}, slow{0, 0, 130, 131, 0.5};
  EXPECT_FALSE(fast.isDisturbed());
  EXPECT_FALSE(slow.isDisturbed());
  fast.merge(slow);
  EXPECT_TRUE(fast.isDisturbed());
  EXPECT_EQ(fast.seconds, 1);
  Disturbance nothing;
  nothing.merge(slow);
  EXPECT_DOUBLE_EQ(nothing.slowdown(), 131.0 / 130.0);
}

TEST(DisturbanceProbe, Watches) {
  measure::DisturbanceProbe probe;
  probe.calibrate();
  Disturbance seen = probe.read();
  EXPECT_GT(seen.seconds, 0);
  EXPECT_GT(seen.fastestNs, 1000);
  EXPECT_GE(seen.slowdown(), 1);
  EXPECT_GE(seen.involuntarySwitches, 0);
}

} // namespace
