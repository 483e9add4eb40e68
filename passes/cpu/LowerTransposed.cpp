//===- LowerTransposed.cpp - maps whose reads run along the rows ----------===//
//
// A tile whose lanes run along one axis may be filled from memory that is
// contiguous along the other: K x N from weights stored N x K, or queries side
// by side from rows of channels. Reading along the lanes would be a gather per
// vector. Instead W rows are read for each of W lanes, as contiguous vectors,
// and the W x W block is transposed in registers:
//
//   for each W lanes, for each W rows
//     for l in 0..W-1: v[l] = body at lane l, rows 0..W-1
//     transpose v
//     for r in 0..W-1: store v[r] as lanes of row r
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/cpu/KernelLowering.h"

using namespace mlir;

namespace azulejo::cpu {

/// Whether `value` is computed from `coordinate` within its block.
static bool dependsOn(Value value, Value coordinate) {
  if (value == coordinate)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != coordinate.getParentBlock())
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return dependsOn(operand, coordinate);
  });
}

/// coordinate + something that does not depend on it.
static bool isShifted(Value value, Value coordinate) {
  if (value == coordinate)
    return true;
  auto add = value.getDefiningOp<arith::AddIOp>();
  return add && ((isShifted(add.getLhs(), coordinate) &&
                  !dependsOn(add.getRhs(), coordinate)) ||
                 (isShifted(add.getRhs(), coordinate) &&
                  !dependsOn(add.getLhs(), coordinate)));
}

bool KernelLowering::prefersTransposed(tile::MapOp map,
                                       unsigned laneAxis) const {
  // The body is written out once per lane, so it must be short.
  constexpr size_t kLongestBody = 8;
  Block &block = map.getBody().front();
  if (map.getShape().size() != 2 || map.getNumResults() != 1 ||
      !map.getInputs().empty() || !map.getInits().empty() ||
      cast<FloatAttr>(map.getPads()[0]).getValueAsDouble() != 0 ||
      block.getOperations().size() > kLongestBody)
    return false;
  Value lane = block.getArgument(laneAxis),
        row = block.getArgument(1 - laneAxis);
  bool found = false;
  for (Operation &op : block.without_terminator()) {
    if (isa<tile::WriteOp>(op))
      return false;
    auto read = dyn_cast<tile::ReadOp>(op);
    if (!read || read.getIndices().empty())
      continue;
    ValueRange indices = read.getIndices();
    bool strided = llvm::any_of(indices.drop_back(), [&](Value index) {
      return dependsOn(index, lane);
    });
    if (!strided)
      continue;
    // Contiguous along the rows, or there is nothing to gain.
    if (read.getPredicate() || dependsOn(indices.back(), lane) ||
        !isShifted(indices.back(), row))
      return false;
    for (Value index : indices.drop_back())
      if (dependsOn(index, row))
        return false;
    found = true;
  }
  return found;
}

/// Transposes W vectors of W lanes in log2(W) rounds of pairwise exchanges.
static void transpose(HostBuilder &h, SmallVectorImpl<Value> &v) {
  int32_t width = static_cast<int32_t>(v.size());
  for (int32_t step = 1; step < width; step *= 2) {
    SmallVector<int32_t> low, high;
    for (int32_t j = 0; j < width; ++j) {
      bool upper = j & step;
      low.push_back(upper ? width + j - step : j);
      high.push_back(upper ? width + j : j + step);
    }
    for (int32_t i = 0; i < width; ++i) {
      if (i & step)
        continue;
      Value x = v[i], y = v[i + step];
      v[i] = LLVM::ShuffleVectorOp::create(h.b, h.loc, x, y, low);
      v[i + step] = LLVM::ShuffleVectorOp::create(h.b, h.loc, x, y, high);
    }
  }
}

void KernelLowering::emitTransposed(HostBuilder &h, tile::MapOp map,
                                    Value rowCount, Value laneCount,
                                    unsigned laneAxis) {
  Block &block = map.getBody().front();
  const TileBuffer &buffer = tiles[map.getResult(0)];
  auto outerOf = [&](Value value) { return outer(value); };
  auto viewOf = [&](Value value) -> const ViewAccess & { return views[value]; };
  Value lastLane = h.sub(laneCount, h.i64(1));
  Value rowOrigin = outer(map.getOrigin()[1 - laneAxis]);
  Value laneOrigin = outer(map.getOrigin()[laneAxis]);
  Value zero = h.constant(buffer.element, 0, lanes);
  h.loop(h.i64(0), laneCount, lanes, {},
         [&](HostBuilder &h, Value lane, ValueRange) -> SmallVector<Value> {
           Value laneMask = h.tailMask(h.sub(laneCount, lane), lanes);
           h.loop(h.i64(0), rowCount, lanes, {},
                  [&](HostBuilder &h, Value row,
                      ValueRange) -> SmallVector<Value> {
                    Value rowMask = h.tailMask(h.sub(rowCount, row), lanes);
                    SmallVector<Value> columns;
                    for (int64_t l = 0; l < lanes; ++l) {
                      // Lanes past the last read the last one again and are
                      // blanked below.
                      Value at = h.min(h.add(lane, h.i64(l)), lastLane);
                      LaneBody body(map, 1 - laneAxis, scratch);
                      body.bindUniform(block.getArgument(laneAxis),
                                       h.add(laneOrigin, at));
                      body.emitUniform(h, outerOf, viewOf);
                      Value first = h.add(rowOrigin, row);
                      body.bindLinear(block.getArgument(1 - laneAxis), first,
                                      knownMultiple(first));
                      columns.push_back(body.emitLanes(h, lanes, rowMask,
                                                       outerOf, viewOf)[0]);
                    }
                    transpose(h, columns);
                    for (int64_t r = 0; r < lanes; ++r) {
                      Value value = h.select(laneMask, columns[r], zero);
                      h.storeVector(
                          value,
                          elementAddress(h, buffer, h.add(row, h.i64(r)), lane),
                          buffer.element);
                    }
                    return {};
                  });
           return {};
         });
}

} // namespace azulejo::cpu
