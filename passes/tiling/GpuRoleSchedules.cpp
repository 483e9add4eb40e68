//===- GpuRoleSchedules.cpp - knobs of products with warp roles -----------===//
//
// One warp group copies, `consumers` others multiply, each its own rows of the
// tile or, in turns (`pingpong`), whole tiles; blocks stay and take one item
// after the other, at equal distances or from a counter (`dynamic`).
//
// The model behind `cost` counts clocks of one unit. A step takes the longest
// of what the matrix units need, what shared memory needs to feed them (each
// group reads all of the right operand), and what a stage's copies need: they
// start when the stage is free and have the time of the other stages' steps.
// Where all units multiply at once, power does not let them do so at the full
// clock; where some have no item left the clock recovers in part. An item takes
// its steps and its epilogue, which only groups in turns hide, behind each
// other's steps; a unit takes as many items as the fullest one has.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/MatrixSchedules.h"

#include <algorithm>
#include <cmath>

namespace azulejo::tiling {

using schedule::KnobSpace;
using schedule::Schedule;

namespace {

constexpr int64_t kGroupRows = 64;   ///< of one product of a warp group
constexpr int64_t kSlabColumns = 64; ///< 128 bytes
/// Shared memory of a group's epilogue: two tiles of 64 rows and 128 bytes with
/// their barriers. The general one takes less.
constexpr int64_t kEpilogueBytes = 2 * (64 * 128 + 2 * 8);
constexpr int64_t kBarrierBytes = 16; ///< per stage
constexpr int64_t kEntryBytes = 24;   ///< of a counted item, two per group
/// Registers of a multiplying thread by the number of groups, and what
/// addresses and the epilogue take of them: in turns nothing is asked for
/// ahead, and no address kept.
constexpr int64_t kRegisters[] = {0, 255, 232, 160}, kOtherRegisters = 88,
                  kOtherRegistersInTurns = 40;
/// Those that a thread is launched with, which bound one instruction's.
constexpr int64_t kEntryRegisters[] = {0, 255, 168, 128}, kEntryOthers = 26;
/// Per clock and unit: multiply-adds, bytes of shared memory, bytes from the
/// cache that all units share and from memory.
constexpr double kMatrixRate = 2048, kSharedRate = 128, kCacheRate = 46,
                 kMemoryRate = 18;
/// Instructions of threads per clock, and the part of kMatrixRate that power
/// lets all units have together: 690 TFLOP/s on an H200.
constexpr double kThreadRate = 128, kPoweredRate = 0.69 * kMatrixRate;
/// Blocks that copy an operand together fetch less from the cache, and were no
/// faster for it in sustained runs (docs/design/hopper-core.md).
constexpr double kClusterCost = 1.01;
constexpr double kLoadClocks = 150; ///< from shared memory to registers
constexpr double kStepClocks = 8, kItemClocks = 2000, kLatency = 1000;
/// Items of a product take equally long, so a counter may only gain where units
/// do not run alike. It lost up to 1.5 % in two of three shapes and gained 0.7
/// % in one (docs/design/hopper-core.md): last among its like, for the tuner.
constexpr double kCounted = 1.05;
constexpr int64_t kTypicalSize = 4096; ///< what an unknown size is taken for

int64_t sharedBytes(const Schedule &s, int64_t elementBytes) {
  // Columns may lie in slabs of 128 bytes.
  int64_t slab = 128 / elementBytes;
  int64_t columns = (s.knob("tileN") + slab - 1) / slab * slab;
  int64_t stage = (s.knob("tileM") + columns) * s.knob("tileK");
  return s.knob("stages") * (stage * elementBytes + kBarrierBytes) +
         s.knob("consumers") *
             (kEpilogueBytes + 2 * s.knob("dynamic") * kEntryBytes);
}

/// Groups that share an item by rows.
int64_t groupsOfItem(const Schedule &s) {
  return s.knob("pingpong") ? 1 : s.knob("consumers");
}

/// Blocks of a cluster; families without the knob have none.
int64_t clusterOf(const Schedule &s) {
  return std::max<int64_t>(1, s.knob("cluster"));
}

/// Registers of a thread that hold its part of the left operand: four for 16
/// rows and 16 contracted elements of a warp.
int64_t lhsRegistersOf(const Schedule &s) {
  if (!s.knob("lhsRegisters"))
    return 0;
  return s.knob("tileM") / groupsOfItem(s) / 64 * s.knob("tileK") / 16 * 4;
}

std::optional<std::string> refusal(const Schedule &s, const ProductFacts &facts,
                                   const target::TargetDesc &target) {
  int64_t tm = s.knob("tileM"), tn = s.knob("tileN"),
          consumers = s.knob("consumers");
  if (!facts.plain || !target.hasWgmma || !target.hasTma)
    return "the target or the operands have no bulk copies";
  if (s.knob("warpsM") > 1 || s.knob("warpsN") > 1 || s.knob("minBlocks") > 1 ||
      s.knob("splits") > 1)
    return "warp groups share the tile by rows";
  if (s.knob("stages") < 2) // a step is released when the next one has begun
    return "steps overlap, which takes two stages";
  if (s.knob("pingpong") && consumers < 2)
    return "one warp group has nobody to take turns with";
  int64_t cluster = clusterOf(s);
  if (cluster > 1 && s.knob("dynamic") > 0)
    return "a counter deals items out to blocks, not to clusters";
  if (cluster > 1 && facts.rows && *facts.rows <= tm * (cluster - 1))
    return "a cluster has more blocks than there are tiles of rows";
  if (facts.rows && *facts.rows % tm == 0 && *facts.rows / tm % cluster)
    return "whole tiles of rows are no whole clusters";
  if (tn < kSlabColumns)
    return "columns of bulk copies come in slabs of 128 bytes";
  int64_t groups = groupsOfItem(s);
  if (tm % (kGroupRows * groups))
    return "the tile does not divide among the warp groups";
  int64_t sums = tm / groups * tn / 128;
  int64_t needed =
      sums + lhsRegistersOf(s) +
      (s.knob("pingpong") ? kOtherRegistersInTurns : kOtherRegisters);
  if (needed > kRegisters[consumers])
    return "a thread needs about " + std::to_string(needed) +
           " registers, it has " + std::to_string(kRegisters[consumers]);
  if (tn / 2 + kEntryOthers > kEntryRegisters[consumers])
    return "one product has " + std::to_string(tn / 2) +
           " sums, a thread begins with " +
           std::to_string(kEntryRegisters[consumers]) + " registers";
  if (int64_t bytes = sharedBytes(s, facts.elementBytes);
      bytes > target.smemPerBlock)
    return "the tiles need " + std::to_string(bytes) +
           " bytes of shared memory, a block has " +
           std::to_string(target.smemPerBlock);
  auto wasteful = [](int64_t tile, std::optional<int64_t> size, int64_t least) {
    return size && tile > least && tile >= 2 * std::max(*size, least);
  };
  if (wasteful(tm, facts.rows, 64) || wasteful(tn, facts.columns, 64) ||
      wasteful(s.knob("tileK"), facts.depth, 64))
    return "a tile is more than twice the problem";
  return std::nullopt;
}

/// What blocks that run together fetch from memory, as far as the order of
/// items decides it.
double fetchedTogether(const Schedule &s, double rows, double columns,
                       double rowBytes, double units) {
  double tm = s.knob("tileM"), tn = s.knob("tileN");
  double items = std::ceil(rows / tm) * std::ceil(columns / tn);
  double group = std::max<double>(1, s.knob("rasterGroup"));
  double across = std::max(
      1.0, std::min(std::ceil(columns / tn), std::ceil(units / group)));
  double down = std::ceil(std::min(items, units) / across);
  return (down * tm + across * tn) * rowBytes;
}

double clocks(const Schedule &s, const ProductFacts &facts,
              const target::TargetDesc &target) {
  double tm = s.knob("tileM"), tn = s.knob("tileN"), tk = s.knob("tileK");
  double rows = facts.rows.value_or(kTypicalSize),
         columns = facts.columns.value_or(kTypicalSize),
         depth = facts.depth.value_or(kTypicalSize);
  auto cluster = static_cast<double>(clusterOf(s));
  double items =
      std::ceil(rows / tm / cluster) * cluster * std::ceil(columns / tn);
  double math = tm * tn * tk / kMatrixRate;
  double bytes = static_cast<double>(facts.elementBytes);
  // Each product of 64 rows reads its rows and all columns.
  double feed =
      (tm / kGroupRows) * (kGroupRows + tn) * tk * bytes / kSharedRate;
  double fetch = (tm + tn) * tk * bytes / kCacheRate;
  double ahead = s.knob("stages") - 1;
  double step =
      std::max({math, feed, fetch, (kLatency + fetch) / ahead}) + kStepClocks;
  // Between two steps of a group that loads its operand only other groups
  // multiply.
  if (s.knob("lhsRegisters"))
    step += kLoadClocks / (s.knob("pingpong") ? 1 : s.knob("consumers"));
  double steps = std::ceil(depth / tk), powered = tm * tn * tk / kPoweredRate;
  double epilogue =
      kItemClocks +
      tm * tn *
          (4 / kSharedRate +
           static_cast<double>(facts.epilogueInstructions) / kThreadRate);
  bool inTurns = s.knob("pingpong");
  double consumers = s.knob("consumers");
  // Items of which this part of all units has one.
  auto itemClocks = [&](double part) {
    // What is read from shared memory costs power, and with it clocks. The
    // longer ring bridges the more of what no model knows.
    double multiplies =
        steps * (std::max(step, std::sqrt(part) * powered) + 0.03 * feed) *
        (1 + 0.03 / ahead);
    if (!inTurns)
      return multiplies + epilogue;
    return std::max(multiplies, (multiplies + epilogue) / consumers);
  };
  double units = static_cast<double>(target.units);
  double rounds = std::floor(items / units), part = items / units - rounds;
  double busy = rounds * itemClocks(1) + (part > 0 ? itemClocks(part) : 0) +
                (inTurns ? epilogue : 0); // the last one
  double together = fetchedTogether(s, rows, columns, depth * bytes, units);
  // What all of it takes at the least.
  double least = (rows + columns) * depth * bytes + rows * columns * bytes;
  double all =
      std::max(busy, kLatency + least / (units * kMemoryRate)) +
      0.02 * std::ceil(items / units) * together / (units * kMemoryRate);
  return all * (cluster > 1 ? kClusterCost : 1) *
         (s.knob("dynamic") > 0 ? kCounted : 1);
}

} // namespace

void addRoleSchedules(KnobSpace &space, const KnobSpace::Values &values,
                      const ProductFacts &facts,
                      const target::TargetDesc &target) {
  auto illegal = space.illegal;
  auto cost = space.cost;
  space.illegal = [=](const Schedule &s) {
    return s.knob("consumers") > 0 ? refusal(s, facts, target) : illegal(s);
  };
  space.cost = [=](const Schedule &s) {
    return s.knob("consumers") > 0 ? clocks(s, facts, target) : cost(s);
  };
  if (!facts.plain || !target.hasWgmma || !target.hasTma ||
      facts.elementBytes != 2)
    return;
  space.others.push_back(values);
}

} // namespace azulejo::tiling
