//===- GpuAttentionRoles.cpp - knobs of attention with warp roles ---------===//
//
// One warp group copies, `consumers` others have 64 queries each. What counts
// is how well one group's softmax runs under another's products: with two or
// more groups a step takes the longer of the two and a part of the shorter,
// with one group it takes both.
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

constexpr int64_t kGroupRows = 64; ///< queries of a warp group
/// Registers of a multiplying thread by the number of groups, and what
/// addresses and row state take of them.
constexpr int64_t kRegisters[] = {0, 255, 232, 160}, kOtherRegisters = 40;
/// Per clock and unit: multiply-adds, and scores through the softmax (the rate
/// of the exponentials).
constexpr double kMatrixRate = 2048, kScoreRate = 16;
constexpr double kOverlap = 0.35; ///< of the shorter part that is not hidden
constexpr double kStepClocks = 150, kBlockClocks = 2500;
constexpr int64_t kTypicalSize = 4096; ///< what an unknown size is taken for

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
  if (tm != kGroupRows * consumers)
    return "a warp group has 64 queries";
  if (s.knob("warpsM") > 1 || s.knob("minBlocks") > 1)
    return "warp groups share the tile by rows";
  if (facts.headSize % 16 || facts.valueSize % 16 || facts.headSize > 256 ||
      facts.valueSize > 256 || facts.valueSize <= 32)
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

double clocks(const Schedule &s, const AttentionFacts &facts,
              const target::TargetDesc &target) {
  double tm = s.knob("tileM"), tn = s.knob("tileN"), keys = kTypicalSize;
  double queries = facts.queries.value_or(kTypicalSize);
  double size = facts.headSize + facts.valueSize;
  // Several heads and sequences keep all units busy.
  double blocks = std::ceil(queries / tm) * 64;
  double math = tm * tn * size / kMatrixRate;
  double softmax =
      tm * tn * static_cast<double>(1 + facts.scoreOperands) / kScoreRate +
      tm * static_cast<double>(facts.valueSize) / 128;
  double shorter = std::min(math, softmax);
  double step = std::max(math, softmax) +
                (s.knob("consumers") > 1 ? kOverlap * shorter : shorter);
  step *= s.knob("stages") > 2 ? 1 : 1.01;
  double waves = std::ceil(blocks / static_cast<double>(target.units));
  // Blocks that stay hide where items begin and end. Whether pairs under a
  // causal mask are worth what the device's own dealing is, the tuner tells.
  double ends = !s.knob("stay") ? kBlockClocks
                : facts.causal  ? kBlockClocks * 1.2
                                : kBlockClocks * 0.3;
  return waves * (std::ceil(keys / tn) * (step + kStepClocks) + ends);
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
                          {"stages", {2, 3, 4}},
                          {"minBlocks", {1}}});
}

} // namespace azulejo::tiling
