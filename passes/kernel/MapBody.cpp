//===- MapBody.cpp - a map's body for one thread's lanes ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/MapBody.h"

#include "ir/kernel/Kernel.h"

using namespace mlir;

namespace azulejo::gpu {

int64_t accessAlignment(Type storage, int64_t width) {
  return std::min(kernel::kAccessBytes, kernel::storageBytes(storage) * width);
}

DenseSet<Operation *> opsBehind(ValueRange values, Block &body) {
  DenseSet<Operation *> found;
  SmallVector<Value> stack(values);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == &body && found.insert(op).second)
      stack.append(op->operand_begin(), op->operand_end());
  }
  return found;
}

MapBody::MapBody(ThreadBuilder &t, tile::MapOp map, unsigned laneAxis,
                 Outer outer, View view)
    : t(t), map(map), outer(std::move(outer)), view(std::move(view)),
      rowAnalysis(map, 1, laneAxis) {}

/// The value of lane `lane` of the group; lane 0 also stands for values that
/// the neighbours share.
Value MapBody::at(Value value, int64_t lane) {
  if (auto it = group.find(value); it != group.end()) {
    Group &found = it->second;
    switch (found.kind) {
    case LaneAnalysis::Row:
    case LaneAnalysis::Uniform:
      return found.values[0];
    case LaneAnalysis::Linear: {
      Value first = found.values[0];
      Value step = arith::ConstantOp::create(
          t.b, t.loc, t.b.getIntegerAttr(first.getType(), lane));
      return t.add(first, step);
    }
    case LaneAnalysis::Varying:
      return found.values[lane];
    }
  }
  if (auto it = row.find(value); it != row.end())
    return it->second;
  return outer(value);
}

Value MapBody::offset(ValueRange indices, const ViewAccess &access,
                      int64_t lane) {
  Value sum = t.i64(0);
  for (auto [index, stride] : llvm::zip(indices, access.strides))
    sum = t.add(sum, t.mul(at(index, lane), stride));
  return sum;
}

void MapBody::emitRow(Value any) {
  group.clear();
  for (Operation &op : map.getBody().front().without_terminator()) {
    if (isa<tile::WriteOp>(op) ||
        rowAnalysis.kind(op.getResult(0)) != LaneAnalysis::Row)
      continue;
    if (auto read = dyn_cast<tile::ReadOp>(op)) {
      const ViewAccess &access = view(read.getView());
      // A row without lanes must not touch memory, and one read that every
      // lane shares must not be one that none of them would make.
      Value predicate = any;
      if (read.getPredicate())
        predicate = t.bitAnd(any, at(read.getPredicate(), 0));
      row[read] = kernel::LoadOp::create(
                      t.b, t.loc, TypeRange{read.getType()}, access.base,
                      offset(read.getIndices(), access, 0), predicate,
                      access.storage, kernel::storageBytes(access.storage))
                      ->getResult(0);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(at(operand, 0));
    row[op.getResult(0)] = t.cloneScalar(op, operands);
  }
}

/// `predicate`, and that the group's lanes are there; null: always.
Value MapBody::guard(Value predicate) {
  return inside && predicate ? t.bitAnd(inside, predicate)
         : inside            ? inside
                             : predicate;
}

void MapBody::emitRead(tile::ReadOp read, const LaneAnalysis &lanes,
                       bool wide) {
  const ViewAccess &access = view(read.getView());
  Type type = read.getType();
  auto predicate = [&](int64_t lane) {
    return guard(read.getPredicate() ? at(read.getPredicate(), lane) : Value());
  };
  Group result{LaneAnalysis::Varying, {}};
  bool together = !read.getPredicate() ||
                  lanes.kind(read.getPredicate()) <= LaneAnalysis::Uniform;
  if (wide && together && lanes.isContiguous(read.getIndices())) {
    SmallVector<Type> types(lanes.width, type);
    auto load = kernel::LoadOp::create(
        t.b, t.loc, types, access.base, offset(read.getIndices(), access, 0),
        predicate(0), access.storage,
        accessAlignment(access.storage, lanes.width));
    result.values.assign(load->result_begin(), load->result_end());
    group[read] = result;
    return;
  }
  bool shared = lanes.kind(read) <= LaneAnalysis::Uniform;
  result.kind = shared ? LaneAnalysis::Uniform : LaneAnalysis::Varying;
  for (int64_t lane = 0; lane < (shared ? 1 : lanes.width); ++lane)
    result.values.push_back(
        kernel::LoadOp::create(t.b, t.loc, TypeRange{type}, access.base,
                               offset(read.getIndices(), access, lane),
                               predicate(lane), access.storage,
                               kernel::storageBytes(access.storage))
            ->getResult(0));
  group[read] = result;
}

void MapBody::emitWrite(tile::WriteOp write, const LaneAnalysis &lanes,
                        bool wide) {
  const ViewAccess &access = view(write.getView());
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes.width; ++lane)
    values.push_back(at(write.getValue(), lane));
  if (wide && lanes.isContiguous(write.getIndices())) {
    kernel::StoreOp::create(
        t.b, t.loc, values, access.base, offset(write.getIndices(), access, 0),
        inside, access.storage, accessAlignment(access.storage, lanes.width));
    return;
  }
  for (auto [lane, value] : llvm::enumerate(values))
    kernel::StoreOp::create(t.b, t.loc, ValueRange{value}, access.base,
                            offset(write.getIndices(), access, lane), inside,
                            access.storage,
                            kernel::storageBytes(access.storage));
}

