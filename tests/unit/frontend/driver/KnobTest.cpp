//===- KnobTest.cpp - what every knob does to a kernel --------------------===//
//
// A knob that changes nothing wastes the tuner's time, and one that changes
// something else than it says misleads it. Each test compiles a region with two
// values of one knob and looks for them in the tile program or in the code.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TestRegions.h"
#include "frontend/driver/KernelCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace azulejo::test {
namespace {

using schedule::Schedule;
using testing::HasSubstr;
using testing::Not;

struct Compiled {
  driver::KernelText text;
  driver::KernelCode code;
};

/// The region with its default schedule on `device`, but for `knobs`.
Compiled compiled(const std::string &region, const std::string &device,
                  const std::map<std::string, int64_t> &knobs) {
  Compiled result;
  Result<target::TargetDesc> target = target::resolveTarget(device);
  EXPECT_TRUE(target) << target.error().str();
  auto schedules = driver::schedulesOf(region, *target);
  EXPECT_TRUE(schedules) << schedules.error().str();
  if (!schedules)
    return result;
  Schedule schedule = schedules->fallback;
  for (auto &[name, value] : knobs)
    schedule.knobs[name] = value;
  // A value outside its table would test nothing that can happen.
  EXPECT_TRUE(Schedule::parse(schedule.str(), target->kind)) << schedule.str();
  auto code = driver::compileKernel(region, schedule, *target, &result.text);
  EXPECT_TRUE(code) << code.error().str();
  if (code)
    result.code = *std::move(code);
  return result;
}

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++found;
  return found;
}

std::string list(const std::vector<int64_t> &values) {
  std::string text = "array<i64: ";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + ">";
}

TEST(Knob, RowTileIsTheRowsOfAnItem) {
  std::string region = rowChainRegion(64);
  for (int64_t rows : {2, 8}) {
    Compiled c = compiled(region, "cpu-avx2", {{"rowTile", rows}});
    EXPECT_EQ(c.code.gridTiles, std::vector<int64_t>{rows});
    EXPECT_THAT(c.text.tiled, HasSubstr("shape = " + list({rows, 64})));
  }
}

TEST(Knob, LaneChunkCutsLongRowsOnly) {
  for (int64_t chunk : {256, 1024}) {
    std::map<std::string, int64_t> knobs{{"rowTile", 4}, {"laneChunk", chunk}};
    Compiled longRow = compiled(rowChainRegion(5000), "cpu-avx2", knobs);
    EXPECT_THAT(longRow.text.tiled, HasSubstr("shape = " + list({4, chunk})));
    EXPECT_THAT(longRow.text.tiled, HasSubstr("scf.for"));
    Compiled shortRow = compiled(rowChainRegion(200), "cpu-avx2", knobs);
    EXPECT_THAT(shortRow.text.tiled, HasSubstr("shape = " + list({4, 200})));
    EXPECT_THAT(shortRow.text.tiled, Not(HasSubstr("scf.for")));
  }
}

TEST(Knob, LaneWidthIsTheWidestVector) {
  for (const std::string &region :
       {rowChainRegion(64), matmulRegion(), attentionRegion()}) {
    Compiled widest = compiled(region, "cpu-avx512", {{"laneWidth", 0}});
    EXPECT_THAT(widest.text.host, HasSubstr("vector<16xf32>"));
    for (int64_t lanes : {4, 8}) {
      Compiled c = compiled(region, "cpu-avx512", {{"laneWidth", lanes}});
      EXPECT_THAT(c.text.host,
                  HasSubstr("vector<" + std::to_string(lanes) + "xf32>"));
      EXPECT_THAT(c.text.host, Not(HasSubstr("vector<16xf32>")));
    }
  }
}

TEST(Knob, StreamStoresBypassTheCache) {
  std::string region = rowChainRegion(64);
  EXPECT_THAT(compiled(region, "cpu-avx2", {{"streamStores", 1}}).text.host,
              HasSubstr("nontemporal"));
  EXPECT_THAT(compiled(region, "cpu-avx2", {{"streamStores", 0}}).text.host,
              Not(HasSubstr("nontemporal")));
}

TEST(Knob, MatmulTilesAreWhatTheyAreCalled) {
  std::string region = matmulRegion(); // K = 96
  for (int64_t m : {32, 64})
    for (int64_t n : {32, 96})
      for (int64_t k : {16, 64}) {
        Compiled c = compiled(region, "cpu-avx2",
                              {{"tileM", m}, {"tileN", n}, {"tileK", k}});
        EXPECT_EQ(c.code.gridTiles, (std::vector<int64_t>{1, m, n}));
        EXPECT_THAT(c.text.tiled, HasSubstr("shape = " + list({m, k})));
        EXPECT_THAT(c.text.tiled, HasSubstr("shape = " + list({k, n})));
      }
}

