//===- FragmentMap.cpp - an elementwise map on fragments ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/FragmentMap.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace azulejo::gpu {

FragmentMap::FragmentMap(ThreadBuilder &t, const KernelArguments &arguments,
                         const WarpGrid &grid, tile::MapOp map,
                         ArrayRef<FragmentInput> inputs)
    : t(t), arguments(arguments), grid(grid), map(map), inputs(inputs) {
  warpRows = map.getShape()[0] / grid.warpsM;
  warpColumns =
      static_cast<int64_t>(llvm::alignTo(map.getShape()[1], kBlockRows)) /
      grid.warpsN;
  rows = warpRows / 8;
  columns = warpColumns / 4;
}

void FragmentMap::placeWarp() {
  auto wide = [&](Value x) -> Value {
    return arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), x);
  };
  rowBase = t.add(arguments.scalar(map.getOrigin()[0]),
                  wide(t.mul(grid.warpM, t.i32(warpRows))));
  columnBase = t.add(arguments.scalar(map.getOrigin()[1]),
                     wide(t.mul(grid.warpN, t.i32(warpColumns))));
  auto end = [&](unsigned axis) {
    Value past = t.add(arguments.scalar(map.getOrigin()[axis]),
                       t.i64(map.getShape()[axis]));
    return t.min(past, arguments.scalar(map.getExtent()[axis]));
  };
  rowEnd = end(0);
  columnEnd = end(1);
  Block &body = map.getBody().front();
  Spread row, column;
  row.on = OnRow;
  for (int64_t r = 0; r < rows; ++r)
    row.values.push_back(t.add(rowBase, wide(rowOffset(t, grid, r))));
  column.on = OnColumn;
  for (int64_t c = 0; c < columns; ++c)
    column.values.push_back(t.add(columnBase, wide(columnOffset(t, grid, c))));
  spreads[body.getArgument(0)] = row;
  spreads[body.getArgument(1)] = column;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Spread element;
    element.on = OnRow;
    if (input.row) {
      element.values = input.row->values;
    } else {
      element.on = OnRow | OnColumn;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          element.values.push_back(input.fragment->element(r, c));
    }
    spreads[body.getArgument(2 + i)] = element;
  }
}

// Conditions over the warp's rectangle.

FragmentMap::Affine FragmentMap::affineOf(Value value) {
  Block &body = map.getBody().front();
  if (value == body.getArgument(0))
    return {1, 0, t.i64(0)};
  if (value == body.getArgument(1))
    return {0, 1, t.i64(0)};
  if (value.getParentBlock() != &body)
    return {0, 0, arguments.scalar(value)};
  if (std::optional<int64_t> constant = ThreadBuilder::constantOf(value))
    return {0, 0, t.i64(*constant)};
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp>(op))
    return {};
  Affine x = affineOf(op->getOperand(0)), y = affineOf(op->getOperand(1));
  if (!x || !y)
    return {};
  if (isa<arith::AddIOp>(op))
    return {x.onRow + y.onRow, x.onColumn + y.onColumn, t.add(x.rest, y.rest)};
  return {x.onRow - y.onRow, x.onColumn - y.onColumn, t.sub(x.rest, y.rest)};
}

FragmentMap::Affine FragmentMap::difference(arith::CmpIOp compare) {
  using P = arith::CmpIPredicate;
  P p = compare.getPredicate();
  if (!compare.getLhs().getType().isIndex() ||
      !(p == P::slt || p == P::sle || p == P::sgt || p == P::sge))
    return {};
  Affine x = affineOf(compare.getLhs()), y = affineOf(compare.getRhs());
  if (!x || !y)
    return {};
  return {x.onRow - y.onRow, x.onColumn - y.onColumn, t.sub(x.rest, y.rest)};
}

/// A condition that is the same for the whole warp and implies the comparison
/// for every element; null if there is none.
Value FragmentMap::alwaysHolds(arith::CmpIOp compare) {
  Affine affine = difference(compare);
  if (!affine)
    return {};
  using P = arith::CmpIPredicate;
  P p = compare.getPredicate();
  bool isLess = p == P::slt || p == P::sle;
  // The corner where the difference is greatest (least).
  Value corner = affine.rest;
  auto along = [&](int64_t factor, Value base, int64_t size) {
    bool atEnd = (factor > 0) == isLess;
    Value at = atEnd ? t.add(base, t.i64(size - 1)) : base;
    corner = t.add(corner, t.mul(at, t.i64(factor)));
  };
  along(affine.onRow, rowBase, warpRows);
  along(affine.onColumn, columnBase, warpColumns);
  return t.b.createOrFold<arith::CmpIOp>(t.loc, p, corner, t.i64(0));
}

