//===- LaneBody.cpp - the body of a tile.map, one vector at a time --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/cpu/LaneBody.h"

#include "ir/scalar/Elementary.h"
#include "ir/scalar/Float8.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace azulejo::cpu {

int64_t knownMultiple(Value value) {
  constexpr int64_t kLimit = 4096;
  if (std::optional<int64_t> c = HostBuilder::constantOf(value))
    return *c == 0 ? kLimit : std::min<int64_t>(kLimit, *c & -*c);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (loop && arg == loop.getInductionVar())
      return std::min(knownMultiple(loop.getLowerBound()),
                      knownMultiple(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  if (isa<arith::MulIOp>(op))
    return std::min(kLimit, knownMultiple(op->getOperand(0)) *
                                knownMultiple(op->getOperand(1)));
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return std::min(knownMultiple(op->getOperand(0)),
                    knownMultiple(op->getOperand(1)));
  return 1;
}

LaneBody::LaneBody(tile::MapOp map, unsigned laneAxis, Value safeAddress)
    : map(map), laneAxis(laneAxis), safeAddress(safeAddress) {}

void LaneBody::bindUniform(Value value, Value scalar) {
  bound[value] = {Lane::Uniform, scalar, 1};
}
void LaneBody::bindLinear(Value value, Value scalar, int64_t multiple) {
  bound[value] = {Lane::Linear, scalar, multiple};
}
void LaneBody::bindVector(Value value, Value vector) {
  bound[value] = {Lane::Vector, vector, 1};
}

LaneBody::Lane LaneBody::lookup(Value value, OuterValue outer) const {
  if (auto it = current.find(value); it != current.end())
    return it->second;
  if (auto it = bound.find(value); it != bound.end())
    return it->second;
  return {Lane::Uniform, outer(value), 1};
}

Value LaneBody::asVector(HostBuilder &h, const Lane &lane,
                         int64_t lanes) const {
  if (lane.kind == Lane::Vector)
    return lane.value;
  Value splat = h.splat(lane.value, lanes);
  if (lane.kind == Lane::Uniform)
    return splat;
  Value iota = h.laneIndices(lanes);
  if (!lane.value.getType().isInteger(64))
    iota = arith::TruncIOp::create(h.b, h.loc, splat.getType(), iota);
  return arith::AddIOp::create(h.b, h.loc, splat, iota);
}

/// Index values are 64-bit integers in host code.
static Type hostType(Type type) {
  return type.isIndex() ? Type(IntegerType::get(type.getContext(), 64)) : type;
}

Value LaneBody::emitClone(HostBuilder &h, Operation &op, ValueRange operands,
                          int64_t lanes) {
  if (isa<math::MathDialect>(op.getDialect()))
    if (Value expanded = scalar::expandMath(h.b, h.loc, &op, operands))
      return expanded;
  // Rounding to fp8 goes through its bytes.
  if (isa<arith::TruncFOp>(op) && scalar::isFloat8(op.getResult(0).getType()))
    return scalar::narrowFloat8(h.b, h.loc, operands[0],
                                op.getResult(0).getType());
  if (isa<arith::ExtFOp>(op) && scalar::isFloat8(op.getOperand(0).getType()))
    return scalar::widenFloat8(h.b, h.loc, operands[0],
                               op.getOperand(0).getType());
  Type result = h.vectorOf(hostType(op.getResult(0).getType()), lanes);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    unsigned from = getElementTypeOrSelf(operands[0].getType())
                        .getIntOrFloatBitWidth(),
             to = getElementTypeOrSelf(result).getIntOrFloatBitWidth();
    if (from == to)
      return operands[0];
    if (from > to)
      return arith::TruncIOp::create(h.b, h.loc, result, operands[0]);
    return arith::ExtSIOp::create(h.b, h.loc, result, operands[0]);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (constant.getType().isIndex())
      return h.i64(cast<IntegerAttr>(constant.getValue()).getInt());
    return h.b.clone(op)->getResult(0);
  }
  OperationState state(h.loc, op.getName(), operands, {result}, op.getAttrs());
  return h.b.create(state)->getResult(0);
}

void LaneBody::emitUniform(HostBuilder &h, OuterValue outer, ViewOf viewOf) {
  Block &body = map.getBody().front();
  DenseSet<Value> varying;
  for (BlockArgument arg : body.getArguments())
    if (!bound.count(arg))
      varying.insert(arg);
  for (Operation &op : body.without_terminator()) {
    bool varies = isa<tile::WriteOp>(op);
    for (Value operand : op.getOperands())
      varies |= varying.contains(operand);
    if (varies) {
      varying.insert(op.result_begin(), op.result_end());
      continue;
    }
    if (auto read = dyn_cast<tile::ReadOp>(op)) {
      const ViewAccess &view = viewOf(read.getView());
      Value offset = h.i64(0);
      for (auto [index, stride] : llvm::zip(read.getIndices(), view.strides))
        offset = h.add(offset, h.mul(lookup(index, outer).value, stride));
      Value address = h.address(view.base, view.storage, offset);
      if (!read.getPredicate()) {
        bindUniform(read, h.load(address, view.storage));
      } else {
        // Some memory that may always be read stands in for what may not.
        Value predicate = lookup(read.getPredicate(), outer).value;
        Value loaded =
            h.load(h.select(predicate, address, safeAddress), view.storage);
        bindUniform(
            read, h.select(predicate, loaded, h.constant(loaded.getType(), 0)));
      }
    } else {
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(lookup(operand, outer).value);
      bindUniform(op.getResult(0), emitClone(h, op, operands, 0));
    }
    hoisted.insert(&op);
  }
}

/// Index arithmetic that keeps a coordinate Linear or makes it Uniform.
std::optional<LaneBody::Lane> LaneBody::emitLinear(HostBuilder &h,
                                                   Operation &op,
                                                   OuterValue outer,
                                                   int64_t lanes) {
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Lane x = lookup(op.getOperand(0), outer);
    if (x.kind != Lane::Linear)
      return std::nullopt;
    return Lane{Lane::Linear, emitClone(h, op, {x.value}, 0), x.multiple};
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    // All lanes are on one side of a bound that no vector straddles.
    Lane x = lookup(compare.getLhs(), outer),
         y = lookup(compare.getRhs(), outer);
    auto p = compare.getPredicate();
    bool below =
        p == arith::CmpIPredicate::slt || p == arith::CmpIPredicate::ult;
    bool above =
        p == arith::CmpIPredicate::sge || p == arith::CmpIPredicate::uge;
    std::optional<int64_t> bound;
    if (x.kind == Lane::Linear && y.kind == Lane::Uniform)
      bound = HostBuilder::constantOf(y.value);
    if (!(below || above) || !bound || *bound % lanes || x.multiple % lanes)
      return std::nullopt;
    return Lane{Lane::Uniform, emitClone(h, op, {x.value, y.value}, 0), 1};
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Lane c = lookup(select.getCondition(), outer),
         x = lookup(select.getTrueValue(), outer),
         y = lookup(select.getFalseValue(), outer);
    if (c.kind != Lane::Uniform || x.kind != Lane::Linear ||
        y.kind != Lane::Linear)
      return std::nullopt;
    return Lane{Lane::Linear, h.select(c.value, x.value, y.value),
                std::min(x.multiple, y.multiple)};
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::DivSIOp, arith::DivUIOp,
           arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp>(op) ||
      !op.getResult(0).getType().isIndex())
    return std::nullopt;
  Lane x = lookup(op.getOperand(0), outer), y = lookup(op.getOperand(1), outer);
  if (isa<arith::AddIOp>(op)) {
    if (x.kind == Lane::Uniform)
      std::swap(x, y);
    if (x.kind != Lane::Linear || y.kind != Lane::Uniform)
      return std::nullopt;
    return Lane{Lane::Linear, h.add(x.value, y.value),
                std::min(x.multiple, knownMultiple(y.value))};
  }
  if (x.kind != Lane::Linear || y.kind != Lane::Uniform)
    return std::nullopt;
  if (isa<arith::SubIOp>(op))
    return Lane{Lane::Linear, h.sub(x.value, y.value),
                std::min(x.multiple, knownMultiple(y.value))};
  // All lanes fall into one period of the divisor when both the first lane and
  // the divisor are multiples of the number of lanes.
  std::optional<int64_t> divisor = HostBuilder::constantOf(y.value);
  if (!divisor || *divisor <= 0 || *divisor % lanes || x.multiple % lanes)
    return std::nullopt;
  if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    int64_t lowBit = *divisor & -*divisor;
    return Lane{Lane::Linear,
                arith::RemUIOp::create(h.b, h.loc, x.value, y.value),
                std::min(x.multiple, lowBit)};
  }
  return Lane{Lane::Uniform,
              arith::DivUIOp::create(h.b, h.loc, x.value, y.value), 1};
}

