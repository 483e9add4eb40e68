//===- BulkBox.cpp - an access that is a box of a tensor ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/BulkBox.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace azulejo::gpu {

using opset::Dim;

// What a tensor map can say (CUDA driver API, cuTensorMapEncodeTiled).
static constexpr size_t kMostAxes = 5;
static constexpr int64_t kMostBox = 256;

std::optional<BulkBox> BulkBox::find(const BulkAccess &access,
                                     kernel::SharedTileType tile,
                                     std::string &why) {
  BulkBox box;
  box.access = access;
  box.tile = tile;
  box.indices.assign(access.indices.begin(), access.indices.end());
  if (!box.findAxes(why))
    return std::nullopt;
  return box;
}

static tile::KernelOp kernelOf(BlockArgument view) {
  return cast<tile::KernelOp>(view.getOwner()->getParentOp());
}

/// The polynomial that a size of the kernel is; nothing for other values.
static std::optional<Dim> dimOf(Value value, tile::KernelOp kernel) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Dim(constant.getSExtValue());
  if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    std::optional<Dim> x = dimOf(product.getLhs(), kernel),
                       y = dimOf(product.getRhs(), kernel);
    return x && y ? std::optional(*x * *y) : std::nullopt;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  size_t views = kernel.getViews().size();
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      argument.getArgNumber() < views)
    return std::nullopt;
  Attribute symbol = kernel.getSymbols()[argument.getArgNumber() - views];
  return Dim::parse(cast<StringAttr>(symbol).getValue());
}

/// Elements of the view's axes `from` up to `to`.
std::optional<Dim> BulkBox::elements(size_t from, size_t to) const {
  Dim product(1);
  for (size_t axis = from; axis < to; ++axis) {
    StringRef text = kernelOf(view()).viewExtent(view().getArgNumber(), axis);
    std::optional<Dim> size = Dim::parse(text);
    if (!size)
      return std::nullopt;
    product = product * *size;
  }
  return product;
}

/// Whether the value is the number of elements of the axes `from` up to `to`.
bool BulkBox::isExtent(Value value, size_t from, size_t to) const {
  std::optional<Dim> dim = dimOf(value, kernelOf(view())),
                     size = elements(from, to);
  return dim && size && *dim == *size;
}

bool BulkBox::isOne(size_t axis) const {
  std::optional<Dim> size = elements(axis, axis + 1);
  return size && size->isConstant(1);
}

