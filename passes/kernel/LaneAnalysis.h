//===- LaneAnalysis.h - how a map's values vary along a row -----*- C++ -*-===//
//
// The lanes of a map run along one of its axes, the last unless said otherwise;
// a row is what the other axes leave. A thread takes `width` neighbouring lanes
// of a row, the first of which is a multiple of `width` away from the map's
// origin. Every value of the map's body
// is, over these lanes, one of
//
//   Row      independent of the lane coordinate: computed once per row;
//   Uniform  equal for the neighbours: computed for the first of them;
//   Linear   first + lane number, so that `x[row, value]` is one access;
//   Varying  anything else: computed per lane.
//
// Row, Uniform and Linear integers remember a power of two that divides them
// (Linear: their first); that is how `lane mod 64` stays Linear.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_LANEANALYSIS_H
#define AZULEJO_PASSES_KERNEL_LANEANALYSIS_H

#include "ir/tile/Tile.h"

#include "llvm/ADT/DenseMap.h"

namespace azulejo::gpu {

/// A power of two that divides `value` for all run-time inputs, found by
/// looking through constants, products, sums and loop bounds.
int64_t knownDivisor(mlir::Value value);

/// Whether `divisor`, any positive number, divides `value` for all run-time
/// inputs, found in the same way.
bool isMultipleOf(mlir::Value value, int64_t divisor);

/// Whether every element of the map's shape along `axis` lies inside the
/// extent, for all work items and loop steps.
bool isAlwaysInside(tile::MapOp map, unsigned axis);

class LaneAnalysis {
public:
  enum Kind { Row, Uniform, Linear, Varying };
  struct Shape {
    Kind kind = Row;
    int64_t divisor = 1;
  };

  LaneAnalysis(tile::MapOp map, int64_t width)
      : LaneAnalysis(map, width, map.getShape().size() - 1) {}
  LaneAnalysis(tile::MapOp map, int64_t width, unsigned laneAxis);

  Kind kind(mlir::Value value) const { return shape(value).kind; }
  /// Whether the neighbours read or write neighbouring elements, starting at a
  /// multiple of `width` from the row's start.
  bool isContiguous(mlir::ValueRange indices) const;

  const int64_t width;
  const unsigned laneAxis;

private:
  Shape shape(mlir::Value value) const;
  Shape infer(mlir::Operation &op) const;
  Shape inferDivision(mlir::Operation &op, Shape x, mlir::Value by) const;
  bool straddlesNothing(Shape x, mlir::Value bound) const;

  llvm::DenseMap<mlir::Value, Shape> shapes; ///< of the body's own values
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_LANEANALYSIS_H
