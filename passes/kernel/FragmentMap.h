//===- FragmentMap.h - an elementwise map on fragments ----------*- C++ -*-===//
//
// The body runs once per element that the thread holds. What depends on the row
// alone is computed once per row, what depends on the column alone once per
// column.
//
// Conditions that hold for a whole warp's rectangle cost nothing: a comparison
// of affine functions of row and column has its extremes in the rectangle's
// corners, and when no comparison can fail and no element lies outside the
// extent, a version of the body without them runs. Blocks far from a causal
// diagonal or a window's edge take that path.
//
// A result that is a positive constant times an input (with -inf where it is
// masked) keeps the constant apart, as Fragment::scale, for consumers that can
// use it in a fused multiply-add.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_FRAGMENTMAP_H
#define AZULEJO_PASSES_KERNEL_FRAGMENTMAP_H

#include "passes/kernel/Fragment.h"
#include "passes/kernel/KernelArguments.h"

namespace azulejo::gpu {

/// What an input of the map is in this kernel: one of the two.
struct FragmentInput {
  Fragment *fragment = nullptr;
  RowTile *row = nullptr;
};

class FragmentMap {
public:
  FragmentMap(ThreadBuilder &t, const KernelArguments &arguments,
              const WarpGrid &grid, tile::MapOp map,
              llvm::ArrayRef<FragmentInput> inputs);

  /// Emits the map; one fragment per result. The map writes nothing.
  mlir::FailureOr<llvm::SmallVector<Fragment>> run();

private:
  enum : unsigned { OnRow = 1, OnColumn = 2 };
  /// A value of the body: per thread row and column it depends on.
  struct Spread {
    unsigned on = 0;
    llvm::SmallVector<mlir::Value> values;
  };
  /// An index that is onRow * row + onColumn * column + rest, with `rest` (i64)
  /// the same for the warp; null: of another form.
  struct Affine {
    int64_t onRow = 0, onColumn = 0;
    mlir::Value rest;
    explicit operator bool() const { return rest != nullptr; }
  };

  void placeWarp();
  Affine affineOf(mlir::Value value);
  /// Left side minus right side of a comparison.
  Affine difference(mlir::arith::CmpIOp compare);
  mlir::Value alwaysHolds(mlir::arith::CmpIOp compare);
  /// The comparison for every element, as one value of the thread against
  /// constants.
  Spread compareAll(mlir::arith::CmpIPredicate predicate, const Affine &affine);
  /// Emits the body and gives the yielded values, one list per result.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> emitBody(bool inside);
  void emitOp(mlir::Operation &op, bool inside);
  mlir::Value simplified(mlir::Operation &op, bool inside);
  mlir::Value emitRead(tile::ReadOp read, int64_t r, int64_t c);
  mlir::Value at(mlir::Value value, int64_t r, int64_t c);
  size_t slot(const Spread &spread, int64_t r, int64_t c) const {
    return ((spread.on & OnRow) ? r : 0) *
               ((spread.on & OnColumn) ? columns : 1) +
           ((spread.on & OnColumn) ? c : 0);
  }
  void findScales();

  ThreadBuilder &t;
  const KernelArguments &arguments;
  const WarpGrid &grid;
  tile::MapOp map;
  llvm::ArrayRef<FragmentInput> inputs;
  int64_t warpRows, warpColumns; ///< of the warp's rectangle, padded
  int64_t rows, columns;         ///< the thread's
  mlir::Value rowBase, columnBase, rowEnd, columnEnd; ///< i64
  Spread insideColumns;                               ///< column < columnEnd
  llvm::DenseMap<mlir::Value, Spread> spreads;
  /// Comparisons that hold everywhere when the warp's rectangle is inside.
  llvm::DenseSet<mlir::Value> settled;
  /// Per result: the constant factor kept apart, and the op that applies it.
  llvm::SmallVector<double> scales;
  llvm::DenseSet<mlir::Operation *> scaling;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENTMAP_H
