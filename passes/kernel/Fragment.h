//===- Fragment.h - who holds which element of a tile -----------*- C++ -*-===//
//
// The warps of a block form a grid over a tile: each owns a rectangle of rows
// and columns. Inside it the elements lie as a matrix instruction's
// accumulators do (ir/kernel/MatrixOps.td): blocks of 16 x 8, of which a
// thread holds four,
//
//        columns 2q, 2q+1
//   row g    [0]  [1]          g = lane / 4: eight rows of four threads, quads
//   row g+8  [2]  [3]          q = lane % 4
//
// Elementwise work keeps this layout, whatever the element type. A fold along
// a row is a loop in the thread and two exchanges within the quad. A value per
// row is held by all threads of the row's quad.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_FRAGMENT_H
#define AZULEJO_PASSES_KERNEL_FRAGMENT_H

#include "passes/kernel/ThreadBuilder.h"

namespace azulejo::gpu {

inline constexpr int64_t kBlockRows = 16, kBlockColumns = 8;

/// Where the thread is. All values are i32.
struct WarpGrid {
  int64_t warpsM = 1, warpsN = 1;
  mlir::Value thread, lane, warpM, warpN;
  mlir::Value group;  ///< g
  mlir::Value column; ///< 2q

  int64_t threads() const { return 32 * warpsM * warpsN; }
  static WarpGrid create(ThreadBuilder &t, mlir::Value thread, int64_t warpsM,
                         int64_t warpsN);
};

/// A thread's part of a tile.
struct Fragment {
  int64_t rows = 0, columns = 0; ///< of one warp: multiples of 16
  llvm::SmallVector<mlir::Value> elements;
  /// The tile is this factor (> 0) times the elements.
  double scale = 1;

  int64_t rowBlocks() const { return rows / kBlockRows; }
  int64_t columnBlocks() const { return columns / kBlockColumns; }
  static int64_t count(int64_t rows, int64_t columns) {
    return rows * columns / 32;
  }
  size_t index(int64_t rowBlock, int64_t columnBlock, int64_t i) const {
    return (rowBlock * columnBlocks() + columnBlock) * 4 + i;
  }
  mlir::Value &at(int64_t rowBlock, int64_t columnBlock, int64_t i) {
    return elements[index(rowBlock, columnBlock, i)];
  }
  /// Row `r` of the thread: 2 per row block. Column `c`: 2 per column block.
  int64_t threadRows() const { return rows / 8; }
  int64_t threadColumns() const { return columns / 4; }
  mlir::Value &element(int64_t r, int64_t c) {
    return at(r / 2, c / 2, 2 * (r % 2) + c % 2);
  }
  /// Elements with the factor applied.
  void applyScale(ThreadBuilder &t);
};

/// A value per row: one for each of the thread's rows.
struct RowTile {
  llvm::SmallVector<mlir::Value> values;
  /// Each thread of a quad holds a part of the sum.
  bool partial = false;

  /// Sums the quad's parts.
  void complete(ThreadBuilder &t);
};

/// The offset of thread row `r` (column `c`) from the warp's first row
/// (column), in i32.
mlir::Value rowOffset(ThreadBuilder &t, const WarpGrid &grid, int64_t r);
mlir::Value columnOffset(ThreadBuilder &t, const WarpGrid &grid, int64_t c);

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENT_H
