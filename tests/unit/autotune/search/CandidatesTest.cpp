//===- CandidatesTest.cpp - which schedules are worth measuring -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/search/Candidates.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace azulejo;
using schedule::KnobSpace;
using schedule::Schedule;

namespace {

/// Every knob with its default and its greatest value: all values of all knobs
/// would be millions of schedules, which no family asks for.
KnobSpace everyKnob(const std::string &family,
                    target::Kind kind = target::Kind::Gpu) {
  KnobSpace space;
  space.family = family;
  space.kind = kind;
  for (const schedule::KnobSpec &spec : schedule::knobsOf(family, kind))
    space.values[spec.name] =
        spec.values.back() == spec.defaultValue
            ? std::vector<int64_t>{spec.defaultValue, spec.values.front()}
            : std::vector<int64_t>{spec.defaultValue, spec.values.back()};
  return space;
}

TEST(PickCandidates, DefaultComesFirstAndNothingTwice) {
  for (const std::string &family : schedule::families())
    for (target::Kind kind : {target::Kind::Cpu, target::Kind::Gpu}) {
      KnobSpace space = everyKnob(family, kind);
      space.cost = [](const Schedule &s) {
        double cost = 0;
        for (const auto &[name, value] : s.knobs)
          cost += std::log2(static_cast<double>(value) + 1);
        return cost;
      };
      Schedule fallback = Schedule::defaults(family, kind);
      std::vector<Schedule> picked =
          search::pickCandidates(space, fallback, 48);
      // Few knobs make few schedules: all of them, then.
      size_t count = std::min<size_t>(48, space.enumerate(1000).size());
      ASSERT_GE(count, 16u) << family;
      ASSERT_EQ(picked.size(), count) << family;
      EXPECT_EQ(picked[0], fallback);
      std::set<std::string> texts;
      for (const Schedule &schedule : picked)
        texts.insert(schedule.str());
      EXPECT_EQ(texts.size(), count);
      // A cost that favours small values must not keep the large ones out.
      EXPECT_GE(search::varyingKnobs(picked).size(), 3u) << family;
      EXPECT_EQ(search::pickCandidates(space, fallback, 48), picked);
    }
}

TEST(PickCandidates, HoldsTheBestGuesses) {
  KnobSpace space = everyKnob("RowChain", target::Kind::Cpu);
  space.cost = [](const Schedule &s) {
    return std::fabs(static_cast<double>(s.knob("rowTile")) - 16);
  };
  std::vector<Schedule> ranked = space.enumerate(5);
  std::vector<Schedule> picked = search::pickCandidates(
      space, Schedule::defaults("RowChain", target::Kind::Cpu), 24);
  for (const Schedule &schedule : ranked)
    EXPECT_TRUE(std::find(picked.begin(), picked.end(), schedule) !=
                picked.end());
}

TEST(PickCandidates, SmallSpacesAreTakenWhole) {
  KnobSpace space;
  space.family = "RowChain";
  space.values["rowTile"] = {1, 2, 4, 8};
  space.illegal = [](const Schedule &s) -> std::optional<std::string> {
    if (s.knob("rowTile") == 2)
      return "two is not legal here";
    return std::nullopt;
  };
  Schedule fallback = Schedule::defaults("RowChain", target::Kind::Cpu);
  EXPECT_EQ(search::pickCandidates(space, fallback, 48).size(), 3u);
  EXPECT_EQ(search::pickCandidates(space, fallback, 1),
            std::vector<Schedule>{fallback});
  EXPECT_TRUE(search::pickCandidates(space, fallback, 0).empty());
}

TEST(Neighbours, OneStepOfOneKnob) {
  KnobSpace space;
  space.family = "RowChain";
  space.values["rowTile"] = {1, 2, 4, 8, 16};
  space.values["unroll"] = {1, 2, 4};
  Schedule center =
      Schedule::defaults("RowChain", target::Kind::Cpu); // rowTile 4, unroll 1
  std::vector<Schedule> near =
      search::neighbours(space, center, {center.str()}, 10);
  ASSERT_EQ(near.size(), 3u);
  std::set<std::pair<int64_t, int64_t>> values;
  for (const Schedule &schedule : near)
    values.insert({schedule.knob("rowTile"), schedule.knob("unroll")});
  EXPECT_EQ(values,
            (std::set<std::pair<int64_t, int64_t>>{{2, 1}, {8, 1}, {4, 2}}));
  EXPECT_EQ(search::neighbours(space, center, {near[0].str()}, 10).size(), 2u);
  EXPECT_EQ(search::neighbours(space, center, {}, 1).size(), 1u);
}

TEST(IsSimpler, FewerKnobsThenTableOrder) {
  Schedule plain = Schedule::defaults("RowChain", target::Kind::Cpu),
           one = plain, other = plain, two = plain;
  one.knobs["rowTile"] = 1;
  other.knobs["rowTile"] = 8;
  two.knobs["rowTile"] = 1;
  two.knobs["unroll"] = 2;
  EXPECT_EQ(search::complexity(two), 2);
  EXPECT_TRUE(search::isSimpler(plain, one));
  EXPECT_TRUE(search::isSimpler(one, two));
  EXPECT_TRUE(search::isSimpler(one, other));
  EXPECT_FALSE(search::isSimpler(other, one));
  EXPECT_FALSE(search::isSimpler(one, one));
}

} // namespace