LaneBody::Address LaneBody::addressOf(HostBuilder &h, ValueRange indices,
                                      const ViewAccess &view, int64_t lanes,
                                      OuterValue outer,
                                      bool &contiguous) const {
  Value scalar = h.i64(0);
  Value offsets;
  contiguous = false;
  auto addOffsets = [&](Value part) {
    offsets = offsets ? Value(arith::AddIOp::create(h.b, h.loc, offsets, part))
                      : part;
  };
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Lane lane = lookup(index, outer);
    Value stride = view.strides[axis];
    if (lane.kind != Lane::Vector) {
      scalar = h.add(scalar, h.mul(lane.value, stride));
      if (lane.kind == Lane::Uniform)
        continue;
      if (axis + 1 == indices.size() && !offsets) {
        contiguous = true;
        continue;
      }
      addOffsets(arith::MulIOp::create(h.b, h.loc, h.laneIndices(lanes),
                                       h.splat(stride, lanes)));
      continue;
    }
    Value vector = lane.value;
    if (HostBuilder::constantOf(stride) != 1)
      vector =
          arith::MulIOp::create(h.b, h.loc, vector, h.splat(stride, lanes));
    addOffsets(vector);
  }
  return {h.address(view.base, view.storage, scalar), offsets};
}

SmallVector<Value> LaneBody::emitLanes(HostBuilder &h, int64_t lanes,
                                       Value mask, OuterValue outer,
                                       ViewOf viewOf) {
  current.clear();
  Block &body = map.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (hoisted.contains(&op))
      continue;
    if (auto read = dyn_cast<tile::ReadOp>(op)) {
      const ViewAccess &view = viewOf(read.getView());
      bool contiguous;
      Address at =
          addressOf(h, read.getIndices(), view, lanes, outer, contiguous);
      Value guard = mask;
      if (read.getPredicate()) {
        Value own = asVector(h, lookup(read.getPredicate(), outer), lanes);
        guard =
            mask ? Value(arith::AndIOp::create(h.b, h.loc, mask, own)) : own;
      }
      Value loaded;
      if (contiguous && !at.offsets)
        loaded = h.loadVector(at.base, view.storage, lanes, guard);
      else if (at.offsets)
        loaded = h.gather(at.base, view.storage, at.offsets, guard);
      else // one address for all lanes, under a predicate that varies
        loaded = h.gather(at.base, view.storage,
                          h.constant(h.b.getI64Type(), 0, lanes), guard);
      current[read] = {Lane::Vector, loaded, 1};
      continue;
    }
    if (auto write = dyn_cast<tile::WriteOp>(op)) {
      const ViewAccess &view = viewOf(write.getView());
      Lane value = lookup(write.getValue(), outer);
      bool contiguous;
      Address at =
          addressOf(h, write.getIndices(), view, lanes, outer, contiguous);
      int64_t bytes = lanes * storageBytes(view.storage);
      if (contiguous && !at.offsets && streaming && !mask && bytes >= 16 &&
          lookup(write.getIndices().back(), outer).multiple % lanes == 0) {
        h.streamVector(asVector(h, value, lanes), at.base, view.storage);
      } else if (contiguous && !at.offsets) {
        h.storeVector(asVector(h, value, lanes), at.base, view.storage, mask);
      } else if (at.offsets) {
        h.scatter(asVector(h, value, lanes), at.base, view.storage, at.offsets,
                  mask);
      } else if (value.kind == Lane::Uniform) {
        h.store(value.value, at.base, view.storage);
      } else {
        // Every lane that exists writes one address (an axis of size 1 that the
        // index leaves out): a scatter keeps to the mask and to lane order.
        h.scatter(asVector(h, value, lanes), at.base, view.storage,
                  h.constant(h.b.getI64Type(), 0, lanes), mask);
      }
      continue;
    }
    if (std::optional<Lane> linear = emitLinear(h, op, outer, lanes)) {
      current[op.getResult(0)] = *linear;
      continue;
    }
    SmallVector<Value> operands;
    bool uniform = true;
    for (Value operand : op.getOperands())
      uniform &= lookup(operand, outer).kind == Lane::Uniform;
    for (Value operand : op.getOperands()) {
      Lane lane = lookup(operand, outer);
      operands.push_back(uniform ? lane.value : asVector(h, lane, lanes));
    }
    current[op.getResult(0)] = {uniform ? Lane::Uniform : Lane::Vector,
                                emitClone(h, op, operands, uniform ? 0 : lanes),
                                1};
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(asVector(h, lookup(value, outer), lanes));
  return results;
}

} // namespace azulejo::cpu