FragmentMap::Spread FragmentMap::compareAll(arith::CmpIPredicate predicate,
                                            const Affine &affine) {
  auto wide = [&](Value x) -> Value {
    return arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), x);
  };
  Value first = affine.rest;
  first = t.add(first,
                t.mul(t.add(rowBase, wide(grid.group)), t.i64(affine.onRow)));
  first = t.add(first, t.mul(t.add(columnBase, wide(grid.column)),
                             t.i64(affine.onColumn)));
  // The constants are small, so 32 bits are enough once it is clamped.
  constexpr int64_t kFar = 1 << 30;
  first = t.max(t.min(first, t.i64(kFar)), t.i64(-kFar));
  first = arith::TruncIOp::create(t.b, t.loc, t.b.getI32Type(), first);
  Spread spread;
  spread.on = (affine.onRow ? OnRow : 0u) | (affine.onColumn ? OnColumn : 0u);
  std::map<int64_t, Value> known;
  for (int64_t r = 0; r < (affine.onRow ? rows : 1); ++r)
    for (int64_t c = 0; c < (affine.onColumn ? columns : 1); ++c) {
      int64_t constant = affine.onRow * (r / 2 * kBlockRows + r % 2 * 8) +
                         affine.onColumn * (c / 2 * kBlockColumns + c % 2);
      Value &slot = known[constant];
      if (!slot)
        slot = arith::CmpIOp::create(t.b, t.loc, predicate, first,
                                     t.i32(-constant));
      spread.values.push_back(slot);
    }
  return spread;
}

// The body.

Value FragmentMap::at(Value value, int64_t r, int64_t c) {
  auto it = spreads.find(value);
  if (it == spreads.end())
    return arguments.scalar(value);
  return it->second.values[slot(it->second, r, c)];
}

Value FragmentMap::emitRead(tile::ReadOp read, int64_t r, int64_t c) {
  const ViewAccess &access = arguments.view(read.getView());
  Value offset = t.i64(0), predicate;
  for (auto [index, stride] : llvm::zip(read.getIndices(), access.strides))
    offset = t.add(offset, t.mul(at(index, r, c), stride));
  if (read.getPredicate())
    predicate = at(read.getPredicate(), r, c);
  return kernel::LoadOp::create(t.b, t.loc, TypeRange{read.getType()},
                                access.base, offset, predicate, access.storage,
                                kernel::storageBytes(access.storage))
      ->getResult(0);
}

