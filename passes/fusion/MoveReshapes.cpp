//===- MoveReshapes.cpp - rows are flattened before they are scaled -------===//
//
// A norm or a scale of rows, then a reshape of the rows ([B, S, K] to [B * S,
// K], as libraries of products want it), then products: the reshape hides the
// scale from the product that it could move behind. Flattened first, rows are
// scaled all the same, and a reshape is free wherever it stands.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphWriter.h"
#include "passes/fusion/Fusion.h"

namespace azulejo::fusion {
#define GEN_PASS_DEF_MOVERESHAPESPASS
#include "passes/fusion/Passes.h.inc"
} // namespace azulejo::fusion

using namespace mlir;
using namespace azulejo;
using graphir::GraphWriter;
using opset::Dim;
using opset::Shape;

/// Whether the reshape changes the axes of the rows only.
static bool keepsRows(graphir::ReshapeOp op) {
  Shape from = GraphWriter::shapeOf(op.getInput()),
        to = GraphWriter::shapeOf(op.getResult());
  if (from.size() < 2 || to.size() < 2 || from.back() != to.back())
    return false;
  from.pop_back();
  to.pop_back();
  return opset::elementCount(from) == opset::elementCount(to);
}

/// The shape of one value per row of a tensor.
static Shape perRow(Value rows) {
  Shape shape = GraphWriter::shapeOf(rows);
  shape.back() = Dim(1);
  return shape;
}

static bool isOnePerRow(Value value) {
  Shape shape = GraphWriter::shapeOf(value);
  return shape.empty() || shape.back().isConstant(1);
}

/// `op`, which scales rows, on rows in the axes that the reshape gives them;
/// null if it is something else.
static Value onReshaped(GraphWriter &w, Operation *op,
                        graphir::ReshapeOp reshape) {
  Shape to = GraphWriter::shapeOf(reshape.getResult());
  if (isa<graphir::RmsNormOp>(op) && op->getNumOperands() == 1)
    return w.op("rms_norm", {w.reshape(op->getOperand(0), to)},
                graphir::attrsOf(op));
  bool divides = isa<graphir::DivOp>(op);
  if (!divides && !isa<graphir::MulOp>(op))
    return {};
  for (unsigned factor : {1u, 0u}) {
    Value scale = op->getOperand(factor), kept = op->getOperand(1 - factor);
    if (!isOnePerRow(scale) || (divides && factor == 0) ||
        kept.getType() != op->getResult(0).getType())
      continue;
    scale = w.op("broadcast", {scale}, {{"shape", perRow(kept)}});
    scale = w.reshape(scale, perRow(reshape.getResult()));
    return w.op(graphir::kindOf(op), {w.reshape(kept, to), scale});
  }
  return {};
}

LogicalResult fusion::moveReshapes(func::FuncOp function) {
  SmallVector<graphir::ReshapeOp> reshapes(
      function.getBody().front().getOps<graphir::ReshapeOp>());
  DenseSet<Operation *> known(reshapes.begin(), reshapes.end());
  DenseSet<Operation *> moved; // their readers scale rows, for products only
  while (!reshapes.empty()) {
    graphir::ReshapeOp reshape = reshapes.pop_back_val();
    Operation *op = reshape.getInput().getDefiningOp();
    if (!op || !op->hasOneUse() || !keepsRows(reshape) ||
        !(moved.contains(reshape) ||
          llvm::all_of(reshape->getUsers(), llvm::IsaPred<graphir::MatmulOp>)))
      continue;
    OpBuilder builder(reshape);
    GraphWriter w(builder, op->getLoc());
    Value scaled = onReshaped(w, op, reshape);
    if (w.failed())
      return failure();
    if (!scaled)
      continue;
    w.label(scaled, graphir::labelOf(op));
    reshape->getResult(0).replaceAllUsesWith(scaled);
    reshape->erase();
    op->erase();
    // One that has moved may move on.
    for (Value operand : scaled.getDefiningOp()->getOperands())
      if (auto next = operand.getDefiningOp<graphir::ReshapeOp>();
          next && operand.getType() == scaled.getType() &&
          known.insert(next).second) {
        moved.insert(next);
        reshapes.push_back(next);
      }
  }
  return success();
}

namespace {
struct MoveReshapesPass : fusion::impl::MoveReshapesPassBase<MoveReshapesPass> {
  using MoveReshapesPassBase::MoveReshapesPassBase;

  void runOnOperation() override {
    if (failed(fusion::moveReshapes(getOperation())))
      signalPassFailure();
  }
};
} // namespace
