//===- DecomposeAttention.cpp - attention as plain ops --------------------===//
//
// The rules are those of the op: scale, softcap, bias, ALiBi, then visibility;
// a row without a visible key gives 0 and an LSE of -inf.
//
// Positions are i64. A symbolic length enters the arithmetic as the largest
// coordinate plus one, a reduction over an iota, because no op turns a
// dimension into a number.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphWriter.h"
#include "passes/graph/Graph.h"

#include <limits>

namespace azulejo::graphpasses {
#define GEN_PASS_DEF_DECOMPOSEATTENTIONPASS
#include "passes/graph/Passes.h.inc"
} // namespace azulejo::graphpasses

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::Dim;
using opset::DType;
using opset::Shape;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Decomposition {
public:
  Decomposition(graphir::AttentionOp op, OpBuilder &builder,
                const DecomposeAttentionOptions &options)
      : op(op), w(builder, op.getLoc()), options(options),
        dtype(w.dtypeOf(op.getQ())) {}

  LogicalResult run();

private:
  Value headsFirst(Value x) {
    return op.getLayout() == "bshd" ? w.transpose(x, {0, 2, 1, 3}) : x;
  }
  /// [B, H, M, N] with the heads split into groups that share a KV head.
  Value grouped(Value x, const Dim &perGroup);
  Value sizeAsNumber(const Dim &size);
  void findPositions();
  Value visibility();
  Value scores();
  Value weights(Value scores);
  Value output(Value weights);

  graphir::AttentionOp op;
  GraphWriter w;
  DecomposeAttentionOptions options;
  DType dtype;
  Value q, k, v;
  Dim batch, heads, queries, keys, headsKv;
  Dim groupSize; ///< query heads per KV head; 1 when no grouping is needed
  // Positions, broadcastable to the scores; null when nothing asks for them.
  Value key, own, length;
  Value logSumExp;
};

} // namespace

/// Several KV heads under more query heads: an axis for the groups makes the
/// product's batch axes broadcast. A single KV head broadcasts as it is.
Value Decomposition::grouped(Value x, const Dim &perGroup) {
  if (w.failed() || groupSize.isConstant(1))
    return x;
  Shape shape = w.shapeOf(x);
  return w.reshape(x, {shape[0], headsKv, perGroup, shape[2], shape[3]});
}

Value Decomposition::sizeAsNumber(const Dim &size) {
  if (std::optional<int64_t> value = size.constant())
    return w.constant(static_cast<double>(*value), DType::I64);
  Value coordinates = w.iota({size}, 0, DType::I64);
  Value last = w.op("reduce_max", coordinates,
                    {{"axes", std::vector<int64_t>{0}}, {"keepdims", false}});
  return w.op("add", {last, w.constant(1, DType::I64)});
}

void Decomposition::findPositions() {
  Value lengths = op.getRole("lengths");
  bool ranked = op.getCausal() != "none" || op.getRole("slopes");
  if (!lengths && !ranked)
    return;
  key = w.iota({Dim(1), keys}, 1, DType::I64);
  if (lengths) {
    Value clamped =
        w.op("max", {w.cast(lengths, DType::I64), w.constant(0, DType::I64)});
    clamped = w.op("min", {clamped, sizeAsNumber(keys)});
    length = w.reshape(clamped, {batch, Dim(1), Dim(1), Dim(1)});
  }
  if (!ranked)
    return;
  own = w.iota({queries, Dim(1)}, 0, DType::I64);
  if (op.getCausal() == "top_left")
    return;
  // Bottom right: the last query stands at the last key.
  Dim difference = keys - queries;
  if (!length && difference.isConstant(0))
    return;
  Value offset;
  if (!length && difference.isConstant())
    offset =
        w.constant(static_cast<double>(*difference.constant()), DType::I64);
  else
    offset = w.op(
        "sub", {length ? length : sizeAsNumber(keys), sizeAsNumber(queries)});
  own = w.op("add", {own, offset});
}

/// Where a key counts for a query, as i1; null when everywhere.
Value Decomposition::visibility() {
  Value all;
  auto require = [&](Value condition) {
    all = all ? w.op("and", {all, condition}) : condition;
  };
  if (op.getCausal() != "none")
    require(w.compare("le", key, own));
  if (int64_t window = static_cast<int64_t>(op.getWindow()))
    require(w.compare("lt", w.op("sub", {own, key}),
                      w.constant(static_cast<double>(window), DType::I64)));
  if (length)
    require(w.compare("lt", key, length));
  if (Value mask = op.getRole("mask"))
    require(mask);
  return all;
}

