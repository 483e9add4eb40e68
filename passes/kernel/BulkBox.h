//===- BulkBox.h - an access that is a box of a tensor ----------*- C++ -*-===//
//
// A map whose body reads or writes one element of a tensor per point touches a
// box of it, if its indices are those of the map:
//
//   the map's lanes   the view's innermost axis   axis 0 of the tensor map
//                     from some element on that is the same for all points
//                     (a head within a row of several), or neighbouring axes
//                     that are walked as one
//   the map's rows    one axis of the view, or neighbouring axes that are
//                     walked as one: x / n and x mod n, where n is the extent
//   the same for all  an axis of the tensor map of its own, one element thick
//
// A box is what one bulk copy moves, by a tensor map that the host makes.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_BULKBOX_H
#define AZULEJO_PASSES_KERNEL_BULKBOX_H

#include "ir/opset/Type.h"
#include "passes/kernel/KernelArguments.h"

namespace azulejo::gpu {

/// One access of a map's body, and the axis of the map along which it moves
/// from neighbour to neighbour.
struct BulkAccess {
  tile::MapOp map;
  mlir::BlockArgument view;
  mlir::ValueRange indices;
  unsigned laneAxis;
};

class BulkBox {
public:
  /// The box that a copy of `tile`'s first slab moves; nothing, and why, if the
  /// access is none.
  static std::optional<BulkBox>
  find(const BulkAccess &access, kernel::SharedTileType tile, std::string &why);

  /// From here on a copy moves only so many rows of a slab.
  void limitRows(int64_t rows);

  kernel::BulkMapAttr mapAttr() const;
  mlir::BlockArgument view() const { return access.view; }

  /// Where the box lies (innermost axis first, i32) that begins so many rows
  /// and lanes behind the map's origin. A null row is none.
  llvm::SmallVector<mlir::Value> coordinates(ThreadBuilder &t,
                                             const KernelArguments &arguments,
                                             mlir::Value row,
                                             int64_t lane) const;

  /// Whether the map ends along an axis where the tensor does, or never behind
  /// whole tiles: what lies outside of the map is outside of the tensor.
  bool endsWithTensor(unsigned axis) const;
  /// Whether it ends where the tensor does or before that, for a reason that
  /// is not in memory: positions alone.
  bool endsByPosition(unsigned axis) const;

private:
  /// An axis of the tensor map: how many axes of the view it stands for, and
  /// the index along it, a value of the map's body or from outside.
  struct Axis {
    int64_t merged = 1;
    mlir::Value index;
    bool isRow = false;
  };
  bool findAxes(std::string &why);
  std::optional<opset::Dim> elements(size_t from, size_t to) const;
  bool isExtent(mlir::Value value, size_t from, size_t to) const;
  bool isOne(size_t axis) const;
  bool isEndOf(mlir::Value value, unsigned axis) const;
  bool mergeOuter(size_t inner, unsigned mapAxis, Axis &axis) const;
  bool findLanes(Axis &axis);
  bool isSame(mlir::Value value) const;

  BulkAccess access;
  kernel::SharedTileType tile;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<Axis> axes; ///< innermost first
  bool shifted = false;         ///< lanes begin elsewhere than the view's axis
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_BULKBOX_H
