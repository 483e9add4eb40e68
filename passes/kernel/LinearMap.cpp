//===- LinearMap.cpp - a map that writes, side by side --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/LinearMap.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::gpu {

static MapWindow whole(ThreadBuilder &t, const WarpGrid &grid,
                       tile::MapOp map) {
  return {grid.thread, grid.threads(),    t.i32(0),
          t.i32(0),    map.getShape()[0], map.getShape().back()};
}

LinearMap::LinearMap(ThreadBuilder &t, KernelArguments &arguments,
                     const WarpGrid &grid, tile::MapOp map,
                     ArrayRef<RowArray> inputs)
    : LinearMap(t, arguments, map, inputs, whole(t, grid, map)) {}

LinearMap::LinearMap(ThreadBuilder &t, KernelArguments &arguments,
                     tile::MapOp map, ArrayRef<RowArray> inputs,
                     const MapWindow &window)
    : t(t), arguments(arguments), map(map),
      inputs(inputs.begin(), inputs.end()), laneAxis(map.getShape().size() - 1),
      width(map.getShape().size() == 1 ? 1 : kernel::kAccessElements),
      window(window) {}

/// Rows are 32 bytes apart beyond a multiple of 128, so that the eight rows
/// which a warp writes together lie in different banks.
static int64_t pitchFor(int64_t columns) {
  return static_cast<int64_t>(llvm::alignTo(columns, 32)) + 8;
}

static Value allocate(ThreadBuilder &t, int64_t elements) {
  OpBuilder::InsertionGuard guard(t.b);
  auto function =
      t.b.getInsertionBlock()->getParentOp()->getParentOfType<kernel::FuncOp>();
  if (!function)
    function = cast<kernel::FuncOp>(t.b.getInsertionBlock()->getParentOp());
  t.b.setInsertionPointToStart(&function.getBody().front());
  return kernel::SharedAllocOp::create(
      t.b, t.loc,
      kernel::SharedType::get(t.b.getContext(), t.b.getF32Type(), elements),
      IntegerAttr());
}

RowArray LinearMap::spill(ThreadBuilder &t, const WarpGrid &grid,
                          Fragment &fragment) {
  fragment.applyScale(t);
  int64_t rows = fragment.rows * grid.warpsM,
          columns = fragment.columns * grid.warpsN;
  RowArray result;
  result.pitch = pitchFor(columns);
  result.array = allocate(t, rows * result.pitch);
  Value firstRow = t.mul(grid.warpM, t.i32(fragment.rows)),
        firstColumn = t.mul(grid.warpN, t.i32(fragment.columns));
  for (int64_t r = 0; r < fragment.threadRows(); ++r)
    for (int64_t c = 0; c < fragment.threadColumns(); c += 2) {
      Value row = t.add(firstRow, rowOffset(t, grid, r));
      Value column = t.add(firstColumn, columnOffset(t, grid, c));
      kernel::SharedStoreOp::create(
          t.b, t.loc,
          ValueRange{fragment.element(r, c), fragment.element(r, c + 1)},
          result.array, t.add(t.mul(row, t.i32(result.pitch)), column));
    }
  return result;
}

RowArray LinearMap::spill(ThreadBuilder &t, const WarpGrid &grid,
                          RowTile &tile) {
  tile.complete(t);
  int64_t warpRows = static_cast<int64_t>(tile.values.size()) * 8;
  RowArray result;
  result.array = allocate(t, warpRows * grid.warpsM);
  // All threads of a quad, and all warps of a row, hold the same value.
  Value firstRow = t.mul(grid.warpM, t.i32(warpRows));
  Value first = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::eq, t.bitOr(grid.column, grid.warpN),
      t.i32(0));
  t.when(first, {}, [&]() -> SmallVector<Value> {
    for (auto [r, value] : llvm::enumerate(tile.values))
      kernel::SharedStoreOp::create(t.b, t.loc, ValueRange{value}, result.array,
                                    t.add(firstRow, rowOffset(t, grid, r)));
    return {};
  });
  return result;
}

