//===- GpuRowSchedules.h - schedules of row chains on GPUs ------*- C++ -*-===//
//
// What matters on a GPU is how many threads share a row. Where something is
// folded, a row that several passes need should stay on chip (RowKeeping, in
// passes/kernel): a block has one row, and another block's loads are under way
// while it folds. Where nothing is, each thread has one access, and a long row
// belongs to several blocks. Short rows go to parts of a warp, several at a
// time.
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
  int64_t lanes = 0;    ///< of the longest pass over a row; 0: not known
  int64_t rowsRead = 0; ///< inputs that have a row of their own for each
  bool folds = false;   ///< something is reduced
};
RowFacts rowFacts(graphir::FusedOp region, const RowSpace &space);

schedule::Schedule defaultGpuRows(const RowFacts &facts,
                                  const target::TargetDesc &target);
schedule::KnobSpace gpuRowSpace(const RowFacts &facts,
                                const target::TargetDesc &target);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_GPUROWSCHEDULES_H
