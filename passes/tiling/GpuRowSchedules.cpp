//===- GpuRowSchedules.cpp - schedules of row chains on GPUs --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/GpuRowSchedules.h"

#include "passes/tiling/RegionSizes.h"

#include <bit>
#include <cmath>

using namespace mlir;

namespace azulejo::tiling {

static constexpr int64_t kWarp = 32;
/// Lanes of a thread: of one access of 16 bits each, and most where a block or
/// a warp folds them. Items that share a row have so many threads
/// (docs/design/kernel-dialect.md has the sweep).
static constexpr int64_t kAccessLanes = 8, kFoldedLanes = 64,
                         kFoldedByWarp = 32, kSharingThreads = 128;
/// Most threads of a block whose threads' registers hold more of a row than of
/// anything else. All threads take rows that registers do not hold, or, where
/// several of them are read together, rows of which a thread's share, which is
/// written out, would be long.
static constexpr int64_t kKeepingThreads = 512, kKeptLanes = 56 * 1024,
                         kWrittenLanes = 80 * 1024, kMostThreads = 1024;
/// Rows of other tensors, which are not kept, are on their way while nothing
/// else is done; from how many on that counts, and up to which block.
static constexpr int64_t kFewRows = 2, kWaitingThreads = 256;

RowFacts rowFacts(graphir::FusedOp region, const RowSpace &space) {
  RowFacts facts;
  auto consider = [&](const opset::Dim &lanes) {
    // A row that may be a little longer than it mostly is should still fit.
    std::optional<int64_t> most = largestSize(lanes, region),
                           mostly = typicalSize(lanes, region);
    int64_t here = mostly.value_or(most.value_or(0));
    if (most && *most <= 2 * here)
      here = *most;
    facts.lanes = std::max(facts.lanes, here);
  };
  for (const auto &stage : space.stages)
    for (Operation *reduction : stage) {
      facts.folds = true;
      opset::Shape shape = shapeOf(reduction->getOperand(0));
      opset::Dim lanes(1);
      for (unsigned axis : axesOf(reduction).folded)
        lanes = lanes * shape[axis];
      consider(lanes);
    }
  for (const RowSpace::Output &output : space.outputs) {
    opset::Shape shape = shapeOf(output.value);
    opset::Dim lanes(1);
    for (unsigned axis : output.laneAxes)
      lanes = lanes * shape[axis];
    consider(lanes);
  }
  for (Value input : region.getInputs())
    for (const RowSpace::Output &output : space.outputs)
      if (shapeOf(input) == shapeOf(output.value)) {
        ++facts.rowsRead;
        break;
      }
  return facts;
}

/// The least power of two threads that have at most `each` of the lanes.
static int64_t powerOf2For(int64_t lanes, int64_t each) {
  return static_cast<int64_t>(
      std::bit_ceil<uint64_t>((lanes + each - 1) / each));
}

/// Threads of a block that folds a row of its own.
static int64_t foldingThreads(const RowFacts &facts) {
  bool waits = facts.rowsRead > kFewRows;
  if (facts.lanes > (facts.rowsRead > 1 ? kWrittenLanes : kKeptLanes))
    return kMostThreads;
  // Where the last pass waits for other rows, more threads do, if all of them
  // have as much.
  int64_t more = powerOf2For(facts.lanes, kFoldedLanes / 2);
  if (waits && more <= kWaitingThreads &&
      facts.lanes % (more * kAccessLanes) == 0)
    return std::max<int64_t>(more, 64);
  return std::clamp<int64_t>(powerOf2For(facts.lanes, kFoldedLanes), 64,
                             kKeepingThreads);
}

/// Threads that share a row, if they are at most a warp; else 0. A warp folds
/// without a barrier, so it takes more lanes than it would to load them.
static int64_t teamFor(const RowFacts &facts) {
  int64_t most = facts.folds ? kFoldedByWarp : kAccessLanes;
  if (facts.lanes > kWarp * most)
    return 0;
  return std::clamp<int64_t>(powerOf2For(facts.lanes, kAccessLanes), 8, kWarp);
}

/// Threads of a block in which several teams have a row each.
static int64_t teamsThreads(int64_t team) { return team < kWarp ? 128 : 64; }

schedule::Schedule defaultGpuRows(const RowFacts &facts,
                                  const target::TargetDesc &target) {
  auto best = schedule::Schedule::defaults("RowChain", target.kind);
  if (facts.lanes == 0)
    return best;
  if (int64_t team = teamFor(facts)) {
    int64_t threads = teamsThreads(team);
    best.knobs["rowThreads"] = team;
    best.knobs["blockThreads"] = threads;
    best.knobs["rowTile"] = threads / team;
    return best;
  }
  best.knobs["rowTile"] = 1;
  if (facts.folds) {
    best.knobs["blockThreads"] = foldingThreads(facts);
  } else {
    best.knobs["blockThreads"] = kSharingThreads;
    best.knobs["laneChunk"] = kSharingThreads * kAccessLanes;
  }
  return best;
}

schedule::KnobSpace gpuRowSpace(const RowFacts &facts,
                                const target::TargetDesc &target) {
  schedule::KnobSpace space{"RowChain", target.kind, {}, {}, {}};
  space.values["rowTile"] = {1, 2, 4, 8, 16, 32};
  space.values["blockThreads"] = {64, 128, 256, 512, 1024};
  space.values["rowThreads"] = {0, 8, 16, 32};
  space.values["accessBytes"] = {4, 8, 16};
  space.illegal =
      [](const schedule::Schedule &s) -> std::optional<std::string> {
    int64_t team = s.knob("rowThreads");
    if (team && s.knob("rowTile") * team < s.knob("blockThreads"))
      return "some threads of a block would have no row";
    return std::nullopt;
  };
  int64_t lanes = facts.lanes;
  bool folds = facts.folds;
  if (!folds)
    space.values["laneChunk"] = {256, 1024, 4096, 16384};
  space.cost = [lanes, folds](const schedule::Schedule &s) {
    int64_t team = s.knob("rowThreads"), threads = s.knob("blockThreads");
    double cost = 1.0 + 0.3 * std::log2(16.0 / s.knob("accessBytes"));
    double rounds = s.knob("rowTile"); // one row of each team after the other
    if (team) {
      rounds *= double(team) / double(threads);
      cost += 0.01 * std::abs(std::log2(threads / double(teamsThreads(team))));
    } else {
      team = threads;
    }
    cost += 0.02 * std::log2(rounds);
    if (!lanes)
      return cost;
    // Too many lanes do not stay in registers; too few leave threads idle.
    double each = double(lanes) / double(team), wanted = kAccessLanes;
    if (folds)
      wanted = team <= kWarp ? kFoldedByWarp : kFoldedLanes;
    else
      each = double(std::min(lanes, s.knob("laneChunk"))) / double(team);
    double off = std::log2(each / wanted);
    cost += off < 0 ? -0.1 * off : 0.05 * off;
    return folds && each > kFoldedLanes ? cost + 0.4 : cost;
  };
  return space;
}

} // namespace azulejo::tiling
