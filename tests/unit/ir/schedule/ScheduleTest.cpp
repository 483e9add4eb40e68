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

constexpr target::Kind kCpu = target::Kind::Cpu, kGpu = target::Kind::Gpu;

std::vector<std::string> namesOf(std::string_view family, target::Kind kind) {
  std::vector<std::string> names;
  for (const KnobSpec &spec : knobsOf(family, kind))
    names.push_back(spec.name);
  return names;
}

std::vector<std::pair<std::string, target::Kind>> everyTable() {
  std::vector<std::pair<std::string, target::Kind>> all;
  for (const std::string &family : families())
    for (target::Kind kind : {kCpu, kGpu})
      all.emplace_back(family, kind);
  return all;
}

// The names are an interface: tuning records and command lines carry them. A
// renamed or dropped knob must be noticed here.
TEST(KnobTable, NamesEveryKnobOfEveryFamily) {
  EXPECT_THAT(families(), ElementsAre("RowChain", "Matmul", "Attention",
                                      "AttentionDecode", "SmallM"));
  EXPECT_THAT(namesOf("RowChain", kCpu),
              ElementsAre("unroll", "rowTile", "laneChunk", "laneWidth",
                          "streamStores"));
  EXPECT_THAT(namesOf("RowChain", kGpu),
              ElementsAre("rowTile", "laneChunk", "blockThreads", "rowThreads",
                          "accessBytes"));
  EXPECT_THAT(namesOf("Matmul", kCpu),
              ElementsAre("unroll", "tileM", "tileN", "tileK", "registerM",
                          "registerN", "packLhs", "laneWidth"));
  EXPECT_THAT(namesOf("Matmul", kGpu),
              ElementsAre("tileM", "tileN", "tileK", "warpsM", "warpsN",
                          "consumers", "pingpong", "lhsRegisters", "cluster",
                          "dynamic", "stages", "rasterGroup", "minBlocks"));
  EXPECT_THAT(namesOf("Attention", kCpu),
              ElementsAre("unroll", "tileM", "tileN", "registerM", "registerN",
                          "packKv", "laneWidth"));
  EXPECT_THAT(namesOf("Attention", kGpu),
              ElementsAre("tileM", "tileN", "warpsM", "consumers", "stay",
                          "dynamic", "stages", "minBlocks"));
  EXPECT_THAT(namesOf("AttentionDecode", kCpu),
              ElementsAre("unroll", "tileM", "tileN", "splits", "registerM",
                          "registerN", "packKv", "laneWidth"));
  EXPECT_THAT(
      namesOf("AttentionDecode", kGpu),
      ElementsAre("tileM", "tileN", "splits", "warpsM", "stages", "minBlocks"));
  EXPECT_THAT(namesOf("SmallM", kCpu),
              ElementsAre("unroll", "tileM", "tileN", "tileK", "splits",
                          "registerM", "registerN", "packLhs", "laneWidth"));
  EXPECT_THAT(namesOf("SmallM", kGpu),
              ElementsAre("tileM", "tileN", "tileK", "splits", "warpsN",
                          "consumers", "stages", "stageReads", "minBlocks"));
}

