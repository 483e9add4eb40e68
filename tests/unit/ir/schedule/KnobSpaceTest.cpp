//===- KnobSpaceTest.cpp - the legal schedules of a region ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/schedule/Schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace azulejo;
using namespace azulejo::schedule;

namespace {

/// Products whose left and right tile fit 128 KiB, largest tile first.
KnobSpace products() {
  KnobSpace space;
  space.family = "Matmul";
  space.values["tileM"] = {32, 64, 128};
  space.values["tileN"] = {64, 128};
  space.values["tileK"] = {64, 256};
  space.illegal = [](const Schedule &s) -> std::optional<std::string> {
    int64_t floats = (s.knob("tileM") + s.knob("tileN")) * s.knob("tileK");
    if (floats * 4 <= 128 << 10)
      return std::nullopt;
    return "the tiles do not fit";
  };
  space.cost = [](const Schedule &s) {
    return -double(s.knob("tileM") * s.knob("tileN"));
  };
  return space;
}

std::vector<std::string> texts(const std::vector<Schedule> &schedules) {
  std::vector<std::string> all;
  for (const Schedule &schedule : schedules)
    all.push_back(schedule.str());
  return all;
}

TEST(KnobSpace, GivesEveryLegalCombinationOnce) {
  std::vector<Schedule> all = products().enumerate(1000);
  // With tileK = 64 all six fit; with 256 only 32+64 and 64+64 do.
  EXPECT_EQ(all.size(), 8u);
  std::vector<std::string> names = texts(all);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 8u);
  for (const Schedule &schedule : all) {
    EXPECT_FALSE(products().illegal(schedule)) << schedule.str();
    auto parsed = Schedule::parse(schedule.str(), schedule.kind);
    ASSERT_TRUE(parsed) << parsed.error().str();
    EXPECT_EQ(*parsed, schedule);
  }
}

TEST(KnobSpace, KnobsThatAreAbsentStayAtTheirDefault) {
  for (const Schedule &schedule : products().enumerate(1000)) {
    EXPECT_EQ(schedule.knobs.size(),
              knobsOf("Matmul", target::Kind::Cpu).size());
    EXPECT_EQ(schedule.knob("registerM"), 8);
    EXPECT_EQ(schedule.knob("packLhs"), 1);
  }
}

TEST(KnobSpace, TheBestGuessComesFirstAndTiesHaveAnOrder) {
  KnobSpace space = products();
  std::vector<Schedule> all = space.enumerate(1000);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].knob("tileM") * all[0].knob("tileN"), 128 * 128);
  for (size_t i = 1; i < all.size(); ++i) {
    double before = space.cost(all[i - 1]), here = space.cost(all[i]);
    EXPECT_TRUE(before < here ||
                (before == here && all[i - 1].knobs < all[i].knobs))
        << all[i - 1].str() << " before " << all[i].str();
  }
}

TEST(KnobSpace, TheOrderDoesNotDependOnTheOrderOfTheValues) {
  KnobSpace reversed = products();
  for (auto &[name, values] : reversed.values)
    std::reverse(values.begin(), values.end());
  EXPECT_EQ(texts(reversed.enumerate(1000)), texts(products().enumerate(1000)));
  EXPECT_EQ(texts(products().enumerate(1000)),
            texts(products().enumerate(1000)));
}

TEST(KnobSpace, ALimitKeepsTheBest) {
  std::vector<std::string> all = texts(products().enumerate(1000));
  for (size_t limit : {0u, 1u, 3u, 8u}) {
    std::vector<std::string> few = texts(products().enumerate(limit));
    ASSERT_EQ(few.size(), limit);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  }
}

TEST(KnobSpace, WithoutRulesEveryCombinationIsLegal) {
  for (const std::string &family : families())
    for (target::Kind kind : {target::Kind::Cpu, target::Kind::Gpu}) {
      KnobSpace space;
      space.family = family;
      space.kind = kind;
      EXPECT_EQ(
          texts(space.enumerate(10)),
          std::vector<std::string>{Schedule::defaults(family, kind).str()});
      for (const KnobSpec &spec : knobsOf(family, kind)) {
        KnobSpace one = space;
        one.values[spec.name] = spec.values;
        std::vector<Schedule> all = one.enumerate(100);
        ASSERT_EQ(all.size(), spec.values.size()) << spec.name;
        std::set<int64_t> seen;
        for (const Schedule &schedule : all)
          seen.insert(schedule.knob(spec.name));
        EXPECT_EQ(seen,
                  std::set<int64_t>(spec.values.begin(), spec.values.end()));
      }
    }
}

TEST(KnobSpace, NothingLegalGivesNothing) {
  KnobSpace space = products();
  space.illegal = [](const Schedule &) { return std::optional("never"); };
  EXPECT_TRUE(space.enumerate(10).empty());
}

} // namespace
