//===- KernelArguments.cpp - what a kernel is called with -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/KernelArguments.h"

#include "ir/schedule/Strips.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace azulejo::gpu {

LogicalResult KernelArguments::bind(ThreadBuilder &t, Block &entry,
                                    int64_t rasterGroup) {
  if (failed(bindArguments(t, entry)))
    return failure();
  placeItem(t, kernel::BlockIdOp::create(t.b, t.loc), rasterGroup);
  return success();
}

LogicalResult KernelArguments::bindArguments(ThreadBuilder &t, Block &entry) {
  auto next = [&] { return entry.addArgument(t.b.getI64Type(), t.loc); };
  for (BlockArgument view : source.getViews()) {
    auto type = cast<tile::ViewType>(view.getType());
    ViewAccess access;
    access.base = next();
    access.storage = type.getElementType();
    for (int64_t axis = 0; axis + 1 < type.getRank(); ++axis)
      access.strides.push_back(next());
    if (type.getRank() > 0)
      access.strides.push_back(t.i64(1));
    views[view] = access;
  }
  for (BlockArgument symbol : source.getSymbolArgs())
    scalars[symbol] = next();
  return bindGrid(t);
}

LogicalResult KernelArguments::bindGrid(ThreadBuilder &t) {
  llvm::StringMap<Value> symbols;
  for (auto [symbol, arg] :
       llvm::zip(source.getSymbols().getAsValueRange<StringAttr>(),
                 source.getSymbolArgs()))
    symbols[symbol] = scalars[arg];
  for (auto [extent, tile] :
       llvm::zip(source.getGridExtents().getAsValueRange<StringAttr>(),
                 source.getGridTiles())) {
    int64_t constant;
    Value size;
    if (!extent.getAsInteger(10, constant))
      size = t.i64(constant);
    else if (auto it = symbols.find(extent); it != symbols.end())
      size = it->second;
    else
      return source.emitOpError("grid extent '") << extent << "' is no symbol";
    gridSteps.push_back(t.ceilDiv(size, tile));
  }
  return success();
}

void KernelArguments::clusterItems(ThreadBuilder &t, int64_t blocks) {
  clustered = blocks;
  Value &steps = gridSteps[gridSteps.size() - 2];
  steps = t.ceilDiv(steps, blocks);
}

Value KernelArguments::itemCount(ThreadBuilder &t) const {
  Value count = t.i64(clustered);
  for (Value steps : gridSteps)
    count = t.mul(count, steps);
  return count;
}

bool KernelArguments::follows(Value value, int64_t axis) {
  Operation *op = value.getDefiningOp();
  if (auto id = dyn_cast_or_null<tile::ProgramIdOp>(op))
    return static_cast<int64_t>(id.getAxis()) == axis;
  return op && llvm::any_of(op->getOperands(), [&](Value operand) {
           return follows(operand, axis);
         });
}

bool KernelArguments::lastTakesLongest() {
  auto last = static_cast<int64_t>(source.getGridTiles().size()) - 1;
  return llvm::any_of(source.getBody().front().getOps<scf::ForOp>(),
                      [&](scf::ForOp loop) {
                        return follows(loop.getUpperBound(), last) &&
                               !follows(loop.getLowerBound(), last);
                      });
}

using Pair = std::pair<Value, Value>;

/// Quotient and rest.
static Pair split(ThreadBuilder &t, Value x, Value by) {
  return {t.b.createOrFold<arith::DivUIOp>(t.loc, x, by),
          t.b.createOrFold<arith::RemUIOp>(t.loc, x, by)};
}

/// Row and column of an item of a plane that is walked in strips of `height`
/// rows, the rows of one fastest. The last strip may be lower.
static Pair placeInStrips(ThreadBuilder &t, Value item, Value rows,
                          Value columns, Value height) {
  auto [strip, inStrip] = split(t, item, t.mul(height, columns));
  Value first = t.mul(strip, height);
  auto [column, row] = split(t, inStrip, t.min(t.sub(rows, first), height));
  return {t.add(first, row), column};
}

void KernelArguments::placeItem(ThreadBuilder &t, Value item,
                                int64_t rasterGroup, bool paired) {
  programIds.assign(gridSteps.size(), Value());
  Value member;
  if (clustered > 1)
    std::tie(item, member) = split(t, item, t.i64(clustered));
  // Which walk of the last axis this is.
  Value walk = paired ? split(t, item, gridSteps.back()).first : Value();
  size_t axis = gridSteps.size();
  bool uneven = lastTakesLongest();
  if (uneven && !paired) {
    // Longest first: the last axis is walked backwards, and slowest within
    // strips of so many items that their operands stay in the cache.
    Value columns = gridSteps[--axis], rows = t.i64(1);
    for (size_t other = 0; other < axis; ++other)
      rows = t.mul(rows, gridSteps[other]);
    Value height = t.max(
        t.b.createOrFold<arith::DivUIOp>(t.loc, t.i64(schedule::kStripItems),
                                         t.max(columns, t.i64(1))),
        t.i64(1));
    auto [row, column] = placeInStrips(t, item, rows, columns, height);
    programIds[axis] = t.sub(t.sub(columns, t.i64(1)), column);
    item = row;
  } else if (rasterGroup > 1 && axis >= 2) {
    Value rows = gridSteps[axis - 2], columns = gridSteps[axis - 1];
    auto [rest, inPlane] = split(t, item, t.mul(rows, columns));
    std::tie(programIds[axis - 2], programIds[axis - 1]) =
        placeInStrips(t, inPlane, rows, columns,
                      t.i64(std::max<int64_t>(1, rasterGroup / clustered)));
    item = rest;
    axis -= 2;
  }
  for (; axis-- > 1;)
    std::tie(item, programIds[axis]) = split(t, item, gridSteps[axis]);
  if (!programIds.empty() && !programIds[0])
    programIds[0] = item;
  if (member) {
    Value &id = programIds[gridSteps.size() - 2];
    id = t.add(t.mul(id, t.i64(clustered)), member);
  }
  if (!uneven || !paired)
    return;
  Value &id = programIds.back(), number = id;
  Value last = t.sub(gridSteps.back(), t.i64(1));
  auto isOdd = [&](Value x) {
    return t.b.createOrFold<arith::TruncIOp>(t.loc, t.b.getI1Type(), x);
  };
  // Every other walk goes backwards, so that the middle items of two of them
  // are a pair where the axis is odd.
  number = t.b.createOrFold<arith::SelectOp>(t.loc, isOdd(walk),
                                             t.sub(last, number), number);
  Value half = t.b.createOrFold<arith::ShRUIOp>(t.loc, number, t.i64(1));
  Value odd = isOdd(number);
  id = t.b.createOrFold<arith::SelectOp>(t.loc, odd, half, t.sub(last, half));
}

