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

static constexpr int64_t kLanesPerThread = 32; ///< that a thread should have
static constexpr int64_t kWarp = 32;

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
  opset::Dim rows = opset::elementCount(space.rows);
  facts.rows = typicalSize(rows, region).value_or(0);
  return facts;
}

schedule::Schedule defaultGpuRows(const RowFacts &facts,
                                  const target::TargetDesc &target) {
  auto best = schedule::Schedule::defaults("RowChain", target.kind);
  if (facts.lanes == 0)
    return best;
  if (facts.lanes <= kWarp * kLanesPerThread) {
    int64_t team = facts.lanes <= 64 ? 8 : facts.lanes <= 128 ? 16 : kWarp;
    best.knobs["rowThreads"] = team;
    best.knobs["blockThreads"] = 128;
    best.knobs["rowTile"] = 128 / team;
    return best;
  }
  if (facts.folds)
    best.knobs["blockThreads"] = std::clamp<int64_t>(
        std::bit_ceil<uint64_t>((facts.lanes + kLanesPerThread - 1) /
                                kLanesPerThread),
        64, 1024);
  // Rows of one block run one after the other: few rows need all blocks.
  if (facts.rows && facts.rows < best.knob("rowTile") * 8 * target.units)
    best.knobs["rowTile"] = 1;
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
  space.cost = [lanes](const schedule::Schedule &s) {
    int64_t team = s.knob("rowThreads");
    double cost = 1.0 + 0.3 * std::log2(16.0 / s.knob("accessBytes"));
    if (!team) {
      team = s.knob("blockThreads");
      cost += 0.02 * std::abs(double(s.knob("rowTile")) - 4);
    } else {
      cost += 0.02 * std::abs(std::log2(s.knob("rowTile") * team /
                                        double(s.knob("blockThreads")))) +
              0.02 * std::abs(std::log2(s.knob("blockThreads") / 128.0));
    }
    if (!lanes)
      return cost;
    // Too many lanes do not stay in registers; too few leave threads idle.
    double each = double(lanes) / double(team);
    cost += 0.1 * std::abs(std::log2(each / kLanesPerThread));
    return each > 2 * kLanesPerThread ? cost + 0.4 : cost;
  };
  return space;
}

} // namespace azulejo::tiling
