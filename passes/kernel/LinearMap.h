//===- LinearMap.h - a map that writes, side by side ------------*- C++ -*-===//
//
// Global memory wants neighbouring threads at neighbouring addresses, which
// fragments are not. A map that writes therefore takes its input tiles through
// shared memory and runs with each thread on a chunk of neighbouring columns:
//
//   fragments --> shared array of rows --> chunks of eight columns
//
// Everything the body reads and writes is as wide there as the types allow, and
// the edges of the extent are a loop over single elements.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_LINEARMAP_H
#define AZULEJO_PASSES_KERNEL_LINEARMAP_H

#include "passes/kernel/Fragment.h"
#include "passes/kernel/KernelArguments.h"

namespace azulejo::gpu {

/// Tiles in shared memory as rows of f32.
struct RowArray {
  mlir::Value array; ///< a kernel.shared
  int64_t pitch = 1; ///< elements from row to row
  mlir::Value first; ///< i32: where row 0 begins; null: at the beginning
};

/// Some threads and the part of the map that they emit. The arrays hold that
/// part alone.
struct MapWindow {
  mlir::Value thread; ///< i32, below `threads`
  int64_t threads;
  mlir::Value firstRow, firstColumn; ///< i32, from the map's origin
  int64_t rows, columns;
};

class LinearMap {
public:
  LinearMap(ThreadBuilder &t, KernelArguments &arguments, const WarpGrid &grid,
            tile::MapOp map, llvm::ArrayRef<RowArray> inputs);
  /// The same by some threads, for a map with two axes.
  LinearMap(ThreadBuilder &t, KernelArguments &arguments, tile::MapOp map,
            llvm::ArrayRef<RowArray> inputs, const MapWindow &window);
  /// Emits the map, after a barrier that makes the arrays visible.
  void run();

  /// For who needs the map's reads to be under way before the arrays are there:
  /// chunks, one thread each, in two steps. All accesses are aligned.
  ///
  /// Whether all of the window's elements exist.
  mlir::Value isWhole();
  /// Chunks that each thread takes; 0: the window is not such a multiple, or
  /// not all accesses are aligned.
  int64_t chunksPerThread();
  struct Chunk {
    std::unique_ptr<MapBody> body;
    mlir::Value row, first; ///< i32, in the window
    mlir::Value at;         ///< i64, coordinate of the first lane
    mlir::Value left;       ///< i32, of a chunk in part: its elements; or null
  };
  /// Asks for what chunk `number` of the thread reads; `whole`: the window is.
  Chunk begin(int64_t number, bool whole);
  /// The rest, after a barrier that makes the arrays visible.
  void finish(Chunk &chunk);

  /// Writes a fragment (row tile) of `rows` rows per block to a new array; the
  /// caller adds the barrier.
  static RowArray spill(ThreadBuilder &t, const WarpGrid &grid,
                        Fragment &fragment);
  static RowArray spill(ThreadBuilder &t, const WarpGrid &grid, RowTile &tile);

private:
  mlir::Value inside(unsigned axis);
  void emitChunk(mlir::Value row, mlir::Value first, bool wide);
  void emitSingles(mlir::Value row, mlir::Value first, mlir::Value count);
  Chunk chunkAt(mlir::Value row, mlir::Value first);
  void bindInputs(Chunk &chunk, int64_t width);
  llvm::SmallVector<mlir::Value> load(const RowArray &input, mlir::Value row,
                                      mlir::Value column, int64_t width);
  mlir::Value wideIndex(mlir::Value x);

  ThreadBuilder &t;
  KernelArguments &arguments;
  tile::MapOp map;
  llvm::SmallVector<RowArray> inputs;
  unsigned laneAxis;
  int64_t width;
  MapWindow window;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_LINEARMAP_H