void MapBody::beginGroup(const LaneAnalysis &lanes, Value first) {
  group.clear();
  Block &body = map.getBody().front();
  group[body.getArgument(lanes.laneAxis)] = {LaneAnalysis::Linear, {first}};
  for (auto &[value, elements] : laneInputs)
    group[value] = {LaneAnalysis::Varying, elements};
}

/// A scalar op of the group, once if its lanes agree or follow from the first.
void MapBody::emitScalar(Operation &op, const LaneAnalysis &lanes) {
  Value value = op.getResult(0);
  if (row.count(value))
    return;
  Group result{lanes.kind(value), {}};
  bool once = result.kind != LaneAnalysis::Varying;
  for (int64_t lane = 0; lane < (once ? 1 : lanes.width); ++lane) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(at(operand, lane));
    result.values.push_back(t.cloneScalar(op, operands));
  }
  group[value] = result;
}

Value MapBody::emitOffset(tile::ReadOp read, const LaneAnalysis &lanes,
                          Value first) {
  beginGroup(lanes, first);
  DenseSet<Operation *> needed =
      opsBehind(read.getIndices(), *read->getBlock());
  for (Operation &op : map.getBody().front())
    if (needed.contains(&op))
      emitScalar(op, lanes);
  return offset(read.getIndices(), view(read.getView()), 0);
}

/// What leads to a read, or an empty optional if another read of the group
/// does.
std::optional<DenseSet<Operation *>>
MapBody::opsBefore(tile::ReadOp read) const {
  DenseSet<Operation *> found;
  SmallVector<Operation *> stack{read};
  while (!stack.empty())
    for (Value operand : stack.pop_back_val()->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || op->getBlock() != read->getBlock() || row.count(operand))
        continue;
      if (isa<tile::ReadOp>(op))
        return std::nullopt;
      if (found.insert(op).second)
        stack.push_back(op);
    }
  return found;
}

MapBody::Reads MapBody::emitReads(const LaneAnalysis &lanes, Value first,
                                  bool wide) {
  beginGroup(lanes, first);
  DenseSet<Operation *> reads, before;
  for (auto read : map.getBody().front().getOps<tile::ReadOp>())
    if (runs(*read) && !row.count(read))
      if (std::optional<DenseSet<Operation *>> ops = opsBefore(read)) {
        reads.insert(read);
        before.insert(ops->begin(), ops->end());
      }
  Reads result;
  for (Operation &op : map.getBody().front()) {
    if (before.contains(&op))
      emitScalar(op, lanes);
    if (!reads.contains(&op))
      continue;
    auto read = cast<tile::ReadOp>(op);
    emitRead(read, lanes, wide);
    result.push_back({read, laneValues(read, lanes)});
  }
  return result;
}

SmallVector<Value> MapBody::laneValues(Value value, const LaneAnalysis &lanes) {
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes.width; ++lane)
    values.push_back(at(value, lane));
  return values;
}

SmallVector<SmallVector<Value>> MapBody::emitLanes(const LaneAnalysis &lanes,
                                                   Value first, bool wide) {
  beginGroup(lanes, first);
  Block &body = map.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (auto it = supplied.find(&op); it != supplied.end()) {
      group[op.getResult(0)] = {LaneAnalysis::Varying, it->second};
      continue;
    }
    if (!runs(op))
      continue;
    if (auto read = dyn_cast<tile::ReadOp>(op)) {
      if (!row.count(read))
        emitRead(read, lanes, wide);
      continue;
    }
    if (auto write = dyn_cast<tile::WriteOp>(op)) {
      emitWrite(write, lanes, wide);
      continue;
    }
    emitScalar(op, lanes);
  }
  SmallVector<SmallVector<Value>> results;
  for (Value yielded : body.getTerminator()->getOperands())
    results.push_back(laneValues(yielded, lanes));
  return results;
}

} // namespace azulejo::gpu
