//===- Gpu.cpp - the target of a GPU that is there ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/target/TargetDesc.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

namespace azulejo::target {

namespace {
/// "sm_90a" taken apart: code with a suffix runs on exactly its capability.
struct Generation {
  int number = 0; ///< 90 for 9.0
  bool exact = false;
};
} // namespace

static Generation generationOf(const std::string &arch) {
  Generation generation;
  const char *end = arch.data() + arch.size();
  auto [rest, code] = std::from_chars(arch.data() + 3, end, generation.number);
  generation.exact = rest != end;
  return generation;
}

/// How well code for `arch` suits a device: 0 not at all, 1 as PTX, 2 as
/// machine code of its major generation, 3 exactly.
static int fitOf(const std::string &arch, int capability) {
  Generation code = generationOf(arch);
  if (code.number == capability)
    return 3;
  if (code.exact || code.number > capability)
    return 0;
  return code.number / 10 == capability / 10 ? 2 : 1;
}

/// Same silicon: what fixes a row of the table, and a bandwidth near it.
static bool isRow(const TargetDesc &row, const GpuFacts &facts) {
  return row.units == facts.units && row.l2Bytes == facts.l2Bytes &&
         (facts.memoryGBs == 0 ||
          std::fabs(facts.memoryGBs / row.memoryGBs - 1) < 0.08);
}

Result<PresentGpu> targetOf(const GpuFacts &facts) {
  int capability = facts.major * 10 + facts.minor;
  const TargetDesc *best = nullptr;
  int bestFit = 0;
  for (const TargetDesc &row : knownTargets()) {
    if (row.kind != Kind::Gpu)
      continue;
    int fit = fitOf(row.arch, capability);
    // Among equals the newest generation, and of it this very device or else
    // the one with the nearest number of units.
    auto rank = [&](const TargetDesc &desc, int itsFit) {
      return std::tuple(itsFit, generationOf(desc.arch).number,
                        isRow(desc, facts),
                        -std::abs(desc.units - facts.units));
    };
    if (fit > 0 && (!best || rank(row, fit) > rank(*best, bestFit))) {
      best = &row;
      bestFit = fit;
    }
  }
  if (!best)
    return makeError(
        ErrorCode::Unsupported, "device '" + facts.label + "'",
        "its compute capability is " + std::to_string(facts.major) + "." +
            std::to_string(facts.minor) + ", kernels need at least 8.0",
        "target.capability", "use a newer GPU, or the CPU");
  PresentGpu present{*best, bestFit > 1};
  TargetDesc &target = present.target;
  target.label = facts.label;
  if (bestFit == 3 && isRow(*best, facts))
    return present;
  // A model of its own, with the generation's rates per unit.
  target.name = target.arch;
  double share =
      static_cast<double>(facts.units) / static_cast<double>(best->units);
  target.units = facts.units;
  target.f32Tflops *= share;
  target.f16Tflops *= share;
  target.memoryGBs =
      facts.memoryGBs > 0 ? facts.memoryGBs : target.memoryGBs * share;
  target.busGBs = target.memoryGBs;
  target.l2Bytes = facts.l2Bytes;
  if (facts.smemPerBlock > 0)
    target.smemPerBlock = std::min(target.smemPerBlock, facts.smemPerBlock);
  if (facts.registersPerUnit > 0)
    target.registersPerUnit = facts.registersPerUnit;
  return present;
}

} // namespace azulejo::target
