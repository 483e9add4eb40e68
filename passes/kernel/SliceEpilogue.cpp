//===- SliceEpilogue.cpp - results by the threads -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/SliceEpilogue.h"

using namespace mlir;

namespace azulejo::gpu {

/// Columns that a warp takes through shared memory at a time, and how far apart
/// their rows are: eight rows that are written together lie in different banks.
static constexpr int64_t kSliceColumns = 32, kSlicePitch = kSliceColumns + 8;

/// Puts a slice of the warp's rows where neighbours find it.
void SliceEpilogue::spillSlice(ThreadBuilder &t, const Rows &rows,
                               int64_t column) {
  int64_t width = std::min(kSliceColumns, columns - column);
  kernel::WarpBarrierOp::create(t.b, t.loc); // the slice before is read
  for (int64_t r = 0; r < rows.sum.threadRows(); ++r)
    for (int64_t c = 0; c < width / 4; c += 2) {
      Value at =
          t.add(slice.first,
                t.add(t.mul(rowOffset(t, rows.grid, r), t.i32(slice.pitch)),
                      columnOffset(t, rows.grid, c)));
      int64_t from = column / 4 + c;
      kernel::SharedStoreOp::create(
          t.b, t.loc,
          ValueRange{rows.sum.element(r, from), rows.sum.element(r, from + 1)},
          slice.array, at);
    }
  kernel::WarpBarrierOp::create(t.b, t.loc);
}

LinearMap SliceEpilogue::sliceMap(ThreadBuilder &t, tile::MapOp map,
                                  const Rows &rows, int64_t column,
                                  int64_t width) {
  SmallVector<RowArray> arrays(map.getInputs().size(), slice);
  MapWindow window{rows.grid.lane, kernel::kWarpThreads, rows.firstRow,
                   t.i32(column),  kBlockRows,           width};
  return LinearMap(t, rows.arguments, map, arrays, window);
}

/// What a chunk has for its own, of all maps: values that are under way.
static int64_t readsPerChunk(ArrayRef<tile::MapOp> maps) {
  int64_t count = 0;
  for (tile::MapOp map : maps) {
    LaneAnalysis lanes(map, kernel::kAccessElements, 1);
    for (auto read : map.getBody().front().getOps<tile::ReadOp>())
      count += lanes.kind(read) == LaneAnalysis::Varying;
  }
  return count;
}

/// By chunks; `whole`: every element exists. What the next slice reads is under
/// way while this one is written, if it is little: beside the sums there are
/// few registers.
void SliceEpilogue::write(ThreadBuilder &t, const Rows &rows, bool whole) {
  using Chunks = std::vector<std::pair<LinearMap, LinearMap::Chunk>>;
  auto begin = [&](int64_t column) {
    auto chunks = std::make_unique<Chunks>();
    if (column >= columns)
      return chunks;
    for (tile::MapOp map : outputs) {
      LinearMap linear = sliceMap(t, map, rows, column, kSliceColumns);
      for (int64_t i = 0, n = linear.chunksPerThread(); i < n; ++i)
        chunks->emplace_back(linear, linear.begin(i, whole));
    }
    return chunks;
  };
  if (readsPerChunk(outputs) <= 1) {
    std::unique_ptr<Chunks> now = begin(0);
    for (int64_t column = 0; column < columns; column += kSliceColumns) {
      std::unique_ptr<Chunks> next = begin(column + kSliceColumns);
      spillSlice(t, rows, column);
      for (auto &[linear, chunk] : *now)
        linear.finish(chunk);
      now = std::move(next);
    }
    return;
  }
  for (int64_t column = 0; column < columns; column += kSliceColumns) {
    spillSlice(t, rows, column);
    for (tile::MapOp map : outputs) {
      LinearMap linear = sliceMap(t, map, rows, column, kSliceColumns);
      for (int64_t i = 0, n = linear.chunksPerThread(); i < n; ++i) {
        LinearMap::Chunk chunk = linear.begin(i, whole);
        linear.finish(chunk);
      }
    }
  }
}

/// One slice after another, in any case.
void SliceEpilogue::writeInTurn(ThreadBuilder &t, const Rows &rows) {
  for (int64_t column = 0; column < columns; column += kSliceColumns) {
    spillSlice(t, rows, column);
    for (tile::MapOp map : outputs)
      sliceMap(t, map, rows, column, std::min(kSliceColumns, columns - column))
          .run();
  }
}

bool SliceEpilogue::goesByChunks(ThreadBuilder &t, const Rows &rows) {
  return columns % kSliceColumns == 0 &&
         llvm::all_of(outputs, [&](tile::MapOp map) {
           // Maps of other extents would be whole at other places.
           return map.getOrigin() == outputs[0].getOrigin() &&
                  map.getExtent() == outputs[0].getExtent() &&
                  sliceMap(t, map, rows, 0, kSliceColumns).chunksPerThread();
         });
}

void SliceEpilogue::allocate(ThreadBuilder &t) {
  slice.pitch = kSlicePitch;
  slice.array = kernel::SharedAllocOp::create(
      t.b, t.loc,
      kernel::SharedType::get(t.b.getContext(), t.b.getF32Type(),
                              warps * kBlockRows * kSlicePitch),
      IntegerAttr());
}

void SliceEpilogue::emitRows(ThreadBuilder &t, KernelArguments &arguments,
                             const WarpGrid &grid, Fragment &sum,
                             Value firstRow) {
  Value warp = t.b.createOrFold<arith::ShRUIOp>(t.loc, grid.thread, t.i32(5));
  slice.first = t.mul(warp, t.i32(kBlockRows * kSlicePitch));
  Rows rows{arguments, grid, sum, firstRow};
  if (!goesByChunks(t, rows)) {
    writeInTurn(t, rows);
    return;
  }
  if (isAlwaysInside(outputs[0], 0) && isAlwaysInside(outputs[0], 1)) {
    write(t, rows, true);
    return;
  }
  Value whole = sliceMap(t, outputs[0], rows, 0, columns).isWhole();
  t.choose(
      whole, [&] { write(t, rows, true); }, [&] { write(t, rows, false); });
}

} // namespace azulejo::gpu
