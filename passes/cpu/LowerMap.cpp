//===- LowerMap.cpp - tile.map as loops over vectors ----------------------===//
//
//   for each row                       (the axis that is not the lane axis)
//     uniform part of the body
//     for each whole vector of lanes   the rest of the body
//     one masked vector                when lanes are left over
//     folds to the row's element
//   padding of what the body did not reach
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/cpu/KernelLowering.h"

using namespace mlir;

namespace azulejo::cpu {

/// Where a fold starts within a row: the identity of its kind.
static Value foldIdentity(HostBuilder &h, Type element, StringRef kind,
                          int64_t lanes) {
  if (kind == "sum")
    return h.constant(element, 0, lanes);
  if (isa<FloatType>(element))
    return h.constant(element, -std::numeric_limits<double>::infinity(), lanes);
  return h.splat(
      arith::ConstantIntOp::create(h.b, h.loc, element,
                                   element.isInteger(64)
                                       ? std::numeric_limits<int64_t>::min()
                                       : std::numeric_limits<int32_t>::min()),
      lanes);
}

static bool isFold(tile::MapOp map, size_t result) {
  return cast<StringAttr>(map.getKinds()[result]).getValue() != "tile";
}

/// How many coordinates of an axis exist: clamp(extent - origin, 0, shape).
static Value validCount(HostBuilder &h, Value origin, Value extent,
                        int64_t shape) {
  return h.max(h.min(h.sub(extent, origin), h.i64(shape)), h.i64(0));
}

/// An input whose memory the result may take: same type, made in this block,
/// used here for the last time. Every element is read before it is written.
Value KernelLowering::reusableInput(tile::MapOp map, Value result) const {
  for (Value input : map.getInputs())
    if (input.getType() == result.getType() && input.hasOneUse() &&
        input.getDefiningOp() &&
        input.getDefiningOp()->getBlock() == map->getBlock() &&
        !isa<scf::ForOp>(input.getDefiningOp()) && map.getNumResults() == 1)
      return input;
  return {};
}

LogicalResult KernelLowering::lowerMap(HostBuilder &h, tile::MapOp map) {
  if (isDirect(map))
    return success(); // its dots read the view
  unsigned rank = map.getShape().size();
  if (rank < 1 || rank > 2)
    return map.emitOpError("has an unsupported rank for the CPU");
  bool first = false;
  for (Value value : map.getResults())
    first |= isLanesFirst(value);
  for (Value value : map.getInputs())
    first |= isLanesFirst(value);
  unsigned laneAxis = first || rank == 1 ? 0 : 1;

  size_t init = 0;
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (isFold(map, i)) {
      if (laneAxis != rank - 1)
        return map.emitOpError(
            "folds along the axis that is not the lane axis");
      tiles[result] = tiles[map.getInits()[init++]];
    } else if (Value reused = reusableInput(map, result)) {
      tiles[result] = tiles[reused];
    } else {
      allocate(h, result);
    }
  }
  Value laneCount =
      validCount(h, outer(map.getOrigin()[laneAxis]),
                 outer(map.getExtent()[laneAxis]), map.getShape()[laneAxis]);
  Value rowCount = h.i64(1);
  if (rank == 2) {
    unsigned rowAxis = 1 - laneAxis;
    rowCount =
        validCount(h, outer(map.getOrigin()[rowAxis]),
                   outer(map.getExtent()[rowAxis]), map.getShape()[rowAxis]);
  }
  // Uniform reads run once per row; a row without lanes must not read at all.
  Value any = arith::CmpIOp::create(h.b, h.loc, arith::CmpIPredicate::sgt,
                                    laneCount, h.i64(0));
  Value rows = h.constantOf(laneCount)
                   ? (*h.constantOf(laneCount) ? rowCount : h.i64(0))
                   : h.select(any, rowCount, h.i64(0));
  if (prefersTransposed(map, laneAxis)) {
    emitTransposed(h, map, rows, laneCount, laneAxis);
    padRest(h, map, rows, laneCount, laneAxis);
    return success();
  }
  h.loop(h.i64(0), rows, 1, {},
         [&](HostBuilder &h, Value row, ValueRange) -> SmallVector<Value> {
           LaneBody body(map, laneAxis, scratch);
           body.setStreaming(streaming);
           emitMapRow(h, map, body, row, laneCount, laneAxis);
           return {};
         });
  padRest(h, map, rows, laneCount, laneAxis);
  return success();
}

