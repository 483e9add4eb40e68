//===- OperandStaging.cpp - a product's operand in shared memory ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/OperandStaging.h"

#include "passes/kernel/BulkOperand.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::gpu {

/// Copies of one thread that are written out one after the other. More of them
/// are a loop: written out they would hold about four registers each.
static constexpr int64_t kWrittenOut = 8;
/// Chunks that a thread takes from a ring before it computes from them.
static constexpr int64_t kTakenTogether = 4;

/// The reads whose elements the map's elements have for their own: neighbours
/// lie side by side, another row has others. Those of the narrowest type, so
/// that a chunk of 16 bytes is the same elements in all of them.
static SmallVector<tile::ReadOp> ownReads(tile::MapOp map, unsigned laneAxis) {
  LaneAnalysis alongRows(map, 1, 1 - laneAxis);
  SmallVector<tile::ReadOp> reads;
  int64_t narrowest = kernel::kAccessBytes;
  for (auto read : map.getBody().front().getOps<tile::ReadOp>()) {
    Type type = read.getView().getType().getElementType();
    bool copyable =
        type.isF32() || type.isF16() || type.isBF16() || type.isInteger(8);
    bool perRow = llvm::any_of(read.getIndices(), [&](Value index) {
      return alongRows.kind(index) > LaneAnalysis::Uniform;
    });
    int64_t bytes = kernel::storageBytes(type);
    int64_t lanes = kernel::kAccessBytes / bytes;
    bool byMemory =
        llvm::any_of(opsBehind(read.getIndices(), *read->getBlock()),
                     [](Operation *op) { return isa<tile::ReadOp>(op); });
    if (!copyable || read.getPredicate() || !perRow || byMemory ||
        !LaneAnalysis(map, lanes, laneAxis).isContiguous(read.getIndices()))
      continue;
    if (bytes < narrowest)
      reads.clear();
    narrowest = std::min(narrowest, bytes);
    if (bytes == narrowest)
      reads.push_back(read);
  }
  // Two reads of one view (a rotation) would be two copies of it.
  for (size_t i = 0; i < reads.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (reads[i].getView() == reads[j].getView())
        return {};
  return reads;
}

/// What to copy, and how many elements are a chunk of it.
void OperandStaging::findRings(ThreadBuilder &t, int64_t stages,
                               bool stageReads) {
  int64_t bytes = kernel::storageBytes(element);
  int64_t rows = paddedShape[1 - laneAxis], columns = paddedShape[laneAxis];
  auto allocate = [&](Type type, int64_t count) -> Value {
    return kernel::TileAllocOp::create(
        t.b, t.loc,
        kernel::SharedTileType::get(t.b.getContext(), type, count, rows,
                                    columns),
        IntegerAttr());
  };
  computedTogether = chunkElements = kernel::kAccessBytes / bytes;
  tile::ReadOp source = soleRead(map, element);
  // A read that is not contiguous has no wide form at all.
  if (source && LaneAnalysis(map, chunkElements, laneAxis)
                    .isContiguous(source.getIndices())) {
    shared = allocate(element, stages);
    rings.push_back({source, element, shared});
    return;
  }
  SmallVector<tile::ReadOp> reads;
  if (stageReads)
    reads = ownReads(map, laneAxis);
  shared = allocate(element, reads.empty() ? stages : 2);
  for (tile::ReadOp read : reads) {
    Type type = read.getView().getType().getElementType();
    chunkElements = kernel::kAccessBytes / kernel::storageBytes(type);
    rings.push_back({read, type, allocate(type, stages)});
  }
  computedTogether = std::min(computedTogether, chunkElements);
}

OperandStaging::OperandStaging(ThreadBuilder &t, KernelArguments &arguments,
                               const WarpGrid &grid, tile::MapOp map,
                               Type element, int64_t stages, bool stageReads)
    : arguments(arguments), grid(grid), map(map), element(element),
      laneAxis(chooseLaneAxis(map)) {
  for (unsigned axis : {0u, 1u})
    paddedShape[axis] =
        static_cast<int64_t>(llvm::alignTo(map.getShape()[axis], kBlockRows));
  findRings(t, stages, stageReads);
  chunksPerRow = paddedShape[laneAxis] / chunkElements;
  chunks = paddedShape[1 - laneAxis] * chunksPerRow;
  aligned = arguments.isAligned(t, map, chunkElements, laneAxis);
  // What is not copied is read in shorter pieces.
  if (computedTogether != chunkElements)
    aligned = t.bitAnd(aligned,
                       arguments.isAligned(t, map, computedTogether, laneAxis));
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
  if (rings.empty())
    return copyThroughRegisters(t, limits, stage);
  auto copy = [&] {
    for (const Ring &ring : rings)
      copyAsync(t, ring, limits, stage);
  };
  if (isAlwaysAligned())
    return copy();
  t.choose(aligned, copy, [&] {
    if (isCopied()) // else convert() reads for itself
      copyThroughRegisters(t, limits, stage);
  });
}

bool OperandStaging::isAlwaysAligned() const {
  APInt always;
  return matchPattern(aligned, m_ConstantInt(&always)) && always.isOne();
}

/// Linear over all rows of the tile, not just from one to the next: rows that
/// are split into axes of their own begin anew somewhere.
LaneAnalysis OperandStaging::alongRows() const {
  return LaneAnalysis(map, llvm::PowerOf2Ceil(paddedShape[1 - laneAxis]),
                      1 - laneAxis);
}

/// Whether a thread's chunks lie in one column, equally far apart.
bool OperandStaging::isColumn(const Ring &ring) const {
  tile::ReadOp read = ring.read;
  LaneAnalysis rows = alongRows();
  return grid.threads() % chunksPerRow == 0 && chunks % grid.threads() == 0 &&
         llvm::none_of(read.getIndices(), [&](Value index) {
           return rows.kind(index) == LaneAnalysis::Varying;
         });
}

/// Elements from one row to the next in a column.
Value OperandStaging::rowStride(ThreadBuilder &t, const Ring &ring) {
  LaneAnalysis rows = alongRows();
  tile::ReadOp read = ring.read;
  const ViewAccess &access = arguments.view(read.getView());
  Value stride = t.i64(0);
  for (auto [index, step] : llvm::zip(read.getIndices(), access.strides))
    if (rows.kind(index) == LaneAnalysis::Linear)
      stride = t.add(stride, step);
  return stride;
}

Value OperandStaging::sourceOffset(ThreadBuilder &t, const Ring &ring,
                                   const Chunk &chunk) {
  MapBody emitter = body(t);
  emitter.bind(map.getBody().front().getArgument(1 - laneAxis), chunk.atRow);
  return emitter.emitOffset(
      ring.read, LaneAnalysis(map, chunkElements, laneAxis), chunk.atLane);
}

Value OperandStaging::sourceBase(const Ring &ring) const {
  tile::ReadOp read = ring.read;
  return arguments.view(read.getView()).base;
}

void OperandStaging::copyChunk(ThreadBuilder &t, const Ring &ring,
                               const Chunk &chunk, Value stage) {
  Value valid = arith::TruncIOp::create(
      t.b, t.loc, t.b.getI32Type(),
      t.mul(chunk.count, t.i64(kernel::storageBytes(ring.element))));
  kernel::CopyAsyncOp::create(t.b, t.loc, sourceBase(ring),
                              sourceOffset(t, ring, chunk), valid, ring.tile,
                              stage, chunk.row, chunk.column, /*rowOffset=*/0);
}

/// The step of a loop that stays one: nobody can count its rounds. Written out,
/// by LLVM or by the assembler, it would hold registers for all of them.
static Value hidden(ThreadBuilder &t, int64_t step) {
  return kernel::OpaqueOp::create(t.b, t.loc, t.i32(step));
}

OperandStaging::Column
OperandStaging::columnOf(ThreadBuilder &t, const Ring &ring, Bounds limits) {
  Column column;
  column.rowStep = grid.threads() / chunksPerRow;
  column.count = chunks / grid.threads();
  // In 32 bits, which a tile's sizes fit.
  if (!limits.rowsFull)
    column.rows =
        arith::TruncIOp::create(t.b, t.loc, t.b.getI32Type(), limits.rows);
  limits.rowsFull = true;
  column.first = chunkAt(t, limits, grid.thread);
  Value bytes = t.i64(kernel::storageBytes(ring.element));
  column.valid = t.b.createOrFold<arith::TruncIOp>(
      t.loc, t.b.getI32Type(), t.mul(column.first.count, bytes));
  column.advance =
      t.mul(t.mul(rowStride(t, ring), t.i64(column.rowStep)), bytes);
  column.base = t.add(sourceBase(ring),
                      t.mul(sourceOffset(t, ring, column.first), bytes));
  return column;
}

/// Chunk `number` of the column, which lies at `base`.
void OperandStaging::copyOfColumn(ThreadBuilder &t, const Ring &ring,
                                  const Column &column, int64_t number,
                                  Value base, Value stage) {
  int64_t down = number * column.rowStep;
  const Chunk &chunk = column.first;
  Value valid = column.valid;
  if (column.rows) {
    Value exists =
        arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::slt,
                              t.add(chunk.row, t.i32(down)), column.rows);
    valid = arith::SelectOp::create(t.b, t.loc, exists, valid, t.i32(0));
  }
  kernel::CopyAsyncOp::create(t.b, t.loc, base, t.i64(0), valid, ring.tile,
                              stage, chunk.row, chunk.column, down);
}