TEST(KnobTable, EveryRowIsSound) {
  for (auto [family, kind] : everyTable()) {
    std::set<std::string> names;
    for (const KnobSpec &spec : knobsOf(family, kind)) {
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
  for (target::Kind kind : {kCpu, kGpu}) {
    EXPECT_TRUE(knobsOf("Conv", kind).empty());
    EXPECT_TRUE(knobsOf("", kind).empty());
    EXPECT_TRUE(knobsOf("matmul", kind).empty()) << "names are case-sensitive";
  }
}

TEST(ScheduleText, EveryValueOfEveryKnobRoundTrips) {
  for (auto [family, kind] : everyTable())
    for (const KnobSpec &spec : knobsOf(family, kind))
      for (int64_t value : spec.values) {
        Schedule schedule = Schedule::defaults(family, kind);
        schedule.knobs[spec.name] = value;
        std::string text = schedule.str();
        EXPECT_THAT(text, HasSubstr(spec.name + "=" + std::to_string(value)));
        Result<Schedule> parsed = Schedule::parse(text, kind);
        ASSERT_TRUE(parsed) << parsed.error().str();
        EXPECT_EQ(*parsed, schedule);
        EXPECT_EQ(parsed->str(), text);
      }
}

TEST(ScheduleText, WritesEveryKnobOfItsKindInTheOrderOfTheTable) {
  EXPECT_EQ(Schedule::defaults("Attention", kCpu).str(),
            "Attention{unroll=1,tileM=64,tileN=64,registerM=8,registerN=2,"
            "packKv=0,laneWidth=0}");
  EXPECT_EQ(Schedule::defaults("Attention", kGpu).str(),
            "Attention{tileM=64,tileN=64,warpsM=4,consumers=0,stay=0,dynamic=0,"
            "stages=2,minBlocks=1}");
  EXPECT_EQ(Schedule::defaults("RowChain", kGpu).str(),
            "RowChain{rowTile=4,laneChunk=4096,blockThreads=256,"
            "rowThreads=0,accessBytes=16}");
}

TEST(ScheduleText, AKnobOfTheOtherKindIsRefusedWithTheKnobsOfThisOne) {
  Result<Schedule> warps = Schedule::parse("Matmul{tileM=64,warpsM=2}", kCpu);
  ASSERT_FALSE(warps);
  EXPECT_EQ(warps.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(warps.error().rule, "schedule.kind");
  EXPECT_EQ(warps.error().message, "knob 'warpsM' of Matmul is for GPUs, and "
                                   "the device is a CPU");
  EXPECT_EQ(warps.error().hint, "knobs for CPUs: unroll, tileM, tileN, tileK, "
                                "registerM, registerN, packLhs, laneWidth");
  Result<Schedule> lanes = Schedule::parse("RowChain{laneWidth=8}", kGpu);
  ASSERT_FALSE(lanes);
  EXPECT_EQ(lanes.error().rule, "schedule.kind");
  EXPECT_EQ(lanes.error().hint,
            "knobs for GPUs: rowTile, laneChunk, blockThreads, rowThreads, "
            "accessBytes");
}

TEST(ScheduleText, SchedulesOfTwoKindsAreNotEqual) {
  Schedule cpu = *Schedule::parse("RowChain{}", kCpu),
           gpu = *Schedule::parse("RowChain{}", kGpu);
  EXPECT_FALSE(cpu == gpu);
  EXPECT_NE(cpu.str(), gpu.str());
}

TEST(ScheduleText, KnobsLeftOutTakeTheirDefault) {
  Result<Schedule> parsed = Schedule::parse("Matmul{tileM=64,packLhs=0}", kCpu);
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->knob("tileM"), 64);
  EXPECT_EQ(parsed->knob("packLhs"), 0);
  for (const KnobSpec &spec : knobsOf("Matmul", kCpu))
    if (spec.name != "tileM" && spec.name != "packLhs") {
      EXPECT_EQ(parsed->knob(spec.name), spec.defaultValue) << spec.name;
    }
  // The full text says the same, whatever order the knobs came in.
  Result<Schedule> swapped =
      Schedule::parse("Matmul{packLhs=0,tileM=64}", kCpu);
  ASSERT_TRUE(swapped) << swapped.error().str();
  EXPECT_EQ(swapped->str(), parsed->str());
  Result<Schedule> empty = Schedule::parse("Matmul{}", kCpu);
  ASSERT_TRUE(empty) << empty.error().str();
  EXPECT_EQ(empty->str(), Schedule::defaults("Matmul", kCpu).str());
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
    Result<Schedule> parsed = Schedule::parse(row.text, kCpu);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(parsed.error().rule, "schedule.text");
    EXPECT_EQ(parsed.error().where, "schedule '" + std::string(row.text) + "'");
    EXPECT_THAT(parsed.error().message, HasSubstr(row.message));
  }
}

TEST(ScheduleText, ARefusedValueListsWhatIsAllowed) {
  Result<Schedule> parsed = Schedule::parse("RowChain{accessBytes=3}", kGpu);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().hint, "use one of: 4, 8, 16");
}

TEST(ScheduleText, EveryCutOfAFullTextIsRefusedOrReadsBack) {
  for (auto [family, kind] : everyTable()) {
    std::string text = Schedule::defaults(family, kind).str();
    for (size_t size = 0; size < text.size(); ++size) {
      EXPECT_FALSE(Schedule::parse(text.substr(0, size), kind)) << size;
      Result<Schedule> closed =
          Schedule::parse(text.substr(0, size) + "}", kind);
      if (closed) {
        EXPECT_EQ(closed->str(), text) << size; // defaults fill the rest
      }
    }
  }
}

} // namespace
