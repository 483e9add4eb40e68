//===- BulkOperand.h - a product's operand by bulk copies -------*- C++ -*-===//
//
// A map that only reads a tensor is a box of it. One thread has the box copied
// to a shared tile, a copy per slab, by a tensor map that the host makes:
//
//   the map's lanes   the view's innermost axis   axis 0 of the tensor map
//   the map's rows    one axis of the view, or neighbouring axes that are
//                     walked as one: x / n and x mod n, where n is the extent
//                     of the inner axis
//   other axes        an index that is the same for the whole tile
//
// Elements outside of the tensor come as zeros. A box may also reach beyond the
// map's extent into elements that exist: that is harmless in rows and columns
// of the product, which are dropped, but not in contracted elements.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_BULKOPERAND_H
#define AZULEJO_PASSES_KERNEL_BULKOPERAND_H

#include "passes/kernel/KernelArguments.h"

namespace azulejo::gpu {

/// The read that the body is, if it is nothing else: index arithmetic and one
/// unconditional read of `element`, which is what the map yields.
tile::ReadOp soleRead(tile::MapOp map, mlir::Type element);

/// The axis along which the map reads neighbours, if there is one: the axis of
/// most reads, the last one on a tie.
unsigned chooseLaneAxis(tile::MapOp map);

class BulkOperand {
public:
  /// Fails with a diagnostic on a map that is no box; `contracted` is the axis
  /// of the contracted elements.
  static mlir::FailureOr<BulkOperand>
  create(tile::MapOp map, mlir::Type element, unsigned contracted);

  kernel::BulkMapAttr mapAttr() const;
  /// Allocates the ring at `t`'s position, at the top of the kernel.
  void allocate(ThreadBuilder &t, int64_t stages);
  /// Starts the copies of one tile, for the scalars as they are now.
  void issue(ThreadBuilder &t, const KernelArguments &arguments,
             mlir::Value tensorMap, mlir::Value stage,
             mlir::Value phases) const;

  /// What issue() copies to a stage.
  int64_t stageBytes() const { return type.stageBytes(); }
  mlir::Value tile() const { return ring; }
  mlir::BlockArgument view() const;
  /// The shared tile's rows are the map's second axis.
  bool isTransposed() const { return laneAxis == 0; }
  /// The map of the program that this is.
  tile::MapOp map() const { return source; }

private:
  /// An axis of the tensor map: how many axes of the view it stands for, and
  /// the index along it, a value of the map's body or from outside.
  struct Axis {
    int64_t merged = 1;
    mlir::Value index;
    bool isRow = false;
  };
  mlir::LogicalResult findAxes();
  mlir::LogicalResult checkContracted(unsigned contracted);
  bool isExtent(mlir::Value value, unsigned axis) const;
  bool isOne(unsigned axis) const;
  bool mergeOuter(size_t inner, mlir::Value row, Axis &axis) const;
  mlir::LogicalResult refuse(const llvm::Twine &why) const;

  tile::MapOp source;
  tile::ReadOp read;
  unsigned laneAxis = 1;
  kernel::SharedTileType type;  ///< of one stage
  llvm::SmallVector<Axis> axes; ///< innermost first
  mlir::Value ring;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_BULKOPERAND_H
