//===- Traffic.cpp - work and memory traffic of ops and regions -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Traffic.h"

#include "ir/graph/GraphTypes.h"

using namespace mlir;

namespace azulejo::driver {

static opset::TensorType typeOf(Value value) {
  return graphir::toOpset(cast<RankedTensorType>(value.getType()));
}

static opset::Dim bytesOf(Value value) {
  opset::TensorType type = typeOf(value);
  return opset::elementCount(type.shape) * opset::Dim(dtypeBytes(type.dtype));
}

opset::Dim DimTable::bytes(Value value) const { return bytesOf(value); }

plan::Expr DimTable::expr(const opset::Dim &dim) const {
  plan::Expr total(0);
  bool first = true;
  for (const auto &[monomial, coefficient] : dim.monomials()) {
    plan::Expr product(coefficient);
    bool one = coefficient == 1 && !monomial.empty();
    for (const std::string &name : monomial) {
      int64_t index = 0;
      while (index < static_cast<int64_t>(dims.size()) &&
             dims[index].name != name)
        ++index;
      plan::Expr symbol = plan::Expr::dim(index);
      product = one ? symbol : product * symbol;
      one = false;
    }
    total = first ? product : total + product;
    first = false;
  }
  return total;
}

/// Moves data or makes constants: free in every plan (a view, an index).
static bool isFree(Operation *op) {
  return isa<graphir::ConstantOp, graphir::IotaOp>(op) ||
         (isa<graphir::IndexingOpInterface>(op) &&
          !isa<graphir::ElementwiseOpInterface>(op));
}

static bool isHalf(Value value) {
  DType dtype = typeOf(value).dtype;
  return dtype == DType::F16 || dtype == DType::BF16;
}

double matrixShare(graphir::FusedOp region, const target::TargetDesc &target) {
  double share = 0;
  for (Operation &op : region.getBody().front().without_terminator()) {
    if (!isa<graphir::AttentionOp, graphir::MatmulOp>(op))
      continue;
    if (isHalf(op.getOperand(0)) && isHalf(op.getOperand(1)))
      share = 1;
    else if (target.hasMma && opset::isTf32(graphir::attrsOf(&op)))
      share = std::max(share, 0.5);
  }
  return share;
}

opset::Dim flopsOf(Operation *op) {
  if (isFree(op) || isa<graphir::GatherOp, graphir::ConcatOp,
                        graphir::CacheUpdateOp, graphir::YieldOp>(op))
    return opset::Dim(0);
  if (auto matmul = dyn_cast<graphir::MatmulOp>(op)) {
    opset::Shape lhs = typeOf(op->getOperand(0)).shape;
    opset::Dim depth = lhs[lhs.size() - (matmul.getTransposeA() ? 2 : 1)];
    return opset::elementCount(typeOf(op->getResult(0)).shape) * depth *
           opset::Dim(2);
  }
  if (auto attention = dyn_cast<graphir::AttentionOp>(op)) {
    opset::Shape q = typeOf(op->getOperand(0)).shape,
                 k = typeOf(op->getOperand(1)).shape,
                 v = typeOf(op->getOperand(2)).shape;
    bool bshd = attention.getLayout() == "bshd";
    opset::Dim scores =
        q[0] * q[bshd ? 2 : 1] * q[bshd ? 1 : 2] * k[bshd ? 1 : 2];
    // Half of a square causal score matrix is never computed.
    bool half =
        attention.getCausal() != "none" && q[bshd ? 1 : 2] == k[bshd ? 1 : 2];
    return scores * (q[3] + v[3]) * opset::Dim(half ? 1 : 2);
  }
  opset::Dim elements = opset::elementCount(typeOf(op->getOperand(0)).shape);
  if (isa<graphir::SoftmaxOp>(op))
    return elements * opset::Dim(5); // max, subtract, exp, sum, divide
  if (isa<graphir::LayerNormOp>(op))
    return elements * opset::Dim(7);
  if (isa<graphir::RmsNormOp>(op))
    return elements * opset::Dim(4);
  if (isa<graphir::RopeOp>(op))
    return elements * opset::Dim(3);
  if (isa<graphir::ReductionOpInterface>(op))
    return elements;
  return opset::elementCount(typeOf(op->getResult(0)).shape);
}

/// Reads and writes of one op as a kernel of its own; free operands are read at
/// their source.
static opset::Dim unfusedBytesOf(Operation *op) {
  opset::Dim total(0);
  SmallVector<Value> stack(op->getOperands());
  DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *def = value.getDefiningOp();
    if (def && isFree(def))
      stack.append(def->operand_begin(), def->operand_end());
    else
      total = total + bytesOf(value);
  }
  for (Value result : op->getResults())
    total = total + bytesOf(result);
  if (auto attention = dyn_cast<graphir::AttentionOp>(op)) {
    // Scores out of the first product, through scale and mask, through
    // softmax, into the second product: six passes over the matrix.
    opset::TensorType q = typeOf(op->getOperand(0)),
                      k = typeOf(op->getOperand(1));
    bool bshd = attention.getLayout() == "bshd";
    opset::Dim scores = q.shape[0] * q.shape[bshd ? 2 : 1] *
                        q.shape[bshd ? 1 : 2] * k.shape[bshd ? 1 : 2];
    total = total + scores * opset::Dim(6 * dtypeBytes(q.dtype));
  }
  return total;
}

opset::Dim unfusedBytesOf(Block &block) {
  opset::Dim total(0);
  for (Operation &op : block.without_terminator())
    if (!isFree(&op))
      total = total + unfusedBytesOf(&op);
  return total;
}

RegionTraffic trafficOf(graphir::FusedOp region) {
  Block &body = region.getBody().front();
  RegionTraffic traffic{opset::Dim(0), opset::Dim(0), unfusedBytesOf(body)};
  for (Value input : region.getInputs())
    traffic.bytes = traffic.bytes + bytesOf(input);
  for (Value output : region.getOutputs())
    traffic.bytes = traffic.bytes + bytesOf(output);
  for (Operation &op : body.without_terminator())
    traffic.flops = traffic.flops + flopsOf(&op);
  return traffic;
}

} // namespace azulejo::driver
