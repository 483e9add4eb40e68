//===- BulkOperand.h - a product's operand by bulk copies -------*- C++ -*-===//
//
// A map that only reads a tensor is a box of it (BulkBox). One thread has the
// box copied to a shared tile, a copy per slab.
//
// Elements outside of the tensor come as zeros. A box may also reach beyond the
// map's extent into elements that exist: that is harmless in rows and columns
// of the product, which are dropped, but not in contracted elements.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_BULKOPERAND_H
#define AZULEJO_PASSES_KERNEL_BULKOPERAND_H

#include "passes/kernel/BulkBox.h"

namespace azulejo::gpu {

/// The read that the body is, if it is nothing else: index arithmetic and one
/// unconditional read of `element`, which is what the map yields.
tile::ReadOp soleRead(tile::MapOp map, mlir::Type element);

/// The axis along which the map reads neighbours, if there is one: the axis of
/// most reads, the last one on a tie.
unsigned chooseLaneAxis(tile::MapOp map);

class BulkOperand {
public:
  /// What contracted elements of the tensor behind the map's end may be.
  /// HasNoWeight: their factors are zero, so they must not be NaN or infinite;
  /// they are not if a mask of positions ends the map, other than one that
  /// memory does (lengths). IsCleared: anything; who multiplies asks
  /// mustBeCleared().
  enum Beyond { MustBeZero, HasNoWeight, IsCleared };
  /// Fails with a diagnostic on a map that is no box; `contracted` is the axis
  /// of the contracted elements.
  static mlir::FailureOr<BulkOperand> create(tile::MapOp map,
                                             mlir::Type element,
                                             unsigned contracted,
                                             Beyond beyond = MustBeZero);

  /// From here on the blocks of a cluster copy a share each, to all of them:
  /// the rows of the shared tile, which have to divide among them, or slabs in
  /// turns where rows are contracted elements. False if they do not divide.
  bool shareAmong(int64_t blocks);

  kernel::BulkMapAttr mapAttr() const { return box->mapAttr(); }
  /// Allocates the ring at `t`'s position, at the top of the kernel.
  void allocate(ThreadBuilder &t, int64_t stages);
  /// Starts the copies of one tile, for the scalars as they are now; of one
  /// that is shared, those of the block's share. `rank` is the block's number
  /// in its cluster, null without one.
  void issue(ThreadBuilder &t, const KernelArguments &arguments,
             mlir::Value tensorMap, mlir::Value stage, mlir::Value phases,
             mlir::Value rank = {}) const;

  /// What issue() copies to a stage.
  int64_t stageBytes() const { return type.stageBytes(); }
  mlir::Value tile() const { return ring; }
  mlir::BlockArgument view() const { return box->view(); }
  /// The shared tile's rows are the map's second axis.
  bool isTransposed() const { return laneAxis == 0; }
  /// Contracted elements of the tensor behind the map's end come with the rest
  /// and may be anything: they have to be zeros before they are multiplied.
  bool mustBeCleared() const { return unclear; }
  /// The map of the program that this is.
  tile::MapOp map() const { return source; }

private:
  bool rowsAreContracted() const { return contracted != laneAxis; }
  void issuePart(ThreadBuilder &t, const KernelArguments &arguments,
                 mlir::Value tensorMap, mlir::Value stage, mlir::Value phases,
                 int64_t part) const;

  tile::MapOp source;
  int64_t parts = 1; ///< one for each block of a cluster
  std::optional<BulkBox> box;
  unsigned laneAxis = 1, contracted = 1;
  bool unclear = false;
  kernel::SharedTileType type; ///< of one stage
  mlir::Value ring;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_BULKOPERAND_H
