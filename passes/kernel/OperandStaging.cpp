//===- OperandStaging.cpp - a product's operand in shared memory ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/OperandStaging.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::gpu {

/// Copies of one thread that are written out one after the other.
static constexpr int64_t kWrittenOut = 16;

/// The read that the body is, if it is nothing else: index arithmetic and one
/// unconditional read of `element`, which is what the map yields.
static tile::ReadOp soleRead(tile::MapOp map, Type element) {
  Operation *yield = map.getBody().front().getTerminator();
  auto read = yield->getOperand(0).getDefiningOp<tile::ReadOp>();
  if (!read || read.getPredicate() ||
      read.getView().getType().getElementType() != element)
    return {};
  for (Operation &op : map.getBody().front().without_terminator())
    if (&op != read && !isa<arith::ArithDialect>(op.getDialect()))
      return {};
  return read;
}

/// The axis along which the map reads neighbours, if there is one: the axis of
/// most reads, the last one on a tie.
static unsigned chooseLaneAxis(tile::MapOp map) {
  int score[2] = {0, 0};
  for (unsigned axis : {0u, 1u}) {
    LaneAnalysis lanes(map, 1, axis);
    map.walk([&](tile::ReadOp read) {
      score[axis] += lanes.isContiguous(read.getIndices());
    });
  }
  return score[0] > score[1] ? 0 : 1;
}

OperandStaging::OperandStaging(ThreadBuilder &t, KernelArguments &arguments,
                               const WarpGrid &grid, tile::MapOp map,
                               Type element, int64_t stages)
    : arguments(arguments), grid(grid), map(map), element(element),
      source(soleRead(map, element)), laneAxis(chooseLaneAxis(map)) {
  for (unsigned axis : {0u, 1u})
    paddedShape[axis] =
        static_cast<int64_t>(llvm::alignTo(map.getShape()[axis], kBlockRows));
  int64_t rows = paddedShape[1 - laneAxis], columns = paddedShape[laneAxis];
  chunkElements = kernel::kAccessBytes / kernel::storageBytes(element);
  chunksPerRow = columns / chunkElements;
  chunks = rows * chunksPerRow;
  shared = kernel::TileAllocOp::create(
      t.b, t.loc,
      kernel::SharedTileType::get(t.b.getContext(), element, stages, rows,
                                  columns),
      IntegerAttr());
  LaneAnalysis wide(map, chunkElements, laneAxis);
  // A read that is not contiguous has no wide form at all.
  if (source && !wide.isContiguous(source.getIndices()))
    source = {};
  aligned = arguments.isAligned(t, map, chunkElements, laneAxis);
}

OperandStaging::Bounds OperandStaging::bounds(ThreadBuilder &t) {
  Bounds result;
  Value *origins[2] = {&result.rowOrigin, &result.laneOrigin};
  Value *sizes[2] = {&result.rows, &result.lanes};
  bool *full[2] = {&result.rowsFull, &result.lanesFull};
  for (unsigned which : {0u, 1u}) {
    unsigned axis = which == 0 ? 1 - laneAxis : laneAxis;
    int64_t shape = map.getShape()[axis];
    Value origin = map.getOrigin()[axis], extent = map.getExtent()[axis];
    *origins[which] = arguments.scalar(origin);
    *full[which] = isAlwaysInside(map, axis) && shape == paddedShape[axis];
    *sizes[which] = t.max(
        t.min(t.sub(arguments.scalar(extent), *origins[which]), t.i64(shape)),
        t.i64(0));
  }
  return result;
}

/// How many elements of the chunk at (row, column) exist.
Value OperandStaging::existing(ThreadBuilder &t, const Bounds &bounds,
                               Value row, Value column) const {
  Value all = t.i64(chunkElements), count = all;
  if (!bounds.lanesFull) {
    Value at = arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), column);
    count = t.max(t.min(t.sub(bounds.lanes, at), all), t.i64(0));
  }
  if (!bounds.rowsFull)
    count = arith::SelectOp::create(t.b, t.loc, t.less(row, bounds.rows), count,
                                    t.i64(0));
  return count;
}