LogicalResult KernelArguments::emitRead(ThreadBuilder &t, tile::ReadOp read) {
  const ViewAccess &access = view(read.getView());
  Value offset = t.i64(0), predicate;
  for (auto [index, stride] : llvm::zip(read.getIndices(), access.strides)) {
    if (!scalars.count(index))
      return read.emitOpError("has an index that is no scalar of the block");
    offset = t.add(offset, t.mul(scalar(index), stride));
  }
  if (read.getPredicate()) {
    if (!scalars.count(read.getPredicate()))
      return read.emitOpError("has a predicate that is no scalar of the block");
    predicate = scalar(read.getPredicate());
  }
  scalars[read] =
      kernel::LoadOp::create(t.b, t.loc, TypeRange{read.getType()}, access.base,
                             offset, predicate, access.storage,
                             kernel::storageBytes(access.storage))
          ->getResult(0);
  return success();
}

LogicalResult KernelArguments::emitScalar(ThreadBuilder &t, Operation &op) {
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    if (id.getAxis() >= programIds.size())
      return op.emitOpError("names an axis that the grid does not have");
    scalars[id] = programIds[id.getAxis()];
    return success();
  }
  if (op.getNumResults() != 1)
    return op.emitOpError("is no scalar op");
  if (auto read = dyn_cast<tile::ReadOp>(op))
    return emitRead(t, read);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    auto it = scalars.find(operand);
    if (it == scalars.end())
      return op.emitOpError("needs a value that is no scalar of the block");
    operands.push_back(it->second);
  }
  scalars[op.getResult(0)] = t.cloneScalar(op, operands);
  return success();
}

LogicalResult KernelArguments::emitScalars(ThreadBuilder &t, Block &block) {
  for (Operation &op : block)
    if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
        isa<tile::ProgramIdOp, tile::ReadOp>(op))
      if (failed(emitScalar(t, op)))
        return failure();
  return success();
}

/// Views that are read or written in wide accesses, with the alignment these
/// ask for; by argument number, so sorted and once each.
void KernelArguments::collectWide(tile::MapOp map, const LaneAnalysis &lanes,
                                  WideViews &wide) const {
  map.walk([&](Operation *op) {
    auto consider = [&](Value operand, ValueRange indices) {
      if (lanes.isContiguous(indices))
        wide[cast<BlockArgument>(operand).getArgNumber()] =
            accessAlignment(view(operand).storage, lanes.width);
    };
    if (auto read = dyn_cast<tile::ReadOp>(op))
      consider(read.getView(), read.getIndices());
    else if (auto write = dyn_cast<tile::WriteOp>(op))
      consider(write.getView(), write.getIndices());
  });
}

/// One or over all addresses and outer strides, in bytes, has no low bit set
/// when all are aligned.
Value KernelArguments::emitAligned(ThreadBuilder &t,
                                   const WideViews &wide) const {
  Value low = t.i64(0);
  for (auto [number, alignment] : wide) {
    const ViewAccess &access =
        view(source->getRegion(0).front().getArgument(number));
    Value bits = access.base;
    Value bytes = t.i64(kernel::storageBytes(access.storage));
    for (Value stride : ArrayRef(access.strides).drop_back())
      bits = t.bitOr(bits, t.mul(stride, bytes));
    low = t.bitOr(low, t.bitAnd(bits, t.i64(alignment - 1)));
  }
  return t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq, low,
                                         t.i64(0));
}

Value KernelArguments::areAligned(ThreadBuilder &t, ArrayRef<tile::MapOp> maps,
                                  int64_t width) {
  WideViews wide;
  for (tile::MapOp map : maps)
    collectWide(map, LaneAnalysis(map, width), wide);
  return emitAligned(t, wide);
}

Value KernelArguments::isAligned(ThreadBuilder &t, tile::MapOp map,
                                 int64_t width, unsigned laneAxis) {
  WideViews wide;
  collectWide(map, LaneAnalysis(map, width, laneAxis), wide);
  if (assumeAligned) {
    for (auto [number, alignment] : wide)
      assumed.insert(number);
    return arith::ConstantIntOp::create(t.b, t.loc, 1, 1);
  }
  return emitAligned(t, wide);
}

} // namespace azulejo::gpu
