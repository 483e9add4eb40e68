//===- SliceEpilogue.h - results by the threads -----------------*- C++ -*-===//
//
// The epilogue of products by warps with roles that works for every program:
// each warp takes its 16 rows through shared memory of its own, a slice of
// columns at a time, so that its lanes read and write neighbours (LinearMap).
// BulkEpilogue is the faster one, for results that are boxes.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_SLICEEPILOGUE_H
#define AZULEJO_PASSES_KERNEL_SLICEEPILOGUE_H

#include "passes/kernel/LinearMap.h"

namespace azulejo::gpu {

class SliceEpilogue {
public:
  /// The maps that write the product, and how many warps do it.
  SliceEpilogue(llvm::ArrayRef<tile::MapOp> outputs, int64_t columns,
                int64_t warps)
      : outputs(outputs.begin(), outputs.end()), columns(columns),
        warps(warps) {}

  /// At the top of the kernel.
  void allocate(ThreadBuilder &t);
  /// The 16 rows of one warp in one product, which begin at `firstRow` of the
  /// item's tile.
  void emitRows(ThreadBuilder &t, KernelArguments &arguments,
                const WarpGrid &grid, Fragment &sum, mlir::Value firstRow);

private:
  struct Rows {
    KernelArguments &arguments;
    const WarpGrid &grid;
    Fragment &sum;
    mlir::Value firstRow;
  };
  void spillSlice(ThreadBuilder &t, const Rows &rows, int64_t column);
  LinearMap sliceMap(ThreadBuilder &t, tile::MapOp map, const Rows &rows,
                     int64_t column, int64_t width);
  bool goesByChunks(ThreadBuilder &t, const Rows &rows);
  void write(ThreadBuilder &t, const Rows &rows, bool whole);
  void writeInTurn(ThreadBuilder &t, const Rows &rows);

  llvm::SmallVector<tile::MapOp> outputs;
  int64_t columns, warps;
  RowArray slice; ///< the warp's own
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_SLICEEPILOGUE_H
