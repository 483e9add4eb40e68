//===- BulkOperand.cpp - a product's operand by bulk copies ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/BulkOperand.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::gpu {

// What a tensor map can say (CUDA driver API, cuTensorMapEncodeTiled).
static constexpr size_t kMostAxes = 5;
static constexpr int64_t kMostBox = 256;

tile::ReadOp soleRead(tile::MapOp map, Type element) {
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

unsigned chooseLaneAxis(tile::MapOp map) {
  int score[2] = {0, 0};
  for (unsigned axis : {0u, 1u}) {
    LaneAnalysis lanes(map, 1, axis);
    map.walk([&](tile::ReadOp read) {
      score[axis] += lanes.isContiguous(read.getIndices());
    });
  }
  return score[0] > score[1] ? 0 : 1;
}

LogicalResult BulkOperand::refuse(const Twine &why) const {
  return tile::MapOp(source)->emitOpError("cannot be copied in bulk: ") << why;
}

FailureOr<BulkOperand> BulkOperand::create(tile::MapOp map, Type element,
                                           unsigned contracted) {
  BulkOperand operand;
  operand.source = map;
  operand.read = soleRead(map, element);
  if (!operand.read)
    return operand.refuse("it computes");
  operand.laneAxis = chooseLaneAxis(map);
  operand.type = kernel::SharedTileType::get(
      map.getContext(), element, 1, map.getShape()[1 - operand.laneAxis],
      map.getShape()[operand.laneAxis]);
  if (failed(operand.findAxes()) || failed(operand.checkContracted(contracted)))
    return failure();
  return operand;
}

BlockArgument BulkOperand::view() const {
  return cast<BlockArgument>(tile::ReadOp(read).getView());
}

/// Whether the value is the size of the view along an axis.
bool BulkOperand::isExtent(Value value, unsigned axis) const {
  auto kernel = tile::MapOp(source)->getParentOfType<tile::KernelOp>();
  StringRef text = kernel.viewExtent(view().getArgNumber(), axis);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return text == std::to_string(constant.getSExtValue());
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return false;
  size_t symbol = argument.getArgNumber() - kernel.getViews().size();
  return argument.getArgNumber() >= kernel.getViews().size() &&
         text == cast<StringAttr>(kernel.getSymbols()[symbol]).getValue();
}

bool BulkOperand::isOne(unsigned axis) const {
  auto kernel = tile::MapOp(source)->getParentOfType<tile::KernelOp>();
  return kernel.viewExtent(view().getArgNumber(), axis) == "1";
}

/// Adds the axes outside of `inner` that are walked with it as one by `row`:
/// the inner index is row mod n, the next one (row / n) mod m, ..., the last
/// one what is left.
bool BulkOperand::mergeOuter(size_t inner, Value row, Axis &axis) const {
  ValueRange indices = tile::ReadOp(read).getIndices();
  auto isSingle = [&](size_t at) { // an axis of one element joins any
    return matchPattern(indices[at], m_Zero()) && isOne(at);
  };
  Value left = row; // what the axes from `at` outwards are walked by
  axis.index = row;
  for (size_t at = inner; indices[at] != left; --at, ++axis.merged) {
    bool none = llvm::all_of(llvm::seq<size_t>(0, at), isSingle);
    if (!isSingle(at)) {
      auto rest = indices[at].getDefiningOp<arith::RemUIOp>();
      if (!rest || rest.getLhs() != left || !isExtent(rest.getRhs(), at))
        return false;
      Value outer;
      for (Operation *user : left.getUsers())
        if (auto quotient = dyn_cast<arith::DivUIOp>(user);
            quotient && quotient.getLhs() == left &&
            quotient.getRhs() == rest.getRhs())
          outer = quotient;
      if (!outer && !none)
        return false;
      left = outer;
    }
    if (none) { // nothing is left to be walked
      axis.merged += static_cast<int64_t>(at);
      return true;
    }
  }
  return true;
}

LogicalResult BulkOperand::findAxes() {
  tile::MapOp map = source;
  ValueRange indices = tile::ReadOp(read).getIndices();
  Block &body = map.getBody().front();
  Value row = body.getArgument(1 - laneAxis), lane = body.getArgument(laneAxis);
  if (indices.size() < 2 || indices.back() != lane)
    return refuse("its rows are not contiguous");
  if (type.getRows() > kMostBox)
    return refuse("a box has at most 256 rows");
  axes.push_back({1, lane, false});
  LaneAnalysis alongLanes(map, 1, laneAxis), alongRows(map, 1, 1 - laneAxis);
  auto same = [&](Value index) {
    return alongLanes.kind(index) == LaneAnalysis::Row &&
           alongRows.kind(index) == LaneAnalysis::Row;
  };
  bool found = false;
  for (size_t at = indices.size() - 1; at > 0;) {
    Axis axis;
    size_t inner = at - 1;
    if (same(indices[inner])) {
      axis.index = indices[inner];
    } else {
      if (found || !mergeOuter(inner, row, axis))
        return refuse("its rows are no box of the tensor");
      found = axis.isRow = true;
    }
    at -= axis.merged;
    axes.push_back(axis);
  }
  if (!found)
    return refuse("its rows are all the same");
  if (axes.size() > kMostAxes)
    return refuse("a tensor map has at most five axes");
  bool byMemory = llvm::any_of(opsBehindIndices(read), [](Operation *op) {
    return isa<tile::ReadOp>(op);
  });
  return byMemory ? refuse("its indices come from memory") : success();
}

/// What lies beyond the extent in the contracted axis must be zero.
LogicalResult BulkOperand::checkContracted(unsigned contracted) {
  tile::MapOp map = source;
  if (isAlwaysInside(map, contracted))
    return success();
  Value extent = map.getExtent()[contracted];
  ValueRange indices = tile::ReadOp(read).getIndices();
  size_t axis = indices.size() - 1;
  if (contracted != laneAxis) {
    Value row = map.getBody().front().getArgument(contracted);
    axis = llvm::find(indices, row) - indices.begin();
  }
  if (axis < indices.size() && isExtent(extent, axis))
    return success();
  return refuse("the tensor goes on where its contracted elements end");
}

kernel::BulkMapAttr BulkOperand::mapAttr() const {
  SmallVector<int64_t> merged, box;
  for (const Axis &axis : axes) {
    merged.push_back(axis.merged);
    box.push_back(box.empty()  ? type.slabColumns()
                  : axis.isRow ? type.getRows()
                               : 1);
  }
  return kernel::BulkMapAttr::get(tile::MapOp(source).getContext(),
                                  view().getArgNumber(), merged, box,
                                  type.slabRowBytes());
}

void BulkOperand::allocate(ThreadBuilder &t, int64_t stages) {
  ring = kernel::TileAllocOp::create(
      t.b, t.loc,
      kernel::SharedTileType::get(t.b.getContext(), type.getElementType(),
                                  stages, type.getRows(), type.getColumns()),
      IntegerAttr());
}

/// A value of the body at the tile's first element, or one from outside.
static Value atOrigin(ThreadBuilder &t, tile::MapOp map,
                      const KernelArguments &arguments, Value value) {
  Block &body = map.getBody().front();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &body)
    return arguments.scalar(map.getOrigin()[argument.getArgNumber()]);
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body)
    return arguments.scalar(value);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(atOrigin(t, map, arguments, operand));
  return t.cloneScalar(*op, operands);
}

void BulkOperand::issue(ThreadBuilder &t, const KernelArguments &arguments,
                        Value tensorMap, Value stage, Value phases) const {
  SmallVector<Value> coordinates;
  for (const Axis &axis : axes)
    coordinates.push_back(t.b.createOrFold<arith::TruncIOp>(
        t.loc, t.b.getI32Type(), atOrigin(t, source, arguments, axis.index)));
  for (int64_t slab = 0; slab < type.slabs(); ++slab) {
    SmallVector<Value> at(coordinates);
    at[0] = t.add(at[0], t.i32(slab * type.slabColumns()));
    kernel::BulkLoadOp::create(t.b, t.loc, tensorMap, at, ring, stage, slab,
                               /*row=*/0, phases, stage);
  }
}

} // namespace azulejo::gpu