Value LinearMap::wideIndex(Value x) {
  return t.b.createOrFold<arith::ExtUIOp>(t.loc, t.b.getI64Type(), x);
}

SmallVector<Value> LinearMap::load(const RowArray &input, Value row,
                                   Value column, int64_t count) {
  SmallVector<Value> values;
  Value base = t.mul(row, t.i32(input.pitch));
  if (input.first)
    base = t.add(base, input.first);
  int64_t step = std::min<int64_t>(count, 4);
  for (int64_t i = 0; i < count; i += step) {
    auto load = kernel::SharedLoadOp::create(
        t.b, t.loc, SmallVector<Type>(step, t.b.getF32Type()), input.array,
        t.add(t.add(base, column), t.i32(i)));
    values.append(load->result_begin(), load->result_end());
  }
  return values;
}

void LinearMap::bindInputs(Chunk &chunk, int64_t count) {
  // A tile of rank 1 has its rows as lanes.
  Value row = laneAxis == 1 ? chunk.row : chunk.first,
        column = laneAxis == 1 ? chunk.first : t.i32(0);
  Block &block = map.getBody().front();
  size_t rank = map.getShape().size();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Value argument = block.getArgument(rank + i);
    int64_t inputRank =
        cast<RankedTensorType>(map.getInputs()[i].getType()).getRank();
    if (inputRank == static_cast<int64_t>(rank))
      chunk.body->bindLanes(argument, load(input, row, column, count));
    else
      chunk.body->bind(argument, load(input, row, t.i32(0), 1)[0]);
  }
}

/// The chunk of neighbours that begins at column `first` of a row.
LinearMap::Chunk LinearMap::chunkAt(Value row, Value first) {
  Chunk chunk;
  chunk.row = row;
  chunk.first = first;
  chunk.at = t.add(arguments.scalar(map.getOrigin()[laneAxis]),
                   wideIndex(t.add(window.firstColumn, first)));
  KernelArguments *from = &arguments; // chunks outlive *this
  chunk.body = std::make_unique<MapBody>(
      t, map, laneAxis, [from](Value value) { return from->scalar(value); },
      [from](Value view) -> const ViewAccess & { return from->view(view); });
  if (laneAxis == 1)
    chunk.body->bind(map.getBody().front().getArgument(0),
                     t.add(arguments.scalar(map.getOrigin()[0]),
                           wideIndex(t.add(window.firstRow, row))));
  return chunk;
}

void LinearMap::emitChunk(Value row, Value first, bool wide) {
  Chunk chunk = chunkAt(row, first);
  int64_t lanes = wide ? width : 1;
  bindInputs(chunk, lanes);
  chunk.body->emitRow(arith::ConstantIntOp::create(t.b, t.loc, 1, 1));
  chunk.body->emitLanes(LaneAnalysis(map, lanes, laneAxis), chunk.at, wide);
}

Value LinearMap::isWhole() {
  Value whole = arith::ConstantIntOp::create(t.b, t.loc, 1, 1);
  for (unsigned axis : {0u, 1u}) {
    int64_t size = axis == 0 ? window.rows : window.columns;
    whole = t.bitAnd(
        whole, t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                               inside(axis), t.i32(size)));
  }
  return whole;
}

int64_t LinearMap::chunksPerThread() {
  int64_t chunks = window.rows * window.columns / width;
  bool even = window.columns % width == 0 && chunks % window.threads == 0;
  // A tile with an element per row would have to be there before the reads.
  bool perRow = llvm::any_of(map.getInputs(), [](Value input) {
    return cast<RankedTensorType>(input.getType()).getRank() == 1;
  });
  if (laneAxis != 1 || !even || perRow ||
      !matchPattern(arguments.isAligned(t, map, width, laneAxis), m_One()))
    return 0;
  return chunks / window.threads;
}