/// The body value that stands for the op's result where all comparisons are
/// settled or a factor is kept apart; null: emit the op.
Value FragmentMap::simplified(Operation &op, bool inside) {
  if (scaling.contains(&op))
    return op.getOperand(0);
  if (!inside)
    return {};
  if (auto both = dyn_cast<arith::AndIOp>(op)) {
    if (settled.contains(both.getLhs()))
      return both.getRhs();
    if (settled.contains(both.getRhs()))
      return both.getLhs();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (settled.contains(select.getCondition()))
      return select.getTrueValue();
  return {};
}

void FragmentMap::emitOp(Operation &op, bool inside) {
  Value result = op.getResult(0);
  if (inside && settled.contains(result)) {
    spreads[result] =
        Spread{0, {arith::ConstantIntOp::create(t.b, t.loc, 1, 1)}};
    return;
  }
  if (Value same = simplified(op, inside)) {
    auto it = spreads.find(same);
    spreads[result] =
        it != spreads.end() ? it->second : Spread{0, {arguments.scalar(same)}};
    return;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    if (Affine affine = difference(compare)) {
      spreads[result] = compareAll(compare.getPredicate(), affine);
      return;
    }
  Spread spread;
  for (Value operand : op.getOperands())
    if (auto it = spreads.find(operand); it != spreads.end())
      spread.on |= it->second.on;
  for (int64_t r = 0; r < ((spread.on & OnRow) ? rows : 1); ++r)
    for (int64_t c = 0; c < ((spread.on & OnColumn) ? columns : 1); ++c) {
      if (auto read = dyn_cast<tile::ReadOp>(op)) {
        spread.values.push_back(emitRead(read, r, c));
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(at(operand, r, c));
      spread.values.push_back(t.cloneScalar(op, operands));
    }
  spreads[result] = spread;
}

SmallVector<SmallVector<Value>> FragmentMap::emitBody(bool inside) {
  Block &body = map.getBody().front();
  if (!inside) {
    insideColumns = compareAll(arith::CmpIPredicate::slt,
                               {0, 1, t.sub(t.i64(0), columnEnd)});
    // Elements outside of the extent take the place of the last one inside, so
    // that what they read exists; what they give is not used.
    for (auto [axis, end] : {std::pair{0, rowEnd}, std::pair{1, columnEnd}})
      for (Value &at : spreads[body.getArgument(axis)].values)
        at = t.min(at, t.sub(end, t.i64(1)));
  }
  for (Operation &op : body.without_terminator())
    emitOp(op, inside);
  SmallVector<SmallVector<Value>> results;
  for (auto [yielded, pad] : llvm::zip(body.getTerminator()->getOperands(),
                                       map.getPads().getAsRange<FloatAttr>())) {
    SmallVector<Value> &values = results.emplace_back();
    Value outside = arith::ConstantOp::create(
        t.b, t.loc,
        t.b.getFloatAttr(yielded.getType(), pad.getValueAsDouble()));
    // In the order of Fragment::elements.
    for (int64_t i = 0; i < rows * columns; ++i) {
      int64_t block = i / 4, blocks = columns / 2;
      int64_t r = block / blocks * 2 + i % 4 / 2;
      int64_t c = block % blocks * 2 + i % 2;
      Value value = at(yielded, r, c);
      // Rows outside the extent hold anything: nothing folds across rows.
      if (!inside)
        value = arith::SelectOp::create(t.b, t.loc, insideColumns.values[c],
                                        value, outside);
      values.push_back(value);
    }
  }
  return results;
}

/// Finds results of the form [select(..., ] constant * x [, -inf)], with x an
/// element of an input. Not a computed x: the product is not rounded where the
/// factor is kept apart, and an x next to the largest number (a bias that
/// masks) would be off by much more than the others' distance to it.
void FragmentMap::findScales() {
  auto isMinusInfinity = [](Value value) {
    FloatAttr constant;
    return matchPattern(value, m_Constant(&constant)) &&
           constant.getValue().isInfinity() && constant.getValue().isNegative();
  };
  for (auto [yielded, pad] :
       llvm::zip(map.getBody().front().getTerminator()->getOperands(),
                 map.getPads().getAsRange<FloatAttr>())) {
    double &scale = scales.emplace_back(1);
    double outside = pad.getValueAsDouble();
    if (!(outside == 0 || std::isinf(outside)))
      continue;
    Value value = yielded;
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (select && select->hasOneUse() &&
        isMinusInfinity(select.getFalseValue()))
      value = select.getTrueValue();
    auto product = value.getDefiningOp<arith::MulFOp>();
    FloatAttr factor;
    if (!product || !product->hasOneUse() ||
        !isa<BlockArgument>(product.getLhs()) ||
        !matchPattern(product.getRhs(), m_Constant(&factor)))
      continue;
    double constant = factor.getValueAsDouble();
    if (!(constant > 0) || std::isinf(constant))
      continue;
    scale = constant;
    scaling.insert(product);
  }
}

FailureOr<SmallVector<Fragment>> FragmentMap::run() {
  bool reads = false;
  for (Operation &op : map.getBody().front().without_terminator()) {
    if (isa<tile::WriteOp>(op))
      return map.emitOpError("writes memory and keeps a tile");
    reads |= isa<tile::ReadOp>(op);
  }
  placeWarp();
  findScales();
  // The whole rectangle is inside when its far corner is.
  Value inside = arith::ConstantIntOp::create(t.b, t.loc, 1, 1);
  auto require = [&](unsigned axis, Value base, int64_t size, Value end) {
    if (!isAlwaysInside(map, axis) || map.getShape()[1] % kBlockRows)
      inside = t.bitAnd(inside, t.b.createOrFold<arith::CmpIOp>(
                                    t.loc, arith::CmpIPredicate::sle,
                                    t.add(base, t.i64(size)), end));
  };
  require(1, columnBase, warpColumns, columnEnd);
  if (reads)
    require(0, rowBase, warpRows, rowEnd);
  for (auto compare : map.getBody().front().getOps<arith::CmpIOp>())
    if (Value holds = alwaysHolds(compare)) {
      settled.insert(compare.getResult());
      inside = t.bitAnd(inside, holds);
    }
  // A conjunction of settled comparisons is settled.
  for (auto both : map.getBody().front().getOps<arith::AndIOp>())
    if (settled.contains(both.getLhs()) && settled.contains(both.getRhs()))
      settled.insert(both.getResult());

  int64_t perResult = rows * columns;
  SmallVector<Type> types;
  for (Value yielded : map.getBody().front().getTerminator()->getOperands())
    types.append(perResult, yielded.getType());
  auto branch = scf::IfOp::create(t.b, t.loc, types, inside,
                                  /*withElseRegion=*/true);
  llvm::DenseMap<Value, Spread> before = spreads;
  for (bool isInside : {true, false}) {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(isInside ? branch.thenBlock()
                                          : branch.elseBlock());
    spreads = before;
    SmallVector<Value> all;
    for (SmallVector<Value> &values : emitBody(isInside))
      all.append(values);
    scf::YieldOp::create(t.b, t.loc, all);
  }
  SmallVector<Fragment> results;
  for (auto [i, scale] : llvm::enumerate(scales)) {
    Fragment fragment;
    fragment.rows = warpRows;
    fragment.columns = warpColumns;
    fragment.scale = scale;
    auto values = branch.getResults().slice(i * perResult, perResult);
    fragment.elements.assign(values.begin(), values.end());
    results.push_back(std::move(fragment));
  }
  return results;
}

} // namespace azulejo::gpu
