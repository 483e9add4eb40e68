//===- RoleRing.h - rings between warps with roles --------------*- C++ -*-===//
//
// Stage s of a ring is used for the n-th time in the phase of parity n mod 2 of
// its barriers. Both sides walk the ring alike and count for themselves.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROLERING_H
#define AZULEJO_PASSES_KERNEL_ROLERING_H

#include "passes/kernel/Fragment.h"

namespace azulejo::gpu {

/// A place in a ring, and the parity of the phase that is used there.
struct RingPosition {
  mlir::Value stage, parity; ///< i32

  RingPosition next(ThreadBuilder &t, int64_t stages) const;
  /// So many (i32) places on.
  RingPosition skip(ThreadBuilder &t, mlir::Value count, int64_t stages) const;
};

/// Barriers with phases that so many arrivals complete.
mlir::Value allocatePhases(ThreadBuilder &t, int64_t count, int64_t arrivals);

/// The parity of the phase before one, which whoever fills a stage waits for: a
/// fresh barrier counts that as complete.
mlir::Value parityBefore(ThreadBuilder &t, mlir::Value parity);

/// The warp's first thread arrives for it, if `condition` holds (null: always).
/// A warp speaks for itself, not for its group.
void arriveForWarp(ThreadBuilder &t, const WarpGrid &grid, mlir::Value phases,
                   mlir::Value index, mlir::Value condition = {});

/// The same in each of a cluster's blocks; one that is alone is its own.
void arriveForWarpInAll(ThreadBuilder &t, const WarpGrid &grid, int64_t blocks,
                        mlir::Value phases, mlir::Value index,
                        mlir::Value condition = {});

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROLERING_H