bool OperandStaging::comesApart() const {
  return isAlwaysAligned() && !rings.empty() &&
         llvm::all_of(rings, [&](const Ring &ring) { return isColumn(ring); });
}

int64_t OperandStaging::copiesPerThread() const {
  int64_t copies = chunks * static_cast<int64_t>(rings.size());
  return llvm::divideCeil(copies, grid.threads());
}

void OperandStaging::appendCopies(ThreadBuilder &t,
                                  SmallVectorImpl<Copy> &copies) {
  Bounds limits = bounds(t);
  for (const Ring &ring : rings) {
    Column column = columnOf(t, ring, limits);
    // Hidden, or LLVM prepares every chunk's row, addresses and size in front
    // of the loop over the steps, in up to four registers each.
    // Where all rows exist there is only the address.
    SmallVector<Value *> hide{&column.advance};
    if (column.rows)
      hide.append({&column.rows, &column.first.row});
    for (Value *value : hide)
      *value = kernel::OpaqueOp::create(t.b, t.loc, *value);
    for (int64_t i = 0; i < column.count; ++i)
      copies.push_back([this, &t, &ring, column, i](Value stage) {
        Value base = t.add(column.base, t.mul(column.advance, t.i64(i)));
        copyOfColumn(t, ring, column, i, base, stage);
      });
  }
}

