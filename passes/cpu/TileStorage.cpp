//===- TileStorage.cpp - where tiles live, and which way lanes run --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/cpu/KernelLowering.h"

using namespace mlir;

namespace azulejo::cpu {

static int64_t roundUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

static bool isMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2;
}

void KernelLowering::assignLanes() {
  // Online softmax wants its scores and its output lanes-first; the ops that
  // make or take those tiles follow, until nothing changes.
  bool changed = true;
  auto mark = [&](Value value) {
    if (isMatrix(value))
      changed |= lanesFirst.insert(value).second;
  };
  auto link = [&](Value a, Value b) {
    if (isLanesFirst(a) || isLanesFirst(b)) {
      mark(a);
      mark(b);
    }
  };
  while (changed) {
    changed = false;
    kernel.walk([&](Operation *op) {
      if (auto softmax = dyn_cast<tile::OnlineSoftmaxOp>(op)) {
        for (Value value : {softmax.getScores(), softmax.getOutput(),
                            softmax.getWeights(), softmax.getNewOutput()})
          mark(value);
      } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
        link(dot.getAccumulator(), dot.getResult());
        // The operand that shares the result's lane axis is the one that is
        // read as vectors.
        if (isLanesFirst(dot.getResult()))
          mark(dot.getLhs());
      } else if (auto map = dyn_cast<tile::MapOp>(op)) {
        SmallVector<Value> group(map.getInputs());
        group.append(map.result_begin(), map.result_end());
        for (Value a : group)
          if (isLanesFirst(a))
            for (Value b : group)
              mark(b);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
        for (auto [init, arg, yielded, result] :
             llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                       yield.getOperands(), loop.getResults())) {
          link(init, arg);
          link(arg, yielded);
          link(yielded, result);
        }
      }
    });
  }
}

TileBuffer &KernelLowering::allocate(HostBuilder &h, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  bool first = isLanesFirst(tile);
  int64_t laneExtent = 1, rows = 1;
  if (type.getRank() == 1)
    laneExtent = type.getDimSize(0);
  else if (type.getRank() == 2) {
    laneExtent = type.getDimSize(first ? 0 : 1);
    rows = type.getDimSize(first ? 1 : 0);
  }
  TileBuffer buffer;
  buffer.element = type.getElementType();
  buffer.lanesFirst = first;
  // Whole register tiles, and whole blocks of a transposition.
  buffer.rows = std::max(roundUp(rows, registerM), roundUp(rows, lanes));
  buffer.pitch = roundUp(laneExtent, lanes * registerN);
  auto pointer = LLVM::LLVMPointerType::get(h.b.getContext());
  buffer.pointer =
      LLVM::GEPOp::create(h.b, h.loc, pointer, h.b.getI8Type(), scratch,
                          ArrayRef<LLVM::GEPArg>{h.i64(scratchBytes)});
  scratchBytes +=
      roundUp(buffer.rows * buffer.pitch * storageBytes(buffer.element), 64);
  return tiles[tile] = buffer;
}

Value KernelLowering::elementAddress(HostBuilder &h, const TileBuffer &buffer,
                                     Value row, Value lane) {
  return h.address(buffer.pointer, buffer.element,
                   h.add(h.mul(row, h.i64(buffer.pitch)), lane));
}

bool KernelLowering::isDirect(tile::MapOp map) const {
  // A map that does nothing but read an f32 view, with its last two
  // coordinates in one index each, and that only broadcast operands use.
  if (map.getNumResults() != 1 || !map.getInputs().empty() ||
      map.getShape().size() != 2 ||
      schedule.knob(schedule.knobs.count("packKv") ? "packKv" : "packLhs"))
    return false;
  Block &body = map.getBody().front();
  auto read = body.getTerminator()->getOperand(0).getDefiningOp<tile::ReadOp>();
  if (!read || !read.getView().getType().getElementType().isF32())
    return false;
  int uses[2] = {0, 0};
  for (Value index : read.getIndices())
    for (int axis : {0, 1})
      uses[axis] += index == body.getArgument(axis);
  // Every other index must not depend on the coordinates.
  for (Operation &op : body.without_terminator())
    for (Value operand : op.getOperands())
      if (&op != read.getOperation() &&
          (operand == body.getArgument(0) || operand == body.getArgument(1)))
        return false;
  if (uses[0] != 1 || uses[1] != 1)
    return false;
  for (OpOperand &use : map.getResult(0).getUses()) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    if (!dot)
      return false;
    bool broadcastsRhs = isLanesFirst(dot.getResult());
    if (use.getOperandNumber() != (broadcastsRhs ? 1u : 0u))
      return false;
  }
  return true;
}

std::optional<BroadcastOperand> KernelLowering::directOperand(HostBuilder &h,
                                                              Value tile) {
  auto map = tile.getDefiningOp<tile::MapOp>();
  if (!map || !isDirect(map))
    return std::nullopt;
  Block &body = map.getBody().front();
  auto read = body.getTerminator()->getOperand(0).getDefiningOp<tile::ReadOp>();
  const ViewAccess &view = views[read.getView()];
  // Coordinates are absolute, so the tile starts at the map's origin.
  Value strides[2];
  Value offset = h.i64(0);
  for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
    for (int coordinate : {0, 1})
      if (index == body.getArgument(coordinate)) {
        strides[coordinate] = view.strides[axis];
        offset = h.add(offset, h.mul(outer(map.getOrigin()[coordinate]),
                                     view.strides[axis]));
      }
    if (!isa<BlockArgument>(index) ||
        cast<BlockArgument>(index).getOwner() != &body) {
      Value scalar = index;
      if (Operation *def = index.getDefiningOp();
          def && def->getBlock() == &body) {
        // Index arithmetic inside the body that is the same for the tile.
        for (Operation &op : body.without_terminator())
          if (!isa<tile::ReadOp>(op) && !this->scalars.count(op.getResult(0)))
            if (failed(lowerScalar(h, op)))
              return std::nullopt;
      }
      offset = h.add(offset, h.mul(outer(scalar), view.strides[axis]));
    }
  }
  return BroadcastOperand{h.address(view.base, view.storage, offset),
                          view.storage, strides[0], strides[1]};
}

BroadcastOperand KernelLowering::broadcastOperand(HostBuilder &h, Value tile) {
  if (std::optional<BroadcastOperand> direct = directOperand(h, tile))
    return *direct;
  const TileBuffer &buffer = tiles[tile];
  Value pitch = h.i64(buffer.pitch), one = h.i64(1);
  return buffer.lanesFirst
             ? BroadcastOperand{buffer.pointer, buffer.element, one, pitch}
             : BroadcastOperand{buffer.pointer, buffer.element, pitch, one};
}

} // namespace azulejo::cpu
