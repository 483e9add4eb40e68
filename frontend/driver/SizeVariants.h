//===- SizeVariants.h - a region, divided by its sizes ----------*- C++ -*-===//
//
// A region whose best schedule depends on a symbolic size becomes several, one
// for each range of it: the same ops, under what the size is at most there
// (graph.most) and what it typically is (graph.typical). From there on each is
// a region like any other (ADR 23).
//
//   points       sizes at powers of two, and those that the caller names
//   at each      the family that takes the region there first, its default
//   cuts         where they save most by the family's cost (Partition.h)
//   between      bisection: how far the smaller sizes' schedule is no worse
//
// What the size is, is tried: every dimension of the region, and the product of
// those in the shape of its result.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_SIZEVARIANTS_H
#define AZULEJO_FRONTEND_DRIVER_SIZEVARIANTS_H

#include "frontend/driver/CandidateRunner.h"
#include "frontend/driver/GraphCompiler.h"

#include <set>

namespace azulejo::driver {

struct SizeOptions {
  size_t mostVariants = 1;
  /// Sizes that the caller expects. Each is served by its own best schedule,
  /// even beyond `mostVariants`; where two dimensions have several, all
  /// combinations are.
  std::map<std::string, std::vector<int64_t>> named = {};
  /// Families that have one schedule everywhere.
  std::set<std::string> pinned = {};
};

/// A region for a range of its size.
struct SizedRegion {
  std::string text;
  int64_t min = 0, max = 0;
  std::vector<Sizes> points; ///< looked at, within the range
  bool named = false;        ///< one of them is the caller's
};

struct DividedRegion {
  opset::Dim size{0};
  std::vector<SizedRegion> variants; ///< ascending; empty: one for all sizes
};

/// Divides a region if that pays.
Result<DividedRegion> divideBySize(const std::string &regionText,
                                   const target::TargetDesc &target,
                                   const SizeOptions &options);

/// The options of a request.
SizeOptions sizeOptionsOf(const api::CompileRequest &request);

/// Puts the variants of each region in its place.
Result<RegionTable> divideRegions(const RegionTable &regions,
                                  const target::TargetDesc &target,
                                  const api::CompileRequest &request);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_SIZEVARIANTS_H