TEST(Knob, AttentionTilesAreWhatTheyAreCalled) {
  std::string region = attentionRegion();
  for (int64_t m : {16, 64})
    for (int64_t n : {32, 96}) {
      Compiled c = compiled(region, "cpu-avx2", {{"tileM", m}, {"tileN", n}});
      EXPECT_EQ(c.code.gridTiles.back(), m);
      EXPECT_THAT(c.text.tiled, HasSubstr("shape = " + list({m, n})));
    }
}

/// Sums that the innermost product carries: the most results of one loop.
size_t carriedSums(const std::string &host) {
  size_t most = 0;
  std::regex results("%\\w+:(\\d+) = scf\\.for");
  for (std::sregex_iterator it(host.begin(), host.end(), results), end;
       it != end; ++it)
    most = std::max<size_t>(most, std::stoul((*it)[1]));
  return most;
}

TEST(Knob, TheRegisterTileIsRowsTimesVectors) {
  for (const std::string &region : {matmulRegion(), attentionRegion()})
    for (int64_t m : {4, 6})
      for (int64_t n : {1, 2}) {
        Compiled c = compiled(region, "cpu-avx512",
                              {{"registerM", m}, {"registerN", n}});
        EXPECT_EQ(carriedSums(c.text.host), size_t(m * n)) << m << " x " << n;
      }
}

TEST(Knob, PackingTakesScratch) {
  auto scratch = [](const std::string &region, const char *knob, int64_t on) {
    return compiled(region, "cpu-avx2", {{knob, on}}).code.scratchBytes;
  };
  EXPECT_GT(scratch(matmulRegion(), "packLhs", 1),
            scratch(matmulRegion(), "packLhs", 0));
  EXPECT_GT(scratch(attentionRegion(), "packKv", 1),
            scratch(attentionRegion(), "packKv", 0));
}

TEST(Knob, UnrollWritesOutInnerSteps) {
  for (const std::string &region : {rowChainRegion(4000), matmulRegion()}) {
    std::string once = compiled(region, "cpu-avx2", {{"unroll", 1}}).text.host;
    std::string twice = compiled(region, "cpu-avx2", {{"unroll", 2}}).text.host;
    EXPECT_GT(count(twice, "scf.for"), count(once, "scf.for"));
    EXPECT_GT(twice.size(), once.size());
  }
}

TEST(Knob, BlockThreadsAndAccessBytesShapeAGpuKernel) {
  std::string region = rowChainRegion(4096);
  for (int64_t threads : {128, 512}) {
    Compiled c = compiled(region, "h200", {{"blockThreads", threads}});
    EXPECT_EQ(c.code.blockThreads, threads);
  }
  Compiled wide = compiled(region, "h200", {{"accessBytes", 16}});
  Compiled narrow = compiled(region, "h200", {{"accessBytes", 4}});
  EXPECT_THAT(wide.text.assembly, HasSubstr("ld.global"));
  EXPECT_THAT(wide.text.assembly, HasSubstr(".v4"));
  EXPECT_THAT(narrow.text.assembly, Not(HasSubstr(".v4")));
}

TEST(Knob, RowThreadsFoldWithinAPartOfAWarp) {
  std::string region = rowChainRegion(100);
  for (int64_t team : {8, 16, 32}) {
    Compiled c = compiled(region, "h200", {{"rowThreads", team}});
    EXPECT_THAT(c.text.assembly, Not(HasSubstr("bar.sync")));
    EXPECT_EQ(c.code.scratchBytes, 0);
  }
  EXPECT_THAT(compiled(region, "h200", {{"rowThreads", 0}}).text.assembly,
              HasSubstr("bar.sync"));
}

/// A default for each length of row: the lanes of a thread stay few enough to
/// be kept between passes, so a row is read once.
TEST(Knob, DefaultsKeepRowsInRegisters) {
  for (int64_t length : {64, 1000, 1024, 4096, 8192, 16384, 32768}) {
    Compiled c = compiled(rowChainRegion(length), "h200", {});
    std::string kernel = c.text.host;
    EXPECT_EQ(count(kernel, "scf.for"), 2u) << length << kernel;
  }
}

} // namespace
} // namespace azulejo::test
