//===- GpuAttentionRoles.cpp - knobs of attention with warp roles ---------===//
//
// One warp group copies, `consumers` others have 64 queries each. What counts
// is how well one group's softmax runs under another's products: with two or
// more groups a step takes the longer of the two and a part of the shorter,
// with one group it takes both. What comes on top are the ends of items, and
// units that have nothing left to do:
//
//   stay=0   the device deals items out. Under a causal mask the longest come
//            first, those of a strip of heads together: the last strip's begin
//            when all others are dealt out.
//   stay=1   every block has its share from the start, in whole rounds. Under
//            a causal mask a round is a pair of a long and a short item, all
//            pairs of one length (PairedItems.h). A window has no pairs.
//   dynamic=1  blocks stay, and a counter deals items out, the longest first.
//
// Items of one length do not take one time: where the matrix units decide a
// step, units run at what power allows each, and a counter evens that out.
// Where the softmax does they run alike, and handing items over costs more than
// it brings. Both were measured (docs/design/hopper-core.md), as were the zeros
// in front of the run.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/schedule/Strips.h"
#include "passes/tiling/MatrixSchedules.h"

#include <algorithm>
#include <cmath>

namespace azulejo::tiling {

using schedule::KnobSpace;
using schedule::Schedule;

namespace {

constexpr int64_t kGroupRows = 64; ///< queries of a warp group
/// Registers of a multiplying thread by the number of groups, and what
/// addresses and row state take of them.
constexpr int64_t kRegisters[] = {0, 255, 232, 160}, kOtherRegisters = 40;
/// Per clock and unit: multiply-adds, and scores through the softmax (the rate
/// of the exponentials).
constexpr double kMatrixRate = 2048, kScoreRate = 16;
constexpr double kOverlap = 0.35; ///< of the shorter part that is not hidden
/// Of a step; of an item's beginning and end, and the part of those that is not
/// hidden where a block stays.
constexpr double kStepClocks = 150, kBlockClocks = 2500, kExposed = 0.3;
/// What unknown sizes are taken for.
constexpr int64_t kTypicalSize = 4096, kTypicalHeads = 64;
constexpr double kDealt = 1.02;      ///< units do not end at the same time
constexpr double kZeroClocks = 3000; ///< counters are set to 0 in front
/// What a counter makes of the better way to deal items out beforehand.
constexpr double kEvened = 0.975, kHandedOver = 1.02;

int64_t up(int64_t size, int64_t step) {
  return (size + step - 1) / step * step;
}

std::optional<std::string> refusal(const Schedule &s,
                                   const AttentionFacts &facts,
                                   const target::TargetDesc &target) {
  int64_t tm = s.knob("tileM"), tn = s.knob("tileN"),
          consumers = s.knob("consumers");
  if (!facts.plain || facts.elementBytes != 2 || !target.hasWgmma ||
      !target.hasTma)
    return "the target or the operands have no bulk copies";
  if (s.knob("stages") < 2)
    return "steps overlap, which takes two stages";
  if (s.knob("dynamic") > 0 && s.knob("stay") == 0)
    return "a counter deals out items to blocks that stay";
  if (tm != kGroupRows * consumers)
    return "a warp group has 64 queries";
  if (s.knob("warpsM") > 1 || s.knob("minBlocks") > 1)
    return "warp groups share the tile by rows";
  if (facts.headSize % 16 || facts.valueSize % 16 || facts.headSize < 16 ||
      facts.headSize > 256 || facts.valueSize > 256 || facts.valueSize <= 32)
    return "heads have up to 256 elements, in steps of 16, values more than 32";
  if (facts.queries && tm > kGroupRows && tm >= 2 * *facts.queries)
    return "the query tile is more than twice the problem";
  // Output, scores, what is read per score, packed weights.
  int64_t registers = facts.valueSize / 2 + tn / 2 * (1 + facts.scoreOperands) +
                      tn / 4 + kOtherRegisters;
  if (registers > kRegisters[consumers])
    return "a thread needs about " + std::to_string(registers) +
           " registers, it has " + std::to_string(kRegisters[consumers]);
  int64_t head = up(facts.headSize, 64), value = up(facts.valueSize, 64);
  int64_t bytes =
      2 * (tm * head + s.knob("stages") * tn * (head + value)) + 1024;
  if (bytes > target.smemPerBlock)
    return "the tiles need " + std::to_string(bytes) +
           " bytes of shared memory, a block has " +
           std::to_string(target.smemPerBlock);
  return std::nullopt;
}

/// The items of a schedule; lengths in steps over the keys.
struct Items {
  double count = 0, mean = 0, longest = 0;
  double pair = 0; ///< the longest of a long and a short one
  bool uneven = false;

