//===- SplitKernels.h - regions whose work is done in parts -----*- C++ -*-===//
//
// Where a region has too few results to keep a device busy, several work items
// share the work on each of them. The first kernel writes the results of the
// parts, f32, one after the other along a leading axis; the second makes the
// region's outputs of them, in a fixed order, so that the same inputs give the
// same bits. What a part leaves and how parts combine is the family's business
// (CombineSplits.h, SumSplits.h); what is here is how the two kernels meet.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_SPLITKERNELS_H
#define AZULEJO_PASSES_TILING_SPLITKERNELS_H

#include "passes/tiling/ScheduleFamily.h"

namespace azulejo::tiling {

using Partials = llvm::ArrayRef<mlir::RankedTensorType>;

/// Two kernels in a row: the views of `parts` are the region's inputs and the
/// partial results, those of `whole` both of these and the region's outputs.
RegionKernels kernelsInParts(graphir::FusedOp region, tile::KernelOp parts,
                             tile::KernelOp whole, Partials partials);

/// The views of the second kernel after the region's inputs.
llvm::SmallVector<mlir::Type> viewsOfWhole(graphir::FusedOp region,
                                           Partials partials);

constexpr int64_t kWholeLanes = 256;

/// The second kernel's schedule. Its rows have few lanes, or are cut into
/// pieces of `kWholeLanes`; blocks are small, so that there are many of them.
/// `lanes`: of a row, if they are few and known. All parts of an element are
/// written out, so a GPU's thread should have one group of lanes and no loop
/// around them.
schedule::Schedule scheduleOfWhole(graphir::FusedOp region, target::Kind kind,
                                   int64_t lanes = kWholeLanes);
} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_SPLITKERNELS_H
