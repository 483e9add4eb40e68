//===- RowKeeping.cpp - what a row program keeps between passes -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RowKeeping.h"

using namespace mlir;

namespace azulejo::gpu {

/// Gives every value of the map's body its number. Coordinates and everything
/// from outside are told apart by what they are; maps that get here have the
/// same rows and lanes, so equal coordinates are equal values.
void RowKeeping::number(tile::MapOp map) {
  Block &body = map.getBody().front();
  auto fresh = [&](const Key &key) {
    return numbers.try_emplace(key, static_cast<int>(numbers.size()))
        .first->second;
  };
  auto outside = [&](const void *what, int position) {
    return fresh({{what, nullptr, nullptr}, {position}});
  };
  size_t rank = map.getShape().size();
  for (size_t axis = 0; axis < rank; ++axis)
    values[body.getArgument(axis)] = {outside(nullptr, static_cast<int>(axis)),
                                      false};
  for (auto [i, input] : llvm::enumerate(map.getInputs()))
    values[body.getArgument(rank + i)] = {
        outside(input.getAsOpaquePointer(), -1), false};
  LaneAnalysis lanes(map, 1);
  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() != 1)
      continue;
    Value result = op.getResult(0);
    bool fromMemory = isa<tile::ReadOp>(op);
    std::vector<int> operands;
    for (Value operand : op.getOperands()) {
      auto it = values.find(operand);
      if (it == values.end())
        it = values
                 .try_emplace(
                     operand,
                     Numbered{outside(operand.getAsOpaquePointer(), -1), false})
                 .first;
      operands.push_back(it->second.number);
      fromMemory |= it->second.fromMemory;
    }
    Key key{{op.getName().getAsOpaquePointer(),
             op.getAttrDictionary().getAsOpaquePointer(),
             result.getType().getAsOpaquePointer()},
            operands};
    values[result] = {fresh(key),
                      fromMemory && lanes.kind(result) != LaneAnalysis::Row};
  }
}

static int64_t registersOf(Type type) { return type.isInteger(64) ? 2 : 1; }

/// Fills `passes`; false if that would keep more than fits.
bool RowKeeping::choose(ArrayRef<tile::MapOp> maps, int64_t lanesPerThread,
                        int64_t mostRegisters) {
  passes.clear();
  struct Kept {
    size_t first, last; ///< maps
    Operation *op;      ///< of the first
  };
  std::map<int, Kept> had; ///< by number, what some map before had
  for (size_t at = 0; at < maps.size(); ++at) {
    tile::MapOp map = maps[at];
    Pass &pass = passes[map];
    Operation *end = map.getBody().front().getTerminator();
    SmallVector<Operation *> stack{end};
    for (Operation &op : map.getBody().front())
      if (isa<tile::WriteOp>(op))
        stack.push_back(&op);
    for (Operation *root : stack)
      pass.needed.insert(root);
    while (!stack.empty()) {
      Operation *user = stack.pop_back_val();
      for (Value operand : user->getOperands()) {
        Operation *op = operand.getDefiningOp();
        if (!op || op->getBlock() != end->getBlock() ||
            pass.given.contains(op) || pass.needed.contains(op))
          continue;
        Numbered value = values[operand];
        auto it = had.find(value.number);
        if (value.fromMemory && it != had.end()) {
          pass.given[op] = value.number;
          it->second.last = at;
          passes[maps[it->second.first]].kept[value.number] = it->second.op;
          continue;
        }
        pass.needed.insert(op);
        stack.push_back(op);
      }
    }
    for (Operation &op : map.getBody().front())
      if (pass.needed.contains(&op) && op.getNumResults() == 1)
        if (Numbered value = values[op.getResult(0)];
            value.fromMemory && (!readsOnly || isa<tile::ReadOp>(op)))
          had.try_emplace(value.number, Kept{at, at, &op});
  }
  for (size_t boundary = 0; boundary + 1 < maps.size(); ++boundary) {
    int64_t registers = 0;
    for (const auto &[number, kept] : had)
      if (kept.first <= boundary && kept.last > boundary)
        registers +=
            lanesPerThread * registersOf(kept.op->getResult(0).getType());
    if (registers > mostRegisters)
      return false;
  }
  return true;
}

void RowKeeping::plan(ArrayRef<tile::MapOp> maps, int64_t lanesPerThread,
                      int64_t registers) {
  for (tile::MapOp map : maps)
    number(map);
  // Values that took arithmetic save more than what was read, unless there are
  // too many of them.
  bool fits = choose(maps, lanesPerThread, registers);
  if (!fits) {
    readsOnly = true;
    fits = choose(maps, lanesPerThread, registers);
  }
  if (!fits)
    passes.clear();
  for (tile::MapOp map : maps)
    if (const Pass *pass = find(map);
        pass && pass->given.empty() && pass->kept.empty())
      passes.erase(map);
}

} // namespace azulejo::gpu