  Items(const Schedule &s, const AttentionFacts &facts) {
    int64_t tm = s.knob("tileM"), tn = s.knob("tileN");
    int64_t queries = facts.queries.value_or(facts.keys.value_or(kTypicalSize)),
            keys = facts.keys.value_or(queries);
    int64_t tiles = (queries + tm - 1) / tm;
    uneven = facts.causal && facts.window <= 0;
    auto steps = [&](int64_t tile) {
      int64_t seen = keys;
      if (facts.causal) // queries end where keys do
        seen = std::clamp<int64_t>((tile + 1) * tm + keys - queries, 0, keys);
      if (facts.causal && facts.window > 0)
        seen = std::min(seen, tm + tn + facts.window);
      return static_cast<double>((seen + tn - 1) / tn);
    };
    // Lengths grow evenly; some tell the others.
    int64_t stride = 1 + tiles / 1024;
    double samples = 0;
    for (int64_t tile = tiles - 1; tile >= 0; tile -= stride) {
      mean += (steps(tile) - mean) / ++samples;
      longest = std::max(longest, steps(tile));
      pair = std::max(pair, steps(tile) + steps(tiles - 1 - tile));
    }
    count = static_cast<double>(tiles) *
            static_cast<double>(facts.heads.value_or(kTypicalHeads));
  }
};

/// Clocks until the last unit is done, for a step's clocks.
double span(const Items &items, double step, bool stay, double units) {
  auto rounds = [&](double count) { return std::ceil(count / units); };
  if (stay) {
    double ends = kBlockClocks * (1 - kExposed),
           exposed = kBlockClocks * kExposed;
    return ends + (items.uneven ? rounds(std::ceil(items.count / 2)) *
                                      (items.pair * step + 2 * exposed)
                                : rounds(items.count) *
                                      (items.longest * step + exposed));
  }
  double longest = items.longest * step + kBlockClocks;
  if (!items.uneven || items.count <= units)
    return rounds(items.count) * longest;
  double all = items.count * (items.mean * step + kBlockClocks) / units;
  double last = all * std::min(1.0, static_cast<double>(schedule::kStripItems) /
                                        items.count);
  return kDealt * (all - last + std::max(longest, last));
}

double clocks(const Schedule &s, const AttentionFacts &facts,
              const target::TargetDesc &target) {
  double tm = s.knob("tileM"), tn = s.knob("tileN");
  double size = facts.headSize + facts.valueSize;
  double math = tm * tn * size / kMatrixRate;
  double softmax =
      tm * tn * static_cast<double>(1 + facts.scoreOperands) / kScoreRate +
      tm * static_cast<double>(facts.valueSize) / 128;
  double shorter = std::min(math, softmax);
  double step = std::max(math, softmax) +
                (s.knob("consumers") > 1 ? kOverlap * shorter : shorter);
  step *= s.knob("stages") > 2 ? 1 : 1.01;
  step += kStepClocks;
  double units = static_cast<double>(target.units);
  Items items(s, facts);
  if (s.knob("dynamic") > 0) {
    double dealt = std::min(span(items, step, /*stay=*/false, units),
                            span(items, step, /*stay=*/true, units));
    bool evens = math > softmax && items.count > units;
    return kZeroClocks + dealt * (evens ? kEvened : kHandedOver);
  }
  return span(items, step, s.knob("stay") > 0, units);
}

} // namespace

void addAttentionRoles(KnobSpace &space, const AttentionFacts &facts,
                       const target::TargetDesc &target) {
  auto illegal = space.illegal;
  auto cost = space.cost;
  space.illegal = [=](const Schedule &s) {
    return s.knob("consumers") > 0 ? refusal(s, facts, target) : illegal(s);
  };
  space.cost = [=](const Schedule &s) {
    return s.knob("consumers") > 0 ? clocks(s, facts, target) : cost(s);
  };
  if (!facts.plain || facts.elementBytes != 2 || !target.hasWgmma ||
      !target.hasTma)
    return;
  space.others.push_back({{"tileM", {64, 128, 192}},
                          {"tileN", {64, 96, 128}},
                          {"warpsM", {1}},
                          {"consumers", {1, 2, 3}},
                          {"stay", {0, 1}},
                          {"dynamic", {0, 1}},
                          {"stages", {2, 3, 4}},
                          {"minBlocks", {1}}});
}

} // namespace azulejo::tiling
