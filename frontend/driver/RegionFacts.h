//===- RegionFacts.h - what tuning needs to know of a region ----*- C++ -*-===//
//
// A region is tuned at one size of its symbolic dimensions: the one that the
// caller expects, else the geometric middle of each range, as a power of two;
// made smaller until one run is short and its tensors fit. These sizes are also
// the shape bucket of the record's key.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_REGIONFACTS_H
#define AZULEJO_FRONTEND_DRIVER_REGIONFACTS_H

#include "frontend/driver/CandidateRunner.h"
#include "frontend/driver/GraphCompiler.h"

namespace azulejo::driver {

struct RegionFacts {
  graph::Graph graph; ///< what the region computes
  opset::Dim flops{0}, bytes{0};
  double matrixShare = 0; ///< as in Traffic.h
  /// The text without typical sizes and bounds: what a region and its variants
  /// have in common.
  std::string key;
  Sizes tuned; ///< the sizes that are timed
  /// Small, ragged sizes at which the float64 oracle is affordable. Empty when
  /// the region's sizes are fixed and too large for it.
  std::vector<Sizes> small;

  double flopsAt(const Sizes &sizes) const;
  double bytesAt(const Sizes &sizes) const;
  /// The sizes to time for runs that typically have these.
  Sizes sizesToTune(const Sizes &typical,
                    const target::TargetDesc &target) const;
  /// "B=8,S=128", or "fixed".
  std::string bucket() const;
  /// "f16,f16->f32"
  std::string dtypes() const;
};

Result<RegionFacts> factsOf(std::string_view regionText,
                            const target::TargetDesc &target);

/// A plan of one launch that runs the region by this code.
Result<plan::Plan> regionPlan(std::string_view regionText,
                              const graph::Graph &regionGraph,
                              const KernelCode &code,
                              const target::TargetDesc &target);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_REGIONFACTS_H
