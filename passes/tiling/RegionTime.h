//===- RegionTime.h - about how long a region takes -------------*- C++ -*-===//
//
// The models that rank a family's schedules, in microseconds, so that fusion
// can compare one kernel with two. They know what tells a good schedule from a
// bad one, not more: worth asking where kernels differ by a large factor, as
// products and attention with and without warp roles do.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_REGIONTIME_H
#define AZULEJO_PASSES_TILING_REGIONTIME_H

#include "passes/tiling/ScheduleFamily.h"

namespace azulejo::tiling {

/// About how many microseconds the region takes under its default schedule.
/// Nullopt where no model counts time: on devices without warp roles, on which
/// an operand that is computed on its way costs little, and for attention of
/// few queries.
std::optional<double> estimatedUs(graphir::FusedOp region,
                                  const ScheduleFamily &family,
                                  const target::TargetDesc &target);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_REGIONTIME_H
