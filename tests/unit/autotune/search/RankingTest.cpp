//===- RankingTest.cpp - what measurements say about candidates -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/search/Ranking.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace azulejo;
using schedule::Schedule;
using search::Measured;

namespace {

Measured at(double medianNs, double halfWidth, int64_t rowTile = 4) {
  Schedule schedule = Schedule::defaults("RowChain", target::Kind::Cpu);
  schedule.knobs["rowTile"] = rowTile;
  return {schedule, medianNs, medianNs - halfWidth, medianNs + halfWidth};
}

TEST(ChooseBest, FastestWinsWhenItIsClear) {
  EXPECT_EQ(search::chooseBest({at(100, 1), at(90, 1, 8)}), 1u);
}

TEST(ChooseBest, TiesGoToTheSimplerSchedule) {
  EXPECT_EQ(search::chooseBest({at(100, 0.1, 8), at(101.9, 0.1)}), 1u);
  EXPECT_EQ(search::chooseBest({at(100, 2, 8), at(103.5, 2)}), 1u);
  EXPECT_EQ(search::chooseBest({at(100, 0.5, 8), at(103.5, 0.5)}), 0u);
  // Noise must not let a slow one win.
  EXPECT_EQ(search::chooseBest({at(100, 50, 8), at(110, 50)}), 0u);
}

TEST(ChooseBest, OrderDoesNotMatter) {
  std::mt19937 random(7);
  std::vector<Measured> all = {at(100, 1, 8), at(101, 1, 16), at(101.5, 1, 1),
                               at(120, 1), at(103, 3, 2)};
  Schedule first = all[search::chooseBest(all)].schedule;
  for (int i = 0; i < 50; ++i) {
    std::shuffle(all.begin(), all.end(), random);
    EXPECT_EQ(all[search::chooseBest(all)].schedule, first);
  }
}

TEST(Survivors, HalfStayFastestFirst) {
  std::vector<Measured> all;
  for (int i = 0; i < 16; ++i)
    all.push_back(at(200 - 10 * i, 1, 4));
  std::vector<size_t> kept = search::survivors(all, 4);
  ASSERT_EQ(kept.size(), 8u);
  EXPECT_EQ(kept[0], 15u);
  EXPECT_EQ(kept[7], 8u);
  EXPECT_EQ(search::survivors(all, 12).size(), 12u);
  EXPECT_EQ(search::survivors({}, 4).size(), 0u);
}

TEST(Survivors, OverlapKeepsMoreButAlwaysFewer) {
  std::vector<Measured> all;
  for (int i = 0; i < 16; ++i)
    all.push_back(at(100 + i * 0.1, 10, 4));
  EXPECT_EQ(search::survivors(all, 4).size(), 12u);
}

} // namespace