void OperandStaging::copyAsync(ThreadBuilder &t, const Ring &ring,
                               const Bounds &bounds, Value stage) {
  if (isColumn(ring))
    return copyColumn(t, ring, bounds, stage);
  int64_t threads = grid.threads();
  auto copyAt = [&](Value index) -> SmallVector<Value> {
    Chunk chunk = chunkAt(t, bounds, index);
    copyChunk(t, ring, chunk, stage);
    return {};
  };
  if (chunks > threads * kWrittenOut) {
    t.loop(grid.thread, t.i32(chunks), hidden(t, threads), {},
           [&](Value index, ValueRange) { return copyAt(index); });
    return;
  }
  for (int64_t first = 0; first < chunks; first += threads) {
    Value index = t.add(grid.thread, t.i32(first));
    auto copy = [&] { return copyAt(index); };
    if (first + threads <= chunks)
      copy();
    else
      t.when(t.less(index, t.i32(chunks)), {}, copy);
  }
}

void OperandStaging::copyColumn(ThreadBuilder &t, const Ring &ring,
                                const Bounds &bounds, Value stage) {
  Column column = columnOf(t, ring, bounds);
  if (column.count <= kWrittenOut) {
    // Hidden, or LLVM prepares every row's address in front of the loop over
    // the steps, in two registers each.
    column.advance = kernel::OpaqueOp::create(t.b, t.loc, column.advance);
    Value base = column.base;
    for (int64_t i = 0; i < column.count; ++i) {
      copyOfColumn(t, ring, column, i, base, stage);
      base = t.add(base, column.advance);
    }
    return;
  }
  Value firstRow = column.first.row;
  t.loop(t.i32(0), t.i32(column.count), hidden(t, 1), {column.base},
         [&](Value i, ValueRange carried) -> SmallVector<Value> {
           column.first.row = t.add(firstRow, t.mul(i, t.i32(column.rowStep)));
           copyOfColumn(t, ring, column, 0, carried[0], stage);
           return {t.add(carried[0], column.advance)};
         });
}

