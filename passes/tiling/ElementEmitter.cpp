//===- ElementEmitter.cpp - one element of a region's value ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/ElementEmitter.h"

#include "ir/graph/GraphTypes.h"
#include "ir/graph/ScalarEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace azulejo::tiling {

Value ElementEmitter::extent(Value value, int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  return f.dim(graphir::toOpset(type).shape[axis]);
}

Value ElementEmitter::less(Value x, Value y) {
  return arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::slt, x, y);
}

Value ElementEmitter::zeroLike(Value value) {
  return arith::ConstantOp::create(f.b, f.loc,
                                   f.b.getZeroAttr(value.getType()));
}

Value ElementEmitter::emitIf(Value condition, Value value, ValueRange coords) {
  Value outside = predicate;
  predicate = outside
                  ? Value(arith::AndIOp::create(f.b, f.loc, outside, condition))
                  : condition;
  Value element = emit(value, coords);
  predicate = outside;
  return element;
}

Value ElementEmitter::emit(Value value, ValueRange coords) {
  if (auto it = bindings.find(value); it != bindings.end())
    return it->second(coords);
  Key key{value.getAsOpaquePointer(), {}};
  for (Value coord : coords)
    key.second.push_back(coord.getAsOpaquePointer());
  key.second.push_back(predicate ? predicate.getAsOpaquePointer() : nullptr);
  if (auto it = emitted.find(key); it != emitted.end())
    return it->second;
  Value element;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Type type = cast<RankedTensorType>(value.getType()).getElementType();
    element = tile::ReadOp::create(f.b, f.loc, tile::computeType(type),
                                   f.inputView(arg.getArgNumber()), coords,
                                   predicate);
  } else {
    element = emitOp(value.getDefiningOp(), value, coords);
  }
  return emitted[key] = element;
}

/// Whether `op` is the exponential of rows from which their own maximum was
/// taken, as in a softmax. Then it is at most 1, and what is added up is what
/// digits are needed for (docs/numerics.md). With its axes kept, the maximum
/// stretches along those that it was taken over; without them it may meet
/// others.
static bool isBelowMaximum(Operation *op) {
  if (!isa<graphir::ExpOp>(op))
    return false;
  auto difference = op->getOperand(0).getDefiningOp<graphir::SubOp>();
  if (!difference)
    return false;
  auto maximum =
      difference->getOperand(1).getDefiningOp<graphir::ReduceMaxOp>();
  return maximum && maximum.getKeepdims() &&
         maximum->getOperand(0) == difference->getOperand(0);
}

Value ElementEmitter::emitOp(Operation *op, Value value, ValueRange coords) {
  SmallVector<opset::Dim> symbols;
  auto pull = [&](unsigned operand) -> Value {
    auto map =
        cast<graphir::IndexingOpInterface>(op).operandMap(operand, symbols);
    if (mlir::failed(map)) {
      failure = "has no element map";
      return {};
    }
    SmallVector<Value> at;
    for (AffineExpr expr : map->getResults())
      at.push_back(f.expand(expr, coords, symbols));
    return emit(op->getOperand(operand), at);
  };
  if (auto elementwise = dyn_cast<graphir::ElementwiseOpInterface>(op)) {
    SmallVector<Value> scalars;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      scalars.push_back(pull(i));
      if (!scalars.back())
        return {};
    }
    if (isBelowMaximum(op) && scalars[0].getType().isF32())
      return graphir::ScalarEmitter(f.b, f.loc).expBelowMaximum(scalars[0]);
    return elementwise.emitScalar(f.b, f.loc, scalars);
  }
  Type type = tile::computeType(
      cast<RankedTensorType>(value.getType()).getElementType());
  if (auto constant = dyn_cast<graphir::ConstantOp>(op)) {
    double number = constant.getValue().convertToDouble();
    if (isa<FloatType>(type))
      return arith::ConstantOp::create(f.b, f.loc,
                                       f.b.getFloatAttr(type, number));
    return arith::ConstantOp::create(
        f.b, f.loc, f.b.getIntegerAttr(type, static_cast<int64_t>(number)));
  }
  if (auto iota = dyn_cast<graphir::IotaOp>(op)) {
    Value coord = coords[iota.getAxis()];
    if (isa<FloatType>(type)) {
      Value wide =
          arith::IndexCastOp::create(f.b, f.loc, f.b.getI64Type(), coord);
      return arith::SIToFPOp::create(f.b, f.loc, type, wide);
    }
    return arith::IndexCastOp::create(f.b, f.loc, type, coord);
  }
  if (auto gather = dyn_cast<graphir::GatherOp>(op))
    return emitGather(gather, coords);
  if (auto concat = dyn_cast<graphir::ConcatOp>(op))
    return emitConcat(concat, coords);
  if (auto rope = dyn_cast<graphir::RopeOp>(op))
    return emitRope(rope, coords);
  if (auto update = dyn_cast<graphir::CacheUpdateOp>(op))
    return emitCacheUpdate(update, coords);
  if (isa<graphir::IndexingOpInterface>(op) && op->getNumOperands() == 1)
    return pull(0);
  failure = ("op " + op->getName().getStringRef() +
             " cannot be computed element by element here")
                .str();
  return {};
}

