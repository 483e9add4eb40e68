//===- GpuRowSchedules.h - schedules of row chains on GPUs ------*- C++ -*-===//
//
// What matters on a GPU is how many threads share a row. With about 32 lanes
// each, a row that several passes need stays in registers (passes/kernel/
// RowKeeping), enough loads are under way to fill the memory's pipe, and little
// is left to the folds. Short rows go to parts of a warp, several at a time.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_GPUROWSCHEDULES_H
#define AZULEJO_PASSES_TILING_GPUROWSCHEDULES_H

#include "ir/schedule/Schedule.h"
#include "passes/tiling/RowSpace.h"

namespace azulejo::tiling {

/// What schedules are chosen by.
struct RowFacts {
  int64_t lanes = 0;  ///< of the longest pass over a row; 0: not known
  int64_t rows = 0;   ///< 0: not known
  bool folds = false; ///< something is reduced
};
RowFacts rowFacts(graphir::FusedOp region, const RowSpace &space);

schedule::Schedule defaultGpuRows(const RowFacts &facts,
                                  const target::TargetDesc &target);
schedule::KnobSpace gpuRowSpace(const RowFacts &facts,
                                const target::TargetDesc &target);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_GPUROWSCHEDULES_H
