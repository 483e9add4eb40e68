//===- ScheduleFamily.h - how a kind of region becomes kernels --*- C++ -*-===//
//
// A schedule family knows one shape of computation. It says whether it can run
// a region, which knobs make sense for it on a target, a default that always
// works, and how region + schedule become a tile program. New kernels are new
// families or new knobs, never new pipelines.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_SCHEDULEFAMILY_H
#define AZULEJO_PASSES_TILING_SCHEDULEFAMILY_H

#include "ir/graph/GraphOps.h"
#include "ir/schedule/Schedule.h"
#include "ir/tile/Tile.h"

namespace azulejo::tiling {

/// What a region becomes: kernels that run one after the other.
struct RegionKernels {
  struct Kernel {
    tile::KernelOp op;
    /// Which tensor each of its views is: the region's inputs, then its
    /// outputs, then the intermediates.
    llvm::SmallVector<int64_t> tensors;
  };
  llvm::SmallVector<Kernel> kernels;
  /// What a kernel leaves for a later one.
  llvm::SmallVector<mlir::RankedTensorType> intermediates;
};

/// A region that one kernel runs, whose views are its inputs and outputs.
Result<RegionKernels> soleKernel(Result<tile::KernelOp> kernel);

class ScheduleFamily {
public:
  virtual ~ScheduleFamily() = default;
  virtual llvm::StringRef name() const = 0;

  /// Why this family cannot run the region as one kernel; nullopt if it can.
  /// The reason is a clause for people ("its two reductions have other rows").
  virtual std::optional<std::string> refuses(graphir::FusedOp region) const = 0;

  /// The knobs worth trying for the region on a target.
  virtual schedule::KnobSpace space(graphir::FusedOp region,
                                    const target::TargetDesc &target) const = 0;

  /// A schedule that works for every region that is not refused.
  virtual schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const = 0;

  /// The schedule of the form that assumes no alignment (ADR 16), which runs
  /// beside the form of `beside`: with room for what that costs, and with the
  /// same intermediates.
  virtual schedule::Schedule
  generalSchedule(graphir::FusedOp region, const schedule::Schedule &beside,
                  const target::TargetDesc &target) const {
    (void)beside;
    return defaultSchedule(region, target);
  }

  /// Adds the kernels at `b`'s position. The region's normalisations have been
  /// decomposed into reductions.
  virtual Result<RegionKernels>
  lower(mlir::OpBuilder &b, graphir::FusedOp region,
        const schedule::Schedule &schedule,
        const target::TargetDesc &target) const = 0;
};

/// All families, in the order in which fusion asks them.
llvm::ArrayRef<const ScheduleFamily *> allFamilies();
const ScheduleFamily *findFamily(llvm::StringRef name);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_SCHEDULEFAMILY_H
