//===- TrialData.h - inputs and references of a region ----------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_TRIALDATA_H
#define AZULEJO_FRONTEND_DRIVER_TRIALDATA_H

#include "frontend/driver/RegionFacts.h"
#include "ir/reference/HostTensor.h"

namespace azulejo::driver {

/// Random inputs: floats around one (positive where a root or a logarithm
/// needs it), indices and lengths that fit what they index.
Result<std::vector<reference::HostTensor>>
randomInputs(const graph::Graph &graph, const Sizes &sizes, uint64_t seed);

/// Integers on which a region is exact (ir/reference/ExactInputs.h).
struct ExactData {
  std::vector<reference::HostTensor> inputs; ///< empty: there are none
  std::string whyNot;                        ///< then
  uint64_t seed = 0;                         ///< they were drawn with
};

/// `favoured`: the input that gets the largest of them.
Result<ExactData> exactInputs(const graph::Graph &graph, const Sizes &sizes,
                              uint64_t seed, size_t favoured);

/// How far two evaluations of a region may lie apart, relative to the size of
/// their values: as a whole, and (16 times this) at one element.
double unfusedTolerance(DType narrowest, double depth);

/// Is `actual` the same result as `expected` up to the rounding of two
/// different orders of summation? `depth` is how many values an element sums
/// up at most. Says what is wrong, or nothing. It is far wider than the rules
/// of ir/reference/Check.h: it finds wrong tiles at full size, where the oracle
/// is too slow, not inaccuracy.
std::optional<std::string> disagreement(const reference::HostTensor &actual,
                                        const reference::HostTensor &expected,
                                        DType narrowest, double depth);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TRIALDATA_H