/// In f32, [B, H, Sq, Sk], -inf where a key is not visible.
Value Decomposition::scores() {
  Value left = q, right = k;
  if (options.f32Scores) {
    left = w.cast(left, DType::F32);
    right = w.cast(right, DType::F32);
  }
  left = grouped(left, groupSize);
  right = grouped(right, 1);
  Value s = w.matmul(left, right, /*transposeA=*/false, /*transposeB=*/true,
                     op.getPrecision());
  s = w.cast(w.reshape(s, {batch, heads, queries, keys}), DType::F32);
  auto number = [&](double value) { return w.constant(value, DType::F32); };
  if (double scale = op.getScale().convertToDouble(); scale != 1)
    s = w.op("mul", {s, number(scale)});
  if (double cap = op.getSoftcap().convertToDouble(); cap > 0)
    s = w.op("mul", {w.op("tanh", w.op("div", {s, number(cap)})), number(cap)});
  if (Value bias = op.getRole("bias"))
    s = w.op("add", {s, bias});
  if (Value slopes = op.getRole("slopes")) {
    Value slope =
        w.reshape(w.cast(slopes, DType::F32), {heads, Dim(1), Dim(1)});
    Value distance = w.cast(w.op("sub", {key, own}), DType::F32);
    s = w.op("add", {s, w.op("mul", {slope, distance})});
  }
  if (Value visible = visibility())
    s = w.op("where", {visible, s, number(-kInfinity)});
  return s;
}

/// softmax, with 0 for a row whose scores are all -inf: there the maximum is
/// taken as 0, so that exp gives 0 and not NaN, and the sum 0 as 1.
Value Decomposition::weights(Value s) {
  Value zero = w.constant(0, DType::F32);
  Value largest = w.reduce("max", s, 3);
  Value none = w.compare("eq", largest, w.constant(-kInfinity, DType::F32));
  Value centre = w.op("where", {none, zero, largest});
  Value e = w.op("exp", w.op("sub", {s, centre}));
  Value sum = w.reduce("sum", e, 3);
  if (op.getLse()) // log(0) is the -inf that such a row wants
    logSumExp = w.reshape(w.op("add", {centre, w.op("log", sum)}),
                          {batch, heads, queries});
  Value divisor = w.op("where", {none, w.constant(1, DType::F32), sum});
  return w.cast(w.op("div", {e, divisor}), dtype);
}

Value Decomposition::output(Value p) {
  Value values = v;
  if (length) { // [B, 1, Sk, 1]: what lies past the length may hold anything
    Value row = w.iota({keys, Dim(1)}, 0, DType::I64);
    Value exists = w.compare("lt", row, length);
    values = w.op("where", {exists, values, w.constant(0, dtype)});
  }
  p = grouped(p, groupSize);
  Value o = w.matmul(p, grouped(values, 1), /*transposeA=*/false,
                     /*transposeB=*/false, op.getPrecision());
  o = w.reshape(o, {batch, heads, queries, w.shapeOf(v)[3]});
  return headsFirst(o); // the permutation is its own inverse
}

LogicalResult Decomposition::run() {
  q = headsFirst(op.getQ());
  k = headsFirst(op.getK());
  v = headsFirst(op.getV());
  if (w.failed())
    return failure();
  Shape qShape = w.shapeOf(q), kShape = w.shapeOf(k);
  batch = qShape[0], heads = qShape[1], queries = qShape[2];
  headsKv = kShape[1], keys = kShape[2];
  groupSize = Dim(1);
  if (heads != headsKv && !headsKv.isConstant(1))
    groupSize = heads.dividedBy(headsKv).value_or(Dim(1));
  findPositions();
  Value o = output(weights(scores()));
  if (w.failed())
    return failure();
  w.label(o, graphir::labelOf(op));
  op->getResult(0).replaceAllUsesWith(o);
  if (op.getLse())
    op->getResult(1).replaceAllUsesWith(logSumExp);
  op->erase();
  return success();
}

LogicalResult
graphpasses::decomposeAttention(graphir::AttentionOp op,
                                const DecomposeAttentionOptions &options) {
  OpBuilder builder(op);
  return Decomposition(op, builder, options).run();
}

namespace {
struct DecomposeAttentionPass
    : graphpasses::impl::DecomposeAttentionPassBase<DecomposeAttentionPass> {
  using DecomposeAttentionPassBase::DecomposeAttentionPassBase;

  void runOnOperation() override {
    SmallVector<graphir::AttentionOp> ops;
    getOperation().walk([&](graphir::AttentionOp op) { ops.push_back(op); });
    for (graphir::AttentionOp op : ops)
      if (failed(decomposeAttention(op, {f32Scores})))
        return signalPassFailure();
    if (ops.empty())
      markAllAnalysesPreserved();
  }
};
} // namespace