OperandStaging::Chunk OperandStaging::chunkAt(ThreadBuilder &t,
                                              const Bounds &bounds,
                                              Value index) const {
  Chunk chunk;
  Value perRow = t.i32(chunksPerRow);
  chunk.row = t.b.createOrFold<arith::DivUIOp>(t.loc, index, perRow);
  chunk.column = t.mul(t.b.createOrFold<arith::RemUIOp>(t.loc, index, perRow),
                       t.i32(chunkElements));
  auto wide = [&](Value x) -> Value {
    return arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), x);
  };
  Value row = wide(chunk.row);
  chunk.atRow = t.add(bounds.rowOrigin, row);
  chunk.atLane = t.add(bounds.laneOrigin, wide(chunk.column));
  chunk.count = existing(t, bounds, row, chunk.column);
  return chunk;
}

MapBody OperandStaging::body(ThreadBuilder &t) {
  return MapBody(
      t, map, laneAxis, [this](Value value) { return arguments.scalar(value); },
      [this](Value view) -> const ViewAccess & {
        return arguments.view(view);
      });
}

void OperandStaging::issue(ThreadBuilder &t, Value stage) {
  Bounds limits = bounds(t);
  if (!source)
    return copyThroughRegisters(t, limits, stage);
  APInt always;
  if (matchPattern(aligned, m_ConstantInt(&always)) && always.isOne())
    return copyAsync(t, limits, stage);
  t.choose(
      aligned, [&] { copyAsync(t, limits, stage); },
      [&] { copyThroughRegisters(t, limits, stage); });
}

/// Elements from one row to the next where the source's offset is linear in the
/// row; null where it is not.
Value OperandStaging::rowStride(ThreadBuilder &t) {
  // Linear over all rows of the tile, not just from one to the next: rows that
  // are split into axes of their own begin anew somewhere.
  LaneAnalysis alongRows(map, llvm::PowerOf2Ceil(paddedShape[1 - laneAxis]),
                         1 - laneAxis);
  const ViewAccess &access = arguments.view(source.getView());
  Value stride = t.i64(0);
  for (auto [index, step] : llvm::zip(source.getIndices(), access.strides)) {
    LaneAnalysis::Kind kind = alongRows.kind(index);
    if (kind == LaneAnalysis::Varying)
      return {};
    if (kind == LaneAnalysis::Linear)
      stride = t.add(stride, step);
  }
  return stride;
}

Value OperandStaging::sourceOffset(ThreadBuilder &t, const Chunk &chunk) {
  MapBody emitter = body(t);
  emitter.bind(map.getBody().front().getArgument(1 - laneAxis), chunk.atRow);
  return emitter.emitOffset(source, LaneAnalysis(map, chunkElements, laneAxis),
                            chunk.atLane);
}

void OperandStaging::copyChunk(ThreadBuilder &t, const Chunk &chunk,
                               Value offset, Value stage, int64_t rowOffset) {
  Value valid = arith::TruncIOp::create(
      t.b, t.loc, t.b.getI32Type(),
      t.mul(chunk.count, t.i64(kernel::storageBytes(element))));
  kernel::CopyAsyncOp::create(t.b, t.loc, arguments.view(source.getView()).base,
                              offset, valid, shared, stage, chunk.row,
                              chunk.column, rowOffset);
}

