//===- Matmul.cpp - blocked product with prologue and epilogue ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/Families.h"
#include "passes/tiling/MatmulProgram.h"

using namespace mlir;

namespace azulejo::tiling {

namespace {

class Matmul : public ScheduleFamily {
public:
  StringRef name() const override { return "Matmul"; }

  std::optional<std::string> refuses(graphir::FusedOp region) const override {
    return refusesProduct(region);
  }

  schedule::KnobSpace space(graphir::FusedOp region,
                            const target::TargetDesc &target) const override {
    return productSpace(productFacts(region), target);
  }

  schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    return defaultProduct(productFacts(region), target);
  }

  schedule::Schedule
  generalSchedule(graphir::FusedOp region, const schedule::Schedule &,
                  const target::TargetDesc &target) const override {
    return generalProduct(productFacts(region), target);
  }

  Result<RegionKernels> lower(OpBuilder &b, graphir::FusedOp region,
                              const schedule::Schedule &schedule,
                              const target::TargetDesc &target) const override {
    if (std::optional<std::string> reason = refuses(region))
      return makeError(ErrorCode::Unsupported, "kernel Matmul", *reason,
                       "Matmul.region", "compile without fusion (--no-fusion)");
    return soleKernel(productKernel(b, region, schedule, target));
  }
};

} // namespace

const ScheduleFamily &matmulFamily() {
  static const Matmul family;
  return family;
}

} // namespace azulejo::tiling
