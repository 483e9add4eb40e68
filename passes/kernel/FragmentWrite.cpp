//===- FragmentWrite.cpp - a map that writes, from registers --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/FragmentWrite.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::gpu {

namespace {

class Writer {
public:
  Writer(ThreadBuilder &t, KernelArguments &arguments, const WarpGrid &grid,
         tile::MapOp map, FragmentTiles &tiles)
      : t(t), arguments(arguments), grid(grid), map(map), tiles(tiles),
        rank(map.getShape().size()) {}

  void run() {
    int64_t rows = map.getShape()[0] / grid.warpsM;
    for (Value input : map.getInputs()) {
      TileValue &value = tiles[input];
      value.row.complete(t);
      value.fragment.applyScale(t);
    }
    Value firstRow = t.mul(grid.warpM, t.i32(rows));
    for (int64_t r = 0; r < rows / kBlockColumns; ++r) {
      Value at = t.add(origin(0), wide(t.add(firstRow, rowOffset(t, grid, r))));
      if (rank == 1)
        writeRow(r, at);
      else
        writePairs(r, at);
    }
  }

private:
  Value wide(Value x) {
    return t.b.createOrFold<arith::ExtUIOp>(t.loc, t.b.getI64Type(), x);
  }
  Value origin(unsigned axis) {
    return arguments.scalar(map.getOrigin()[axis]);
  }
  Value exists(unsigned axis, Value at) {
    if (isAlwaysInside(map, axis))
      return arith::ConstantIntOp::create(t.b, t.loc, 1, 1);
    return t.less(at, arguments.scalar(map.getExtent()[axis]));
  }
  MapBody body(unsigned laneAxis) {
    return MapBody(
        t, map, laneAxis, [&](Value value) { return arguments.scalar(value); },
        [&](Value view) -> const ViewAccess & { return arguments.view(view); });
  }
  static Value unlessTrue(Value condition) {
    return matchPattern(condition, m_One()) ? Value() : condition;
  }

  /// A value per row, by the first thread of the row's four.
  void writeRow(int64_t r, Value at) {
    Value first = t.b.createOrFold<arith::CmpIOp>(
        t.loc, arith::CmpIPredicate::eq, grid.column, t.i32(0));
    MapBody emitted = body(0);
    emitted.emitRow(arith::ConstantIntOp::create(t.b, t.loc, 1, 1));
    for (auto [i, input] : llvm::enumerate(map.getInputs()))
      emitted.bindLanes(map.getBody().front().getArgument(1 + i),
                        {tiles[input].row.values[r]});
    emitted.predicate(t.bitAnd(first, exists(0, at)));
    emitted.emitLanes(LaneAnalysis(map, 1, 0), at, /*wide=*/false);
  }

  void writePairs(int64_t r, Value row) {
    int64_t lanes = knownDivisor(map.getExtent()[1]) % 2 ||
                            knownDivisor(map.getOrigin()[1]) % 2
                        ? 1
                        : 2;
    bool aligned = lanes == 2 &&
                   matchPattern(arguments.isAligned(t, map, lanes, 1), m_One());
    LaneAnalysis analysis(map, lanes, 1);
    Block &block = map.getBody().front();
    MapBody emitted = body(1);
    emitted.bind(block.getArgument(0), row);
    for (auto [i, input] : llvm::enumerate(map.getInputs()))
      if (tiles[input].kind == TileValue::Row)
        emitted.bind(block.getArgument(2 + i), tiles[input].row.values[r]);
    Value rowExists = exists(0, row);
    emitted.emitRow(rowExists);
    for (int64_t c = 0; c < map.getShape()[1] / 4; c += lanes) {
      for (auto [i, input] : llvm::enumerate(map.getInputs())) {
        TileValue &value = tiles[input];
        if (value.kind != TileValue::Matrix)
          continue;
        SmallVector<Value> elements;
        for (int64_t lane = 0; lane < lanes; ++lane)
          elements.push_back(value.fragment.element(r, c + lane));
        emitted.bindLanes(block.getArgument(2 + i), elements);
      }
      Value at = t.add(origin(1), wide(columnOffset(t, grid, c)));
      emitted.predicate(unlessTrue(t.bitAnd(rowExists, exists(1, at))));
      emitted.emitLanes(analysis, at, aligned);
    }
  }

  ThreadBuilder &t;
  KernelArguments &arguments;
  const WarpGrid &grid;
  tile::MapOp map;
  FragmentTiles &tiles;
  size_t rank;
};

} // namespace

LogicalResult emitFragmentWrite(ThreadBuilder &t, KernelArguments &arguments,
                                const WarpGrid &grid, tile::MapOp map,
                                FragmentTiles &tiles) {
  for (Value input : map.getInputs())
    if (const TileValue *value = tiles.find(input);
        !value || value->kind == TileValue::Staged ||
        (map.getShape().size() == 1 && value->kind != TileValue::Row))
      return map.emitOpError("writes what is in no registers");
  Writer(t, arguments, grid, map, tiles).run();
  return success();
}

} // namespace azulejo::gpu
