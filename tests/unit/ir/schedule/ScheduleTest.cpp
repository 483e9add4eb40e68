//===- ScheduleTest.cpp - knob tables and the text of a schedule ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/schedule/Schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace azulejo;
using namespace azulejo::schedule;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::vector<std::string> namesOf(std::string_view family) {
  std::vector<std::string> names;
  for (const KnobSpec &spec : knobsOf(family))
    names.push_back(spec.name);
  return names;
}

// The names are an interface: tuning records and command lines carry them. A
// renamed or dropped knob must be noticed here.
TEST(KnobTable, NamesEveryKnobOfEveryFamily) {
  EXPECT_THAT(families(), ElementsAre("RowChain", "Matmul", "Attention",
                                      "AttentionDecode"));
  EXPECT_THAT(namesOf("RowChain"),
              ElementsAre("unroll", "rowTile", "laneChunk", "laneWidth",
                          "blockThreads", "accessBytes", "streamStores"));
  EXPECT_THAT(namesOf("Matmul"),
              ElementsAre("unroll", "tileM", "tileN", "tileK", "registerM",
                          "registerN", "packLhs", "laneWidth", "warpsM",
                          "warpsN", "stages", "rasterGroup", "minBlocks"));
  EXPECT_THAT(namesOf("Attention"),
              ElementsAre("unroll", "tileM", "tileN", "registerM", "registerN",
                          "packKv", "laneWidth", "warpsM", "stages",
                          "minBlocks"));
  EXPECT_THAT(namesOf("AttentionDecode"),
              ElementsAre("unroll", "tileM", "tileN", "splits", "registerM",
                          "registerN", "packKv", "laneWidth", "warpsM",
                          "stages", "minBlocks"));
}

TEST(KnobTable, EveryRowIsSound) {
  for (const std::string &family : families()) {
    std::set<std::string> names;
    for (const KnobSpec &spec : knobsOf(family)) {
      SCOPED_TRACE(family + "." + spec.name);
      EXPECT_TRUE(names.insert(spec.name).second) << "given twice";
      EXPECT_THAT(spec.values, testing::Contains(spec.defaultValue));
      EXPECT_GE(spec.values.size(), 2u) << "one value is no choice";
      std::set<int64_t> values(spec.values.begin(), spec.values.end());
      EXPECT_EQ(values.size(), spec.values.size());
      EXPECT_GE(*values.begin(), 0);
      EXPECT_FALSE(spec.doc.empty());
    }
  }
}

TEST(KnobTable, AnUnknownFamilyHasNoKnobs) {
  EXPECT_TRUE(knobsOf("Conv").empty());
  EXPECT_TRUE(knobsOf("").empty());
  EXPECT_TRUE(knobsOf("matmul").empty()) << "names are case-sensitive";
}

TEST(ScheduleText, EveryValueOfEveryKnobRoundTrips) {
  for (const std::string &family : families())
    for (const KnobSpec &spec : knobsOf(family))
      for (int64_t value : spec.values) {
        Schedule schedule = Schedule::defaults(family);
        schedule.knobs[spec.name] = value;
        std::string text = schedule.str();
        EXPECT_THAT(text, HasSubstr(spec.name + "=" + std::to_string(value)));
        Result<Schedule> parsed = Schedule::parse(text);
        ASSERT_TRUE(parsed) << parsed.error().str();
        EXPECT_EQ(*parsed, schedule);
        EXPECT_EQ(parsed->str(), text);
      }
}

TEST(ScheduleText, WritesEveryKnobInTheOrderOfTheTable) {
  EXPECT_EQ(Schedule::defaults("Attention").str(),
            "Attention{unroll=1,tileM=64,tileN=64,registerM=8,registerN=2,"
            "packKv=0,laneWidth=0,warpsM=4,stages=2,minBlocks=1}");
  EXPECT_EQ(Schedule::defaults("RowChain").str(),
            "RowChain{unroll=1,rowTile=4,laneChunk=4096,laneWidth=0,"
            "blockThreads=256,accessBytes=16,streamStores=0}");
}

