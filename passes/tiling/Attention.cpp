//===- Attention.cpp - exact attention without an N x N buffer ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/AttentionProgram.h"
#include "passes/tiling/Families.h"

using namespace mlir;

namespace azulejo::tiling {

namespace {

class Attention : public ScheduleFamily {
public:
  StringRef name() const override { return "Attention"; }

  std::optional<std::string> refuses(graphir::FusedOp region) const override {
    return refusesAttention(region);
  }

  schedule::KnobSpace space(graphir::FusedOp region,
                            const target::TargetDesc &target) const override {
    return attentionSpace(attentionFacts(region), target);
  }

  schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    return defaultAttention(attentionFacts(region), target);
  }

  schedule::Schedule
  generalSchedule(graphir::FusedOp region, const schedule::Schedule &,
                  const target::TargetDesc &target) const override {
    return generalAttention(attentionFacts(region), target);
  }

  Result<RegionKernels> lower(OpBuilder &b, graphir::FusedOp region,
                              const schedule::Schedule &schedule,
                              const target::TargetDesc &target) const override {
    if (std::optional<std::string> reason = refuses(region))
      return makeError(ErrorCode::Unsupported, "kernel Attention", *reason,
                       "Attention.region",
                       "compile without fusion (--no-fusion)");
    return soleKernel(
        attentionKernel(b, region, schedule, target, /*packed=*/false));
  }
};

} // namespace

const ScheduleFamily &attentionFamily() {
  static const Attention family;
  return family;
}

} // namespace azulejo::tiling