void OperandStaging::copyAsync(ThreadBuilder &t, const Bounds &bounds,
                               Value stage) {
  int64_t threads = grid.threads(), rowStep = threads / chunksPerRow;
  Value stride = rowStride(t);
  if (stride && threads % chunksPerRow == 0 && chunks % threads == 0) {
    // All chunks of a thread lie in one column, equally far apart: constants in
    // shared memory, one addition each in global memory.
    Chunk chunk = chunkAt(t, bounds, grid.thread);
    Value offset = sourceOffset(t, chunk);
    Value advance = t.mul(stride, t.i64(rowStep));
    auto copySome = [&](Value offset, int64_t count) {
      Value row =
          arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), chunk.row);
      for (int64_t i = 0; i < count; ++i) {
        int64_t down = i * rowStep;
        if (!bounds.rowsFull)
          chunk.count =
              existing(t, bounds, t.add(row, t.i64(down)), chunk.column);
        copyChunk(t, chunk, offset, stage, down);
        offset = t.add(offset, advance);
      }
      return offset;
    };
    int64_t perThread = chunks / threads;
    if (perThread <= kWrittenOut) {
      copySome(offset, perThread);
      return;
    }
    // Many chunks for few threads: written out they would hold as many
    // addresses.
    Value firstRow = chunk.row;
    t.loop(t.i32(0), t.i32(perThread), t.i32(1), {offset},
           [&](Value i, ValueRange carried) -> SmallVector<Value> {
             chunk.row = t.add(firstRow, t.mul(i, t.i32(rowStep)));
             return {copySome(carried[0], 1)};
           });
    return;
  }
  for (int64_t first = 0; first < chunks; first += threads) {
    Value index = t.add(grid.thread, t.i32(first));
    auto copy = [&]() -> SmallVector<Value> {
      Chunk chunk = chunkAt(t, bounds, index);
      copyChunk(t, chunk, sourceOffset(t, chunk), stage, 0);
      return {};
    };
    if (first + threads <= chunks)
      copy();
    else
      t.when(t.less(index, t.i32(chunks)), {}, copy);
  }
}

void OperandStaging::copyThroughRegisters(ThreadBuilder &t,
                                          const Bounds &bounds, Value stage) {
  // A rare path for reads: it must not cost the usual one registers.
  Value first = source
                    ? Value(kernel::OpaqueOp::create(t.b, t.loc, grid.thread))
                    : grid.thread;
  t.loop(first, t.i32(chunks), t.i32(grid.threads()), {},
         [&](Value index, ValueRange) -> SmallVector<Value> {
           Chunk chunk = chunkAt(t, bounds, index);
           Value whole = t.b.createOrFold<arith::CmpIOp>(
               t.loc, arith::CmpIPredicate::eq, chunk.count,
               t.i64(chunkElements));
           t.choose(
               t.bitAnd(whole, aligned), [&] { storeWhole(t, chunk, stage); },
               [&] { storeSingly(t, chunk, stage); });
           return {};
         });
}

void OperandStaging::storeWhole(ThreadBuilder &t, const Chunk &chunk,
                                Value stage) {
  MapBody emitter = body(t);
  emitter.bind(map.getBody().front().getArgument(1 - laneAxis), chunk.atRow);
  Value always = arith::ConstantIntOp::create(t.b, t.loc, 1, 1);
  emitter.emitRow(always);
  LaneAnalysis lanes(map, chunkElements, laneAxis);
  auto values = emitter.emitLanes(lanes, chunk.atLane, /*wide=*/true);
  kernel::TileStoreOp::create(t.b, t.loc, values[0], shared, stage, chunk.row,
                              chunk.column);
}

void OperandStaging::storeSingly(ThreadBuilder &t, const Chunk &chunk,
                                 Value stage) {
  t.loop(
      t.i32(0), t.i32(chunkElements), t.i32(1), {},
      [&](Value lane, ValueRange) -> SmallVector<Value> {
        Value at = arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), lane);
        Value zero = t.zero(t.b.getF32Type());
        SmallVector<Value> value = t.when(t.less(at, chunk.count), {zero}, [&] {
          MapBody emitter = body(t);
          emitter.bind(map.getBody().front().getArgument(1 - laneAxis),
                       chunk.atRow);
          emitter.emitRow(arith::ConstantIntOp::create(t.b, t.loc, 1, 1));
          LaneAnalysis lanes(map, 1, laneAxis);
          return emitter.emitLanes(lanes, t.add(chunk.atLane, at),
                                   /*wide=*/false)[0];
        });
        kernel::TileStoreOp::create(t.b, t.loc, value, shared, stage, chunk.row,
                                    t.add(chunk.column, lane));
        return {};
      });
}

} // namespace azulejo::gpu