TEST(ScheduleText, KnobsLeftOutTakeTheirDefault) {
  Result<Schedule> parsed = Schedule::parse("Matmul{tileM=64,packLhs=0}");
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->knob("tileM"), 64);
  EXPECT_EQ(parsed->knob("packLhs"), 0);
  for (const KnobSpec &spec : knobsOf("Matmul"))
    if (spec.name != "tileM" && spec.name != "packLhs") {
      EXPECT_EQ(parsed->knob(spec.name), spec.defaultValue) << spec.name;
    }
  // The full text says the same, whatever order the knobs came in.
  Result<Schedule> swapped = Schedule::parse("Matmul{packLhs=0,tileM=64}");
  ASSERT_TRUE(swapped) << swapped.error().str();
  EXPECT_EQ(swapped->str(), parsed->str());
  Result<Schedule> empty = Schedule::parse("Matmul{}");
  ASSERT_TRUE(empty) << empty.error().str();
  EXPECT_EQ(empty->str(), Schedule::defaults("Matmul").str());
}

struct BadText {
  const char *text;
  const char *message;
};

TEST(ScheduleText, MalformedTextIsRefusedWithItsReason) {
  const BadText bad[] = {
      {"", "not of the form Family{knob=value,...}"},
      {"Matmul", "not of the form Family{knob=value,...}"},
      {"Matmul{tileM=64", "not of the form Family{knob=value,...}"},
      {"Matmul{tileM=64} ", "not of the form Family{knob=value,...}"},
      {"}", "not of the form Family{knob=value,...}"},
      {"{tileM=64}", "no family is called ''"},
      {"Conv{tileM=64}", "no family is called 'Conv'"},
      {"matmul{}", "no family is called 'matmul'"},
      {"Matmul{tileM}", "'tileM' is not knob=value"},
      {"Matmul{tileM=}", "'tileM=' is not knob=value"},
      {"Matmul{tileM=64x}", "'tileM=64x' is not knob=value"},
      {"Matmul{tileM= 64}", "'tileM= 64' is not knob=value"},
      {"Matmul{tileM=99999999999999999999}", "is not knob=value"},
      {"Matmul{tileM=64,,tileN=64}", "'' is not knob=value"},
      {"Matmul{tileM=64}}", "'tileM=64}' is not knob=value"},
      {"Matmul{rowTile=4}", "Matmul has no knob 'rowTile'"},
      {"Matmul{=64}", "Matmul has no knob ''"},
      {"Matmul{ tileM=64}", "Matmul has no knob ' tileM'"},
      {"Matmul{tileM=65}", "knob 'tileM' cannot be 65"},
      {"Matmul{tileM=-64}", "knob 'tileM' cannot be -64"},
      {"Matmul{tileM=64,tileM=64}", "knob 'tileM' is given twice"},
  };
  for (const BadText &row : bad) {
    SCOPED_TRACE(row.text);
    Result<Schedule> parsed = Schedule::parse(row.text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(parsed.error().rule, "schedule.text");
    EXPECT_EQ(parsed.error().where, "schedule '" + std::string(row.text) + "'");
    EXPECT_THAT(parsed.error().message, HasSubstr(row.message));
  }
}

TEST(ScheduleText, ARefusedValueListsWhatIsAllowed) {
  Result<Schedule> parsed = Schedule::parse("RowChain{accessBytes=3}");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().hint, "use one of: 4, 8, 16");
}

TEST(ScheduleText, EveryCutOfAFullTextIsRefusedOrReadsBack) {
  for (const std::string &family : families()) {
    std::string text = Schedule::defaults(family).str();
    for (size_t size = 0; size < text.size(); ++size) {
      EXPECT_FALSE(Schedule::parse(text.substr(0, size))) << size;
      Result<Schedule> closed = Schedule::parse(text.substr(0, size) + "}");
      if (closed) {
        EXPECT_EQ(closed->str(), text) << size; // defaults fill the rest
      }
    }
  }
}

} // namespace
