//===- RowKeeping.cpp - what a row program keeps between passes -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RowKeeping.h"

#include "passes/kernel/MapBody.h"

#include "mlir/Dialect/Math/IR/Math.h"

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

Type RowKeeping::narrowType(Operation *op) const {
  if (!packs)
    return {};
  Type type;
  if (auto read = dyn_cast<tile::ReadOp>(op))
    type = read.getView().getType().getElementType();
  else if (isa<arith::ExtFOp>(op))
    type = op->getOperand(0).getType();
  return type && op->getResult(0).getType().isF32() &&
                 isa<Float16Type, BFloat16Type>(type)
             ? type
             : Type();
}

int64_t RowKeeping::registersOf(Operation *op, int64_t lanes) const {
  // Half, and an eighth of that for the values that are on their way in and
  // out.
  if (narrowType(op))
    return llvm::divideCeil(lanes * 9, 16);
  return op->getResult(0).getType().isInteger(64) ? 2 * lanes : lanes;
}

/// Registers that a thread has for a row in any case.
static constexpr int64_t kLittle = 32;

/// Fills `passes`. The registers of what is kept at a time, at most.
int64_t RowKeeping::choose(ArrayRef<tile::MapOp> maps, int64_t lanesPerThread) {
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
  int64_t most = 0;
  for (size_t boundary = 0; boundary + 1 < maps.size(); ++boundary) {
    int64_t registers = 0;
    for (const auto &[number, kept] : had)
      if (kept.first <= boundary && kept.last > boundary)
        registers += registersOf(kept.op, lanesPerThread);
    most = std::max(most, registers);
  }
  return most;
}

/// Whether something on the way from memory to a kept value takes more than an
/// instruction or two.
bool RowKeeping::keepsDear() const {
  auto isDear = [](Operation *op) {
    return isa<arith::DivFOp>(op) ||
           (isa<math::MathDialect>(op->getDialect()) &&
            !isa<math::FmaOp, math::AbsFOp>(op));
  };
  for (const auto &[map, pass] : passes)
    for (const auto &[number, kept] : pass.kept)
      if (llvm::any_of(opsBehind(kept->getResult(0), *kept->getBlock()),
                       isDear))
        return true;
  return false;
}

/// Words of all that is kept of a row, one time or another; none if not all of
/// it is words.
std::optional<int64_t> RowKeeping::wordsOf(int64_t lanesPerThread) const {
  int64_t words = 0;
  for (const auto &[map, pass] : passes)
    for (const auto &[number, op] : pass.kept) {
      if (op->getResult(0).getType().getIntOrFloatBitWidth() != 32)
        return std::nullopt;
      words +=
          narrowType(op) ? llvm::divideCeil(lanesPerThread, 2) : lanesPerThread;
    }
  return words;
}

void RowKeeping::plan(ArrayRef<tile::MapOp> maps, int64_t lanesPerThread,
                      const Room &room) {
  for (tile::MapOp map : maps)
    number(map);
  // Values that took arithmetic save more than what was read, unless they take
  // too much room, or more than little for an addition or two.
  int64_t computed = choose(maps, lanesPerThread);
  if (computed > std::min(kLittle, room.registers)) {
    packs = true;
    computed = choose(maps, lanesPerThread);
  }
  if (computed > room.registers || (computed > kLittle && !keepsDear())) {
    auto isShared = [&] {
      std::optional<int64_t> words = wordsOf(lanesPerThread);
      return room.shared && words && *words <= room.registers + room.shared;
    };
    bool holdsComputed = computed <= room.registers || isShared();
    auto withComputed = std::move(passes);
    readsOnly = true;
    int64_t taken = choose(maps, lanesPerThread);
    if (computed <= taken && holdsComputed) {
      passes = std::move(withComputed);
      readsOnly = false;
      taken = computed;
    }
    if (taken > room.registers && isShared())
      inShared =
          std::max<int64_t>(0, *wordsOf(lanesPerThread) - room.registers);
    else if (taken > room.registers)
      passes.clear();
  }
  for (tile::MapOp map : maps)
    if (const Pass *pass = find(map);
        pass && pass->given.empty() && pass->kept.empty())
      passes.erase(map);
}

} // namespace azulejo::gpu