Value ElementEmitter::emitGather(graphir::GatherOp op, ValueRange coords) {
  Value table = op->getOperand(0), ids = op->getOperand(1);
  int64_t axis = op.getAxis();
  int64_t idRank = cast<RankedTensorType>(ids.getType()).getRank();
  Value id = emit(ids, coords.slice(axis, idRank));
  if (!id)
    return {};
  Value row = arith::IndexCastOp::create(f.b, f.loc, f.b.getIndexType(), id);
  // Unsigned: a negative id is a huge one. Outside the table reads as zero.
  Value inside = arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::ult,
                                       row, extent(table, axis));
  SmallVector<Value> at(coords.take_front(axis));
  at.push_back(row);
  at.append(coords.begin() + axis + idRank, coords.end());
  Value element = emitIf(inside, table, at);
  if (!element)
    return {};
  return arith::SelectOp::create(f.b, f.loc, inside, element,
                                 zeroLike(element));
}

Value ElementEmitter::emitConcat(graphir::ConcatOp op, ValueRange coords) {
  int64_t axis = op.getAxis();
  Value result, start = f.constant(0);
  for (Value piece : op->getOperands()) {
    Value size = extent(piece, axis);
    Value end = f.add(start, size);
    // The last piece that starts at or before the coordinate is the right one.
    SmallVector<Value> at(coords);
    at[axis] = f.sub(coords[axis], start);
    Value inside = less(coords[axis], end);
    Value here =
        result
            ? Value(arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::sge,
                                          coords[axis], start))
            : Value();
    Value element = emitIf(
        here ? Value(arith::AndIOp::create(f.b, f.loc, here, inside)) : inside,
        piece, at);
    if (!element)
      return {};
    result =
        result
            ? Value(arith::SelectOp::create(f.b, f.loc, here, element, result))
            : element;
    start = end;
  }
  return result;
}

Value ElementEmitter::emitRope(graphir::RopeOp op, ValueRange coords) {
  Value x = op->getOperand(0);
  SmallVector<Value> tableSources(op->getOperands().drop_front());
  auto tableType = cast<RankedTensorType>(tableSources[0].getType());
  auto xType = cast<RankedTensorType>(x.getType());
  int64_t half = tableType.getDimSize(tableType.getRank() - 1);
  int64_t channels = xType.getDimSize(xType.getRank() - 1);
  Value d = coords.back();
  Value low, pair, partner;
  if (op.getPairing() == "half") {
    low = less(d, f.constant(half));
    Value up = f.add(d, f.constant(half)), down = f.sub(d, f.constant(half));
    pair = arith::SelectOp::create(f.b, f.loc, low, d, down);
    partner = arith::SelectOp::create(f.b, f.loc, low, up, down);
  } else {
    Value parity = f.rem(d, f.constant(2));
    low = less(parity, f.constant(1));
    pair = f.div(d, f.constant(2));
    Value up = f.add(d, f.constant(1)), down = f.sub(d, f.constant(1));
    partner = arith::SelectOp::create(f.b, f.loc, low, up, down);
  }
  Value rotated =
      2 * half == channels ? Value() : less(d, f.constant(2 * half));
  auto guarded = [&](Value value, ValueRange at) {
    return rotated ? emitIf(rotated, value, at) : emit(value, at);
  };
  // Tables broadcast over the leading axes of x: align them at the right.
  SmallVector<Value> tableAt;
  for (int64_t i = 0; i < tableType.getRank(); ++i) {
    int64_t axis = xType.getRank() - tableType.getRank() + i;
    bool last = i + 1 == tableType.getRank();
    tableAt.push_back(last                           ? pair
                      : tableType.getDimSize(i) == 1 ? f.constant(0)
                                                     : coords[axis]);
  }
  SmallVector<Value> partnerAt(coords);
  partnerAt.back() = partner;
  Value own = emit(x, coords);
  Value other = guarded(x, partnerAt);
  Value cosine = guarded(tableSources[0], tableAt);
  Value sine = guarded(tableSources[1], tableAt);
  if (!own || !other || !cosine || !sine)
    return {};
  Value negative = arith::NegFOp::create(f.b, f.loc, sine);
  Value factor = arith::SelectOp::create(f.b, f.loc, low, negative, sine);
  Value turned = arith::AddFOp::create(
      f.b, f.loc, arith::MulFOp::create(f.b, f.loc, own, cosine),
      arith::MulFOp::create(f.b, f.loc, other, factor));
  return rotated
             ? Value(arith::SelectOp::create(f.b, f.loc, rotated, turned, own))
             : turned;
}

Value ElementEmitter::emitCacheUpdate(graphir::CacheUpdateOp op,
                                      ValueRange coords) {
  Value cache = op->getOperand(0), update = op->getOperand(1),
        position = op->getOperand(2);
  int64_t axis = op.getAxis();
  bool scalar = cast<RankedTensorType>(position.getType()).getRank() == 0;
  Value start = emit(position, scalar ? ValueRange() : coords.take_front(1));
  if (!start)
    return {};
  start = arith::IndexCastOp::create(f.b, f.loc, f.b.getIndexType(), start);
  Value row = arith::SubIOp::create(f.b, f.loc, coords[axis], start);
  Value updated = arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::ult,
                                        row, extent(update, axis));
  SmallVector<Value> at(coords);
  at[axis] = row;
  Value fresh = emitIf(updated, update, at);
  Value kept = emit(cache, coords);
  if (!fresh || !kept)
    return {};
  return arith::SelectOp::create(f.b, f.loc, updated, fresh, kept);
}

void ElementEmitter::write(unsigned index, Value element, ValueRange coords) {
  tile::WriteOp::create(f.b, f.loc, element, f.outputView(index), coords);
}

} // namespace azulejo::tiling
