//===- PlainHeads.cpp - heads as they lie in memory -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/PlainHeads.h"

#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"

using namespace mlir;

namespace azulejo::tiling {

static opset::Shape shapeOf(Value value) {
  return graphir::toOpset(cast<RankedTensorType>(value.getType())).shape;
}

/// Whether the last axis becomes two and the others stay.
static bool splitsLastAxis(graphir::ReshapeOp op) {
  opset::Shape from = shapeOf(op.getInput()), to = shapeOf(op.getResult());
  if (to.size() != from.size() + 1)
    return false;
  opset::Dim heads = to[to.size() - 2] * to.back();
  to.resize(to.size() - 2);
  to.push_back(heads);
  return from == to;
}

/// Whether a slice takes neighbours of the last axis, from a multiple of eight
/// on, and all of the other axes.
static bool slicesLastAxis(graphir::SliceOp op) {
  opset::Shape from = shapeOf(op.getInput()), to = shapeOf(op.getResult());
  size_t last = from.size() - 1;
  for (size_t axis = 0; axis <= last; ++axis)
    if (op.getSteps()[axis] != 1 ||
        (axis < last ? op.getStarts()[axis] != 0 || from[axis] != to[axis]
                     : op.getStarts()[axis] % 8 != 0))
      return false;
  return true;
}

bool arePlainHeads(Value operand) {
  while (Operation *op = operand.getDefiningOp()) {
    if (auto transpose = dyn_cast<graphir::TransposeOp>(op)) {
      if (transpose.getPerm().back() !=
          static_cast<int64_t>(transpose.getPerm().size()) - 1)
        return false;
    } else if (auto reshape = dyn_cast<graphir::ReshapeOp>(op)) {
      if (!splitsLastAxis(reshape))
        return false;
    } else if (auto slice = dyn_cast<graphir::SliceOp>(op)) {
      if (!slicesLastAxis(slice))
        return false;
    } else {
      return false;
    }
    operand = op->getOperand(0);
  }
  return true;
}

} // namespace azulejo::tiling
