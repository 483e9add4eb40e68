//===- RegionTime.cpp - about how long a region takes ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/RegionTime.h"

#include "ir/graph/GraphTypes.h"
#include "passes/tiling/Families.h"
#include "passes/tiling/MatmulProgram.h"
#include "passes/tiling/RegionSizes.h"

using namespace mlir;

namespace azulejo::tiling {

/// What sizes that nobody knows come to, as the models of products take them.
static constexpr double kTypicalSize = 4096;

static double elements(const opset::Shape &shape, graphir::FusedOp region) {
  double known = 1, most = 1;
  bool unknown = false;
  for (const opset::Dim &size : shape) {
    std::optional<int64_t> typical = typicalSize(size, region),
                           largest = largestSize(size, region);
    if (typical)
      known *= static_cast<double>(*typical);
    else if (largest)
      most *= static_cast<double>(*largest);
    else
      most = kTypicalSize;
    unknown |= !typical;
  }
  return known * (unknown ? std::min(most, kTypicalSize) : 1);
}

static double bytesOf(ValueRange values, graphir::FusedOp region) {
  double bytes = 0;
  for (Value value : values) {
    opset::TensorType type =
        graphir::toOpset(cast<RankedTensorType>(value.getType()));
    bytes += elements(type.shape, region) *
             static_cast<double>(dtypeBytes(type.dtype));
  }
  return bytes;
}

/// The space of a product all of whose batch is counted: its rows follow each
/// other.
static schedule::KnobSpace wholeSpace(graphir::FusedOp region,
                                      const target::TargetDesc &target) {
  int count;
  ProductShape shape(productOf(region, count));
  ProductFacts facts = productFacts(region);
  std::optional<int64_t> batch =
      typicalSize(opset::elementCount(shape.batch), region);
  facts.rows =
      batch && facts.rows ? std::optional(*batch * *facts.rows) : std::nullopt;
  return productSpace(facts, target);
}

std::optional<double> estimatedUs(graphir::FusedOp region,
                                  const ScheduleFamily &family,
                                  const target::TargetDesc &target) {
  if (!target.hasWgmma || !target.hasTma)
    return std::nullopt;
  // Every kernel waits for the one before it.
  double us = target.launchUs;
  if (&family == &rowChainFamily())
    return us + (bytesOf(region.getInputs(), region) +
                 bytesOf(region.getOutputs(), region)) /
                    target.memoryGBs / 1e3;
  if (&family != &matmulFamily() && &family != &smallMFamily() &&
      &family != &attentionFamily())
    return std::nullopt;
  schedule::KnobSpace space = &family == &matmulFamily()
                                  ? wholeSpace(region, target)
                                  : family.space(region, target);
  double clocks = space.cost(firstOf(space));
  // The clock that the vendor's rate stands for: a unit with warp groups does
  // 2048 multiply-adds per clock.
  double clocksPerUs =
      target.f16Tflops * 1e6 / (2 * 2048 * static_cast<double>(target.units));
  return us + clocks / clocksPerUs;
}

} // namespace azulejo::tiling