void KernelLowering::emitMapRow(HostBuilder &h, tile::MapOp map, LaneBody &body,
                                Value row, Value laneCount, unsigned laneAxis) {
  Block &block = map.getBody().front();
  unsigned rank = map.getShape().size();
  auto outerOf = [&](Value value) { return outer(value); };
  auto viewOf = [&](Value value) -> const ViewAccess & { return views[value]; };
  if (rank == 2)
    body.bindUniform(block.getArgument(1 - laneAxis),
                     h.add(outer(map.getOrigin()[1 - laneAxis]), row));
  // Inputs that are constant along the lanes: rank one, lanes along axis 1.
  for (auto [i, input] : llvm::enumerate(map.getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (rank == 2 && type.getRank() == 1 && laneAxis == 1)
      body.bindUniform(block.getArgument(rank + i),
                       h.load(elementAddress(h, tiles[input], h.i64(0), row),
                              type.getElementType()));
  }
  body.emitUniform(h, outerOf, viewOf);

  SmallVector<Value> folds;
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (isFold(map, i))
      folds.push_back(foldIdentity(
          h, cast<RankedTensorType>(result.getType()).getElementType(),
          cast<StringAttr>(map.getKinds()[i]).getValue(), lanes));
  Value whole = h.floorTo(laneCount, lanes);
  folds = h.unrolledLoop(h.i64(0), whole, lanes, schedule.knob("unroll"), folds,
                         [&](HostBuilder &h, Value lane, ValueRange carried) {
                           SmallVector<Value> next(carried);
                           emitLaneStep(h, map, body, row, lane, {}, laneAxis,
                                        next);
                           return next;
                         });
  if (h.constantOf(laneCount) != h.constantOf(whole) ||
      !h.constantOf(laneCount)) {
    // At most one turn: written as a loop so that folds carry through it.
    folds =
        h.loop(whole, laneCount, lanes, folds,
               [&](HostBuilder &h, Value lane, ValueRange carried) {
                 SmallVector<Value> next(carried);
                 Value mask = h.tailMask(h.sub(laneCount, lane), lanes);
                 emitLaneStep(h, map, body, row, lane, mask, laneAxis, next);
                 return next;
               });
  }
  size_t fold = 0;
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (!isFold(map, i))
      continue;
    StringRef kind = cast<StringAttr>(map.getKinds()[i]).getValue();
    Type element = cast<RankedTensorType>(result.getType()).getElementType();
    Value address = elementAddress(h, tiles[result], h.i64(0), row);
    Value folded = h.foldLanes(folds[fold++], kind);
    h.store(h.combine(h.load(address, element), folded, kind), address,
            element);
  }
}

void KernelLowering::emitLaneStep(HostBuilder &h, tile::MapOp map,
                                  LaneBody &body, Value row, Value lane,
                                  Value mask, unsigned laneAxis,
                                  SmallVectorImpl<Value> &folds) {
  Block &block = map.getBody().front();
  unsigned rank = map.getShape().size();
  Value coordinate = h.add(outer(map.getOrigin()[laneAxis]), lane);
  body.bindLinear(block.getArgument(laneAxis), coordinate,
                  knownMultiple(coordinate));
  for (auto [i, input] : llvm::enumerate(map.getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    bool perRow = rank == 2 && type.getRank() == 1;
    if (perRow && laneAxis == 1)
      continue;
    Value address =
        elementAddress(h, tiles[input], perRow ? h.i64(0) : row, lane);
    body.bindVector(block.getArgument(rank + i),
                    h.loadVector(address, type.getElementType(), lanes));
  }
  SmallVector<Value> values = body.emitLanes(
      h, lanes, mask, [&](Value value) { return outer(value); },
      [&](Value value) -> const ViewAccess & { return views[value]; });
  size_t fold = 0;
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    Type element = cast<RankedTensorType>(result.getType()).getElementType();
    StringRef kind = cast<StringAttr>(map.getKinds()[i]).getValue();
    Value value = values[i];
    if (kind != "tile") {
      if (mask)
        value = h.select(mask, value, foldIdentity(h, element, kind, lanes));
      folds[fold] = h.combine(folds[fold], value, kind);
      ++fold;
      continue;
    }
    if (mask) {
      double pad = cast<FloatAttr>(map.getPads()[i]).getValueAsDouble();
      value = h.select(mask, value, h.constant(element, pad, lanes));
    }
    h.storeVector(value, elementAddress(h, tiles[result], row, lane), element);
  }
}

void KernelLowering::padRest(HostBuilder &h, tile::MapOp map, Value rowCount,
                             Value laneCount, unsigned laneAxis) {
  unsigned rank = map.getShape().size();
  int64_t rowShape = rank == 2 ? map.getShape()[1 - laneAxis] : 1;
  int64_t laneShape = map.getShape()[laneAxis];
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (isFold(map, i))
      continue;
    const TileBuffer &buffer = tiles[result];
    double pad = cast<FloatAttr>(map.getPads()[i]).getValueAsDouble();
    Value fill = h.constant(buffer.element, pad, lanes);
    auto fillLanes = [&](HostBuilder &h, Value row, Value from) {
      h.loop(from, h.i64(laneShape), lanes, {},
             [&](HostBuilder &h, Value lane, ValueRange) -> SmallVector<Value> {
               h.storeVector(fill, elementAddress(h, buffer, row, lane),
                             buffer.element);
               return {};
             });
    };
    // Lanes past the last, partly filled vector, in the rows that exist.
    Value reached = h.mul(h.ceilDiv(laneCount, lanes), h.i64(lanes));
    if (!h.constantOf(reached) || *h.constantOf(reached) < laneShape)
      h.loop(h.i64(0), rowCount, 1, {},
             [&](HostBuilder &h, Value row, ValueRange) -> SmallVector<Value> {
               fillLanes(h, row, reached);
               return {};
             });
    if (!h.constantOf(rowCount) || *h.constantOf(rowCount) < rowShape)
      h.loop(rowCount, h.i64(rowShape), 1, {},
             [&](HostBuilder &h, Value row, ValueRange) -> SmallVector<Value> {
               fillLanes(h, row, h.i64(0));
               return {};
             });
  }
}

} // namespace azulejo::cpu