/// Adds the axes outside of `inner` that are walked with it as one by an axis
/// of the map: the inner index is x mod n, the next one (x / n) mod m, ..., the
/// last one what is left.
bool BulkBox::mergeOuter(size_t inner, unsigned mapAxis, Axis &axis) const {
  tile::MapOp map = access.map;
  auto isSingle = [&](size_t at) { // an axis of one element joins any
    return matchPattern(indices[at], m_Zero()) && isOne(at);
  };
  axis.index = map.getBody().front().getArgument(mapAxis);
  Value left = axis.index; // what the axes from `at` outwards are walked by
  for (size_t at = inner; indices[at] != left; --at, ++axis.merged) {
    bool none = llvm::all_of(llvm::seq<size_t>(0, at), isSingle);
    if (!isSingle(at)) {
      auto rest = indices[at].getDefiningOp<arith::RemUIOp>();
      if (!rest || rest.getLhs() != left ||
          !isExtent(rest.getRhs(), at, at + 1))
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
    if (none) { // nothing is left to be walked, unless it begins again
      axis.merged += static_cast<int64_t>(at);
      return isExtent(map.getExtent()[mapAxis], 0, inner + 1);
    }
  }
  return true;
}

/// Whether the value is the same at all points of the map.
bool BulkBox::isSame(Value value) const {
  return LaneAnalysis(access.map, 1, 0).kind(value) == LaneAnalysis::Row &&
         LaneAnalysis(access.map, 1, 1).kind(value) == LaneAnalysis::Row;
}

/// How the view is walked along the map's lanes.
bool BulkBox::findLanes(Axis &axis) {
  tile::MapOp map = access.map;
  Value lane = map.getBody().front().getArgument(access.laneAxis);
  // Behind elements that are the same for all, which end at 16 bytes: copies
  // of boxes that begin elsewhere end the device for the process.
  int64_t divisor = knownDivisor(map.getOrigin()[access.laneAxis]);
  Value walked = indices.back();
  while (auto sum = walked.getDefiningOp<arith::AddIOp>()) {
    bool left = isSame(sum.getLhs());
    if (!left && !isSame(sum.getRhs()))
      break;
    divisor =
        std::min(divisor, knownDivisor(left ? sum.getLhs() : sum.getRhs()));
    walked = left ? sum.getRhs() : sum.getLhs();
    shifted = true;
  }
  if (walked == lane)
    axis.index = indices.back();
  else if (shifted || !mergeOuter(indices.size() - 1, access.laneAxis, axis))
    return false;
  return divisor * kernel::storageBytes(tile.getElementType()) %
             kernel::kAccessBytes ==
         0;
}

bool BulkBox::findAxes(std::string &why) {
  auto refuse = [&](const char *reason) {
    why = reason;
    return false;
  };
  Axis lanes;
  if (indices.size() < 2 || !findLanes(lanes))
    return refuse("its rows are not contiguous, or do not begin at multiples "
                  "of 16 bytes");
  if (tile.getRows() > kMostBox)
    return refuse("a box has at most 256 rows");
  axes.push_back(lanes);
  bool found = false;
  for (size_t at = indices.size() - lanes.merged; at > 0;) {
    Axis axis;
    size_t inner = at - 1;
    if (isSame(indices[inner])) {
      axis.index = indices[inner];
    } else {
      if (found || !mergeOuter(inner, 1 - access.laneAxis, axis))
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
  tile::MapOp map = access.map;
  bool byMemory =
      llvm::any_of(opsBehind(indices, map.getBody().front()),
                   [](Operation *op) { return isa<tile::ReadOp>(op); });
  return !byMemory || refuse("its indices come from memory");
}

/// Whether the value is the size of the view along an axis of the map.
bool BulkBox::isEndOf(Value value, unsigned axis) const {
  if (shifted && axis == access.laneAxis)
    return false;
  size_t to = indices.size();
  for (const Axis &mapped : axes) {
    size_t from = to - mapped.merged;
    if (axis == access.laneAxis || mapped.isRow)
      return isExtent(value, from, to);
    to = from;
  }
  return false;
}

bool BulkBox::endsWithTensor(unsigned axis) const {
  tile::MapOp map = access.map;
  return isAlwaysInside(map, axis) || isEndOf(map.getExtent()[axis], axis);
}

/// Whether memory takes part in computing a scalar of the program.
static bool comesFromMemory(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<tile::ReadOp>(op) ||
                llvm::any_of(op->getOperands(), comesFromMemory));
}

bool BulkBox::endsByPosition(unsigned axis) const {
  tile::MapOp map = access.map;
  SmallVector<Value> bounds{map.getExtent()[axis]};
  bool atEnd = false;
  while (!bounds.empty()) {
    Value bound = bounds.pop_back_val();
    if (auto least = bound.getDefiningOp<arith::MinSIOp>())
      bounds.append({least.getLhs(), least.getRhs()});
    else if (auto most = bound.getDefiningOp<arith::MaxSIOp>();
             most && matchPattern(most.getRhs(), m_Zero()))
      bounds.push_back(most.getLhs()); // an empty map
    else if (isEndOf(bound, axis))
      atEnd = true;
    else if (comesFromMemory(bound))
      return false;
  }
  return atEnd;
}

void BulkBox::limitRows(int64_t rows) {
  tile = kernel::SharedTileType::get(tile.getContext(), tile.getElementType(),
                                     1, rows, tile.getColumns());
}

kernel::BulkMapAttr BulkBox::mapAttr() const {
  SmallVector<int64_t> merged, box;
  for (const Axis &axis : axes) {
    merged.push_back(axis.merged);
    box.push_back(box.empty()  ? tile.slabColumns()
                  : axis.isRow ? tile.getRows()
                               : 1);
  }
  return kernel::BulkMapAttr::get(view().getContext(), view().getArgNumber(),
                                  merged, box, tile.slabRowBytes());
}

/// A value of the body where its coordinates are `at`, or one from outside.
static Value valueAt(ThreadBuilder &t, Block &body,
                     const KernelArguments &arguments, ArrayRef<Value> at,
                     Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &body)
    return at[argument.getArgNumber()];
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body)
    return arguments.scalar(value);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueAt(t, body, arguments, at, operand));
  return t.cloneScalar(*op, operands);
}

SmallVector<Value> BulkBox::coordinates(ThreadBuilder &t,
                                        const KernelArguments &arguments,
                                        Value row, int64_t lane) const {
  tile::MapOp map = access.map;
  SmallVector<Value> at{arguments.scalar(map.getOrigin()[0]),
                        arguments.scalar(map.getOrigin()[1])};
  Value &rowAt = at[1 - access.laneAxis], &laneAt = at[access.laneAxis];
  if (row)
    rowAt = t.add(
        rowAt, t.b.createOrFold<arith::ExtUIOp>(t.loc, t.b.getI64Type(), row));
  laneAt = t.add(laneAt, t.i64(lane));
  SmallVector<Value> result;
  for (const Axis &axis : axes)
    result.push_back(t.b.createOrFold<arith::TruncIOp>(
        t.loc, t.b.getI32Type(),
        valueAt(t, map.getBody().front(), arguments, at, axis.index)));
  return result;
}

} // namespace azulejo::gpu