void OperandStaging::copyThroughRegisters(ThreadBuilder &t,
                                          const Bounds &bounds, Value stage) {
  // A rare path for reads: it must not cost the usual one registers.
  Value first = isCopied()
                    ? Value(kernel::OpaqueOp::create(t.b, t.loc, grid.thread))
                    : grid.thread;
  t.loop(first, t.i32(chunks), t.i32(grid.threads()), {},
         [&](Value index, ValueRange) -> SmallVector<Value> {
           Chunk chunk = chunkAt(t, bounds, index);
           t.choose(
               t.bitAnd(isWhole(t, chunk), aligned),
               [&] { storeWhole(t, chunk, stage); },
               [&] { storeSingly(t, chunk, stage); });
           return {};
         });
}

Value OperandStaging::isWhole(ThreadBuilder &t, const Chunk &chunk) const {
  return t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                         chunk.count, t.i64(chunkElements));
}

void OperandStaging::convert(ThreadBuilder &t, Value stage, Value into) {
  Bounds limits = bounds(t);
  int64_t threads = grid.threads(), together = 1;
  while (together < kTakenTogether && chunks % (2 * together * threads) == 0)
    together *= 2;
  // The chunks of a thread are those that it has copied.
  t.loop(grid.thread, t.i32(chunks), t.i32(together * threads), {},
         [&](Value index, ValueRange) -> SmallVector<Value> {
           auto chunkOf = [&](Value i) {
             return chunkAt(t, limits, t.add(index, t.mul(i, t.i32(threads))));
           };
           SmallVector<Chunk> batch;
           Value whole = aligned;
           for (int64_t i = 0; i < together; ++i) {
             batch.push_back(chunkOf(t.i32(i)));
             whole = t.bitAnd(whole, isWhole(t, batch.back()));
           }
           t.choose(
               whole, [&] { convertWhole(t, batch, stage, into); },
               [&] {
                 t.loop(t.i32(0), t.i32(together), t.i32(1), {},
                        [&](Value i, ValueRange) -> SmallVector<Value> {
                          Chunk chunk = chunkOf(i);
                          t.choose(
                              t.bitAnd(isWhole(t, chunk), aligned),
                              [&] { convertWhole(t, chunk, stage, into); },
                              [&] { storeSingly(t, chunk, into); });
                          return {};
                        });
               });
           return {};
         });
}

void OperandStaging::convertWhole(ThreadBuilder &t, ArrayRef<Chunk> batch,
                                  Value stage, Value into) {
  SmallVector<SmallVector<Value>> taken; // a list per chunk and ring
  for (const Chunk &chunk : batch)
    for (const Ring &ring : rings) {
      SmallVector<Type> types(chunkElements, kernel::computeType(ring.element));
      auto load = kernel::TileLoadOp::create(t.b, t.loc, types, ring.tile,
                                             stage, chunk.row, chunk.column);
      taken.emplace_back(load->result_begin(), load->result_end());
    }
  LaneAnalysis lanes(map, computedTogether, laneAxis);
  for (auto [number, chunk] : llvm::enumerate(batch)) {
    MapBody emitter = body(t);
    emitter.bind(map.getBody().front().getArgument(1 - laneAxis), chunk.atRow);
    emitter.emitRow(arith::ConstantIntOp::create(t.b, t.loc, 1, 1));
    for (int64_t lane = 0; lane < chunkElements; lane += computedTogether) {
      for (auto [i, ring] : llvm::enumerate(rings))
        emitter.supply(ring.read, ArrayRef(taken[number * rings.size() + i])
                                      .slice(lane, computedTogether));
      auto values = emitter.emitLanes(lanes, t.add(chunk.atLane, t.i64(lane)),
                                      /*wide=*/true);
      kernel::TileStoreOp::create(t.b, t.loc, values[0], shared, into,
                                  chunk.row, t.add(chunk.column, t.i32(lane)));
    }
  }
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

/// A chunk of which not all exists; often nothing does, where rows are few.
void OperandStaging::storeSingly(ThreadBuilder &t, const Chunk &chunk,
                                 Value stage) {
  Value nothing = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::eq, chunk.count, t.i64(0));
  SmallVector<Value> zeros(computedTogether, t.zero(t.b.getF32Type()));
  t.choose(
      nothing,
      [&] {
        for (int64_t lane = 0; lane < chunkElements; lane += computedTogether)
          kernel::TileStoreOp::create(t.b, t.loc, zeros, shared, stage,
                                      chunk.row,
                                      t.add(chunk.column, t.i32(lane)));
      },
      [&] { storeElements(t, chunk, stage); });
}

void OperandStaging::storeElements(ThreadBuilder &t, const Chunk &chunk,
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