LinearMap::Chunk LinearMap::begin(int64_t number, bool whole) {
  Value perRow = t.i32(window.columns / width);
  Value index = t.add(window.thread, t.i32(number * window.threads));
  Value row = t.b.createOrFold<arith::DivUIOp>(t.loc, index, perRow);
  Value column = t.b.createOrFold<arith::RemUIOp>(t.loc, index, perRow);
  Chunk chunk = chunkAt(row, t.mul(column, t.i32(width)));
  Value exists = arith::ConstantIntOp::create(t.b, t.loc, 1, 1);
  if (!whole) {
    Value left = t.sub(inside(1), chunk.first);
    exists = t.less(row, inside(0));
    Value all = t.b.createOrFold<arith::CmpIOp>(
        t.loc, arith::CmpIPredicate::sge, left, t.i32(width));
    // Rows that end with a whole chunk have no chunk in part.
    if (knownDivisor(map.getExtent()[1]) % width ||
        knownDivisor(map.getOrigin()[1]) % width) {
      Value part = arith::SelectOp::create(t.b, t.loc, all, t.i32(0), left);
      chunk.left = arith::SelectOp::create(t.b, t.loc, exists, part, t.i32(0));
    }
    chunk.body->predicate(t.bitAnd(exists, all));
  }
  chunk.body->emitRow(exists);
  LaneAnalysis lanes(map, width, laneAxis);
  for (auto &[read, values] : chunk.body->emitReads(lanes, chunk.at, true))
    chunk.body->supply(read, values);
  return chunk;
}

void LinearMap::finish(Chunk &chunk) {
  bindInputs(chunk, width);
  chunk.body->emitLanes(LaneAnalysis(map, width, laneAxis), chunk.at, true);
  if (chunk.left)
    emitSingles(chunk.row, chunk.first, chunk.left);
}

void LinearMap::emitSingles(Value row, Value first, Value count) {
  t.loop(t.i32(0), count, t.i32(1), {},
         [&](Value lane, ValueRange) -> SmallVector<Value> {
           emitChunk(row, t.add(first, lane), /*wide=*/false);
           return {};
         });
}

/// How many of the window's rows or columns exist.
Value LinearMap::inside(unsigned axis) {
  bool isRow = axis == 0;
  Value origin = t.add(arguments.scalar(map.getOrigin()[axis]),
                       wideIndex(isRow ? window.firstRow : window.firstColumn)),
        extent = arguments.scalar(map.getExtent()[axis]);
  int64_t most = isRow ? window.rows : window.columns;
  Value count = t.max(t.min(t.sub(extent, origin), t.i64(most)), t.i64(0));
  return arith::TruncIOp::create(t.b, t.loc, t.b.getI32Type(), count);
}

void LinearMap::run() {
  Value threads = t.i32(window.threads);
  if (laneAxis == 0) {
    t.loop(window.thread, inside(0), threads, {},
           [&](Value at, ValueRange) -> SmallVector<Value> {
             emitChunk(t.i32(0), at, /*wide=*/false);
             return {};
           });
    return;
  }
  Value rows = inside(0), columns = inside(1);
  Value aligned = arguments.isAligned(t, map, width, laneAxis);
  int64_t perRow =
      static_cast<int64_t>(llvm::divideCeil(window.columns, width));
  t.loop(window.thread, t.mul(rows, t.i32(perRow)), threads, {},
         [&](Value index, ValueRange) -> SmallVector<Value> {
           Value row =
               t.b.createOrFold<arith::DivUIOp>(t.loc, index, t.i32(perRow));
           Value first = t.mul(
               t.b.createOrFold<arith::RemUIOp>(t.loc, index, t.i32(perRow)),
               t.i32(width));
           Value left = t.sub(columns, first);
           Value whole = t.b.createOrFold<arith::CmpIOp>(
               t.loc, arith::CmpIPredicate::sge, left, t.i32(width));
           t.choose(
               t.bitAnd(whole, aligned), [&] { emitChunk(row, first, true); },
               [&] { emitSingles(row, first, t.min(left, t.i32(width))); });
           return {};
         });
}

} // namespace azulejo::gpu
