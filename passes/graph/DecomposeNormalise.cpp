//===- DecomposeNormalise.cpp - rows as reductions and maps ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphWriter.h"
#include "passes/graph/Graph.h"

namespace azulejo::graphpasses {
#define GEN_PASS_DEF_DECOMPOSENORMALISEPASS
#include "passes/graph/Passes.h.inc"
} // namespace azulejo::graphpasses

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::DType;

/// One reciprocal per row, which is at most 1: the largest element adds 1 to
/// the sum. A quotient per element is many instructions on a GPU.
static Value writeSoftmax(GraphWriter &w, Value x, int64_t axis) {
  Value e = w.op("exp", w.op("sub", {x, w.reduce("max", x, axis)}));
  Value one = w.constant(1, DType::F32);
  return w.op("mul", {e, w.op("div", {one, w.reduce("sum", e, axis)})});
}

/// x / sqrt(variance + eps).
static Value writeScaledRow(GraphWriter &w, Value x, Value variance,
                            double eps) {
  Value shifted = w.op("add", {variance, w.constant(eps, DType::F32)});
  return w.op("mul", {x, w.op("rsqrt", shifted)});
}

static Value writeRmsNorm(GraphWriter &w, Value x, double eps) {
  int64_t axis = w.typeOf(x).rank() - 1;
  return writeScaledRow(w, x, w.reduce("mean", w.op("mul", {x, x}), axis), eps);
}

/// Where the mean is much larger than the spread, the mean's own rounding is
/// not small beside the spread. What it leaves over is the mean of the centred
/// row; taking that out of both the row and the variance costs no further pass,
/// as it is summed together with the squares.
static Value writeLayerNorm(GraphWriter &w, Value x, double eps) {
  int64_t axis = w.typeOf(x).rank() - 1;
  Value centred = w.op("sub", {x, w.reduce("mean", x, axis)});
  Value rest = w.reduce("mean", centred, axis);
  Value meanSquare = w.reduce("mean", w.op("mul", {centred, centred}), axis);
  Value variance = w.op("sub", {meanSquare, w.op("mul", {rest, rest})});
  // Rounding may leave less than nothing of a constant row.
  variance = w.op("max", {variance, w.constant(0, DType::F32)});
  Value row = w.op("sub", {centred, rest});
  return writeScaledRow(w, row, variance, eps);
}

/// The value of a normalisation op in f32, given its first operand in f32.
/// Null when `op` is none.
static Value writeNormalised(GraphWriter &w, Operation *op, Value x) {
  if (auto softmax = dyn_cast<graphir::SoftmaxOp>(op))
    return writeSoftmax(w, x, softmax.getNormalisedAxis());
  double eps = op->getAttrOfType<FloatAttr>("eps").getValueAsDouble();
  Value y = isa<graphir::LayerNormOp>(op) ? writeLayerNorm(w, x, eps)
                                          : writeRmsNorm(w, x, eps);
  // Narrow parameters need no cast: the ops widen them to f32.
  if (op->getNumOperands() > 1)
    y = w.op("mul", {y, op->getOperand(1)});
  if (op->getNumOperands() > 2)
    y = w.op("add", {y, op->getOperand(2)});
  return y;
}

static LogicalResult decompose(Operation *op) {
  OpBuilder builder(op);
  GraphWriter w(builder, op->getLoc());
  Value x = op->getOperand(0);
  Value y = writeNormalised(w, op, w.cast(x, DType::F32));
  y = w.cast(y, w.dtypeOf(x));
  if (w.failed())
    return failure();
  w.label(y, graphir::labelOf(op));
  op->getResult(0).replaceAllUsesWith(y);
  op->erase();
  return success();
}

LogicalResult graphpasses::decomposeNormalise(Block &block, int64_t *count) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<graphir::SoftmaxOp, graphir::LayerNormOp, graphir::RmsNormOp>(op))
      continue;
    if (failed(decompose(&op)))
      return failure();
    if (count)
      ++*count;
  }
  return success();
}

namespace {
struct DecomposeNormalisePass
    : graphpasses::impl::DecomposeNormalisePassBase<DecomposeNormalisePass> {
  using DecomposeNormalisePassBase::DecomposeNormalisePassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!fusedOnly || isa<graphir::FusedOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    int64_t count = 0;
    for (Block *block : blocks)
      if (failed(decomposeNormalise(*block, &count)))
        return signalPassFailure();
    if (count == 0)
      markAllAnalysesPreserved();
  }
};
} // namespace
