//===- Attention.cpp - exact attention without an N x N buffer ------------===//
//
// One work item owns tileM query rows of one head and walks the keys that they
// can see, tileN at a time:
//
//   q tile                               (pulls q's prologue, e.g. RoPE)
//   for j in steps of tileN over [first, last) visible key
//     s = q x k^T
//     s = scale, softcap, bias, masks    one map; -inf where not visible
//     p, m, l, o = online softmax
//     o = o + p x v
//   output = o / l                       (pulls the epilogue)
//   lse    = (m + log2 l) * ln 2
//
// Masks are predicates over (b, h, i, j); causality, windows and lengths also
// bound the loop, so blocks that nobody sees cost nothing.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/Epilogue.h"
#include "passes/tiling/Families.h"
#include "passes/tiling/MatrixSchedules.h"
#include "passes/tiling/RowSpace.h"

#include "ir/graph/GraphTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;

namespace azulejo::tiling {

static graphir::AttentionOp anchorOf(graphir::FusedOp region, int &count) {
  graphir::AttentionOp anchor;
  count = 0;
  for (auto op : region.getBody().front().getOps<graphir::AttentionOp>()) {
    anchor = op;
    ++count;
  }
  return anchor;
}

namespace {

class Lowering {
public:
  Lowering(OpBuilder &b, graphir::FusedOp region, graphir::AttentionOp op,
           const schedule::Schedule &schedule, Epilogue epilogue)
      : f(b, region, schedule), emitter(f), op(op), attrs(graphir::attrsOf(op)),
        epilogue(std::move(epilogue)), tileM(schedule.knob("tileM")),
        tileN(schedule.knob("tileN")) {
    bshd = text("layout") == "bshd";
    opset::Shape q = shapeOf(op->getOperand(0)), k = shapeOf(op->getOperand(1)),
                 v = shapeOf(op->getOperand(2));
    batch = q[0];
    heads = q[bshd ? 2 : 1];
    queries = q[bshd ? 1 : 2];
    kvHeads = k[bshd ? 2 : 1];
    keys = k[bshd ? 1 : 2];
    headSize = *q[3].constant();
    valueSize = *v[3].constant();
  }

  Result<tile::KernelOp> run() {
    f.setGrid({{batch, 1}, {heads, 1}, {queries, tileM}});
    b = tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), 0);
    h = tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), 1);
    q0 = f.mul(tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), 2),
               f.constant(tileM));
    queryLimit = f.dim(queries);
    kvHead =
        kvHeads == heads ? h : f.div(h, f.div(f.dim(heads), f.dim(kvHeads)));
    findBounds();
    Value q = emitTile(0, h, q0, queryLimit, tileM, headSize);
    SmallVector<Value> state{
        f.fill({tileM}, f.f32(-std::numeric_limits<double>::infinity())),
        f.fill({tileM}, f.f32(0)), f.fill({tileM, valueSize}, f.f32(0))};
    state = emitLoop(q, state);
    for (const EpilogueOutput &output : epilogue.outputs)
      emitOutput(output, state);
    if (!emitter.failure.empty())
      return makeError(ErrorCode::Internal, "kernel Attention",
                       emitter.failure);
    return f.kernel;
  }

private:
  std::string text(const char *name) const {
    return std::get<std::string>(attrs.at(name));
  }
  double number(const char *name) const {
    return std::get<double>(attrs.at(name));
  }
  int64_t window() const { return std::get<int64_t>(attrs.at("window")); }
  bool causal() const { return text("causal") != "none"; }
  Value role(const char *name) const {
    int index = opset::attentionOperand(attrs, name);
    return index < 0 ? Value() : op->getOperand(index);
  }

  /// The key range of this block of queries, and how queries align to keys.
  void findBounds() {
    keyLimit = f.dim(keys);
    if (Value lengths = role("lengths")) {
      Value length = scalarElement(lengths);
      Value index =
          arith::IndexCastOp::create(f.b, f.loc, f.b.getIndexType(), length);
      keyLimit = f.min(f.max(index, f.constant(0)), keyLimit);
    }
    // Without causality only ALiBi asks where a query stands: at the end.
    offset =
        text("causal") == "top_left"
            ? f.constant(0)
            : Value(arith::SubIOp::create(f.b, f.loc, keyLimit, queryLimit));
    first = f.constant(0);
    last = keyLimit;
    if (!causal())
      return;
    // The last query of the block sees keys up to itself plus the offset.
    Value reach = f.add(f.add(q0, f.constant(tileM)), offset);
    last = f.max(f.min(last, reach), f.constant(0));
    if (window() > 0) {
      Value oldest = f.add(f.sub(q0, f.constant(window() - 1)), offset);
      Value start = f.max(oldest, f.constant(0));
      first = f.mul(f.div(start, f.constant(tileN)), f.constant(tileN));
    }
  }

  /// One element of a per-batch operand, read by a map of one element.
  Value scalarElement(Value operand) {
    emitter.reset();
    return emitter.emit(operand, ValueRange{b});
  }

  /// rows x channels of q, k or v at head `head`.
  Value emitTile(unsigned operand, Value head, Value row0, Value rowLimit,
                 int64_t rows, int64_t channels) {
    KernelFrame::MapSpec spec;
    spec.origin = {row0, f.constant(0)};
    spec.extent = {rowLimit, f.constant(channels)};
    spec.shape = {rows, channels};
    spec.kinds = {"tile"};
    spec.pads = {0.0};
    spec.results = {f.tileType({rows, channels}, f.b.getF32Type())};
    tile::MapOp map = f.map(spec, [&](ValueRange at, ValueRange) {
      emitter.reset();
      SmallVector<Value> coords{b, head, at[0], at[1]};
      if (bshd)
        std::swap(coords[1], coords[2]);
      Value element = emitter.emit(op->getOperand(operand), coords);
      return SmallVector<Value>{element ? element : f.f32(0)};
    });
    return map.getResult(0);
  }

  SmallVector<Value> emitLoop(Value q, SmallVector<Value> state) {
    auto loop =
        scf::ForOp::create(f.b, f.loc, first, last, f.constant(tileN), state);
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(loop.getBody());
    Value j0 = loop.getInductionVar();
    ValueRange carried = loop.getRegionIterArgs();
    Value rows = f.min(f.sub(queryLimit, q0), f.constant(tileM));
    Value count = f.min(f.sub(last, j0), f.constant(tileN));
    Value k = emitTile(1, kvHead, j0, last, tileN, headSize);
    Value zero = f.f32(0);
    Value s = tile::DotOp::create(
        f.b, f.loc, f.tileType({tileM, tileN}, f.b.getF32Type()), q, k,
        f.fill({tileM, tileN}, zero), rows, count, f.constant(headSize),
        /*transposeRhs=*/true, operandTypeOf(op->getOperand(1)));
    s = emitScores(s, j0);
    auto softmax = tile::OnlineSoftmaxOp::create(
        f.b, f.loc, s.getType(), carried[0].getType(), carried[1].getType(),
        carried[2].getType(), s, carried[0], carried[1], carried[2]);
    Value v = emitTile(2, kvHead, j0, last, tileN, valueSize);
    Value o = tile::DotOp::create(
        f.b, f.loc, carried[2].getType(), softmax.getWeights(), v,
        softmax.getNewOutput(), rows, f.constant(valueSize), count,
        /*transposeRhs=*/false, operandTypeOf(op->getOperand(2)));
    scf::YieldOp::create(
        f.b, f.loc,
        ValueRange{softmax.getNewReference(), softmax.getNewSum(), o});
    return SmallVector<Value>(loop.getResults());
  }

  /// Scale, softcap, bias and masks; the result is in units of log2.
  Value emitScores(Value scores, Value j0) {
    KernelFrame::MapSpec spec;
    spec.origin = {q0, j0};
    spec.extent = {queryLimit, last};
    spec.shape = {tileM, tileN};
    spec.inputs = {scores};
    spec.kinds = {"tile"};
    spec.pads = {-std::numeric_limits<double>::infinity()};
    spec.results = {scores.getType()};
    tile::MapOp map = f.map(spec, [&](ValueRange at, ValueRange elements) {
      emitter.reset();
      Value score = emitScore(elements[0], at[0], at[1]);
      if (Value visible = emitVisible(at[0], at[1]))
        score = arith::SelectOp::create(
            f.b, f.loc, visible, score,
            f.f32(-std::numeric_limits<double>::infinity()));
      return SmallVector<Value>{score};
    });
    return map.getResult(0);
  }

  Value emitScore(Value raw, Value i, Value j) {
    auto mul = [&](Value x, double y) -> Value {
      return arith::MulFOp::create(f.b, f.loc, x, f.f32(y));
    };
    constexpr double kLog2E = 1.4426950408889634;
    double scale = number("scale"), cap = number("softcap");
    bool plain = cap == 0 && !role("bias") && !role("slopes");
    if (plain)
      return mul(raw, scale * kLog2E);
    Value score = mul(raw, scale);
    if (cap > 0)
      score = mul(math::TanhOp::create(f.b, f.loc, mul(score, 1.0 / cap)), cap);
    if (Value bias = role("bias"))
      score =
          arith::AddFOp::create(f.b, f.loc, score, scoreOperand(bias, i, j));
    score = mul(role("bias") ? keepFinite(score) : score, kLog2E);
    Value slopes = role("slopes");
    Value slope = slopes ? emitter.emit(slopes, ValueRange{h}) : Value();
    if (!slope)
      return score;
    // ALiBi: slope times the distance to the query's own position. It may be
    // much larger than the score, so it is added last, in the final unit, with
    // one rounding.
    Value from = causal() ? ownPosition(i) : lastKey();
    return math::FmaOp::create(f.b, f.loc, mul(slope, kLog2E),
                               asReal(f.sub(j, from)), score);
  }

  /// The key position of query i.
  Value ownPosition(Value i) {
    return arith::AddIOp::create(f.b, f.loc, i, offset);
  }
  /// From where ALiBi counts without causality. All keys of a row may be moved
  /// together (emitLse moves back), and counted from the last key the largest
  /// terms of the sum are the ones next to zero, which are rounded least.
  Value lastKey() { return f.sub(keyLimit, f.constant(1)); }

  Value asReal(Value index) {
    Value narrow =
        arith::IndexCastOp::create(f.b, f.loc, f.b.getI32Type(), index);
    return arith::SIToFPOp::create(f.b, f.loc, f.b.getF32Type(), narrow);
  }

  /// A bias may be the most negative finite number, which the change of unit to
  /// log2 would turn into -inf: a key that is not there. It stays finite, and
  /// only a true -inf hides a key.
  Value keepFinite(Value score) {
    constexpr double kLeast = -2.35e38; // times log2 e still an f32
    Value low = arith::CmpFOp::create(f.b, f.loc, arith::CmpFPredicate::OLT,
                                      score, f.f32(kLeast));
    Value finite =
        arith::CmpFOp::create(f.b, f.loc, arith::CmpFPredicate::OGT, score,
                              f.f32(-std::numeric_limits<double>::infinity()));
    return arith::SelectOp::create(
        f.b, f.loc, arith::AndIOp::create(f.b, f.loc, low, finite),
        f.f32(kLeast), score);
  }

  /// An operand that broadcasts to [B, H, Sq, Sk].
  Value scoreOperand(Value operand, Value i, Value j) {
    opset::Shape shape = shapeOf(operand);
    SmallVector<Value> all{b, h, i, j}, coords;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      size_t from = 4 - shape.size() + axis;
      coords.push_back(shape[axis].isConstant(1) ? f.constant(0) : all[from]);
    }
    Value element = emitter.emit(operand, coords);
    return element ? element : f.f32(0);
  }

  Value emitVisible(Value i, Value j) {
    Value visible;
    auto require = [&](Value condition) {
      visible =
          visible ? Value(arith::AndIOp::create(f.b, f.loc, visible, condition))
                  : condition;
    };
    if (causal()) {
      // In 32 bits where lanes are queries: i + offset >= j.
      Value own = arith::AddIOp::create(f.b, f.loc, i, offset);
      require(
          arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::sge, own, j));
      if (window() > 0)
        require(arith::CmpIOp::create(
            f.b, f.loc, arith::CmpIPredicate::slt, own,
            arith::AddIOp::create(f.b, f.loc, j, f.constant(window()))));
    }
    if (Value mask = role("mask"))
      require(scoreOperand(mask, i, j));
    return visible;
  }

  void emitOutput(const EpilogueOutput &output, ArrayRef<Value> state) {
    bool isLse = op->getNumResults() > 1 && output.anchor == op->getResult(1);
    KernelFrame::MapSpec spec;
    spec.origin = {q0};
    spec.extent = {queryLimit};
    spec.shape = {tileM};
    spec.inputs = {state[0], state[1]};
    if (!isLse) {
      spec.origin.push_back(f.constant(0));
      spec.extent.push_back(f.constant(valueSize));
      spec.shape.push_back(valueSize);
      spec.inputs = {state[2], state[1]};
    }
    f.map(spec, [&](ValueRange at, ValueRange elements) {
      emitter.reset();
      Value result = isLse ? emitLse(elements[0], elements[1], at[0])
                           : emitNormalised(elements[0], elements[1]);
      emitter.bind(output.anchor, [result](ValueRange) { return result; });
      SmallVector<Value> anchorAt{b, h, at[0]};
      if (!isLse) {
        if (bshd)
          std::swap(anchorAt[1], anchorAt[2]);
        anchorAt.push_back(at[1]);
      }
      SmallVector<Value> coords;
      for (AffineExpr expr : output.coordinates)
        coords.push_back(f.expand(expr, anchorAt, output.symbols));
      if (Value value = emitter.emit(output.value, coords))
        emitter.write(output.index, value, coords);
      return SmallVector<Value>();
    });
  }

  Value emitNormalised(Value o, Value sum) {
    // A row that sees no key has sum 0 and gives 0.
    Value zero = f.f32(0);
    Value empty =
        arith::CmpFOp::create(f.b, f.loc, arith::CmpFPredicate::OEQ, sum, zero);
    Value quotient = arith::DivFOp::create(f.b, f.loc, o, sum);
    return arith::SelectOp::create(f.b, f.loc, empty, zero, quotient);
  }

  Value emitLse(Value reference, Value sum, Value i) {
    constexpr double kLn2 = 0.6931471805599453;
    Value logSum = math::LogOp::create(f.b, f.loc, sum);
    Value scaled = arith::MulFOp::create(f.b, f.loc, reference, f.f32(kLn2));
    Value lse = arith::AddFOp::create(f.b, f.loc, scaled, logSum);
    Value slopes = role("slopes");
    Value slope = slopes ? emitter.emit(slopes, ValueRange{h}) : Value();
    if (slope && !causal())
      lse = math::FmaOp::create(f.b, f.loc, slope,
                                asReal(f.sub(lastKey(), ownPosition(i))), lse);
    Value empty = arith::CmpFOp::create(f.b, f.loc, arith::CmpFPredicate::OEQ,
                                        sum, f.f32(0));
    return arith::SelectOp::create(
        f.b, f.loc, empty, f.f32(-std::numeric_limits<double>::infinity()),
        lse);
  }

  KernelFrame f;
  ElementEmitter emitter;
  graphir::AttentionOp op;
  opset::AttrMap attrs;
  Epilogue epilogue;
  int64_t tileM, tileN, headSize, valueSize;
  bool bshd;
  opset::Dim batch, heads, queries, kvHeads, keys;
  Value b, h, q0, queryLimit, kvHead, keyLimit, offset, first, last;
};

AttentionFacts factsOf(graphir::FusedOp region) {
  int count;
  graphir::AttentionOp op = anchorOf(region, count);
  opset::Shape q = shapeOf(op->getOperand(0)), v = shapeOf(op->getOperand(2));
  opset::AttrMap attrs = graphir::attrsOf(op);
  int64_t scoreOperands = 0;
  for (const char *role : {"bias", "mask"})
    scoreOperands += opset::attentionOperand(attrs, role) >= 0;
  return {q[op.getLayout() == "bshd" ? 1 : 2].constant(),
          q[3].constant().value_or(64), v[3].constant().value_or(64),
          operandTypeOf(op->getOperand(1)) ? 2 : 4, scoreOperands};
}

class Attention : public ScheduleFamily {
public:
  StringRef name() const override { return "Attention"; }

  std::optional<std::string> refuses(graphir::FusedOp region) const override {
    int count;
    graphir::AttentionOp op = anchorOf(region, count);
    if (count != 1)
      return count ? "it has two attentions" : "it has no attention";
    for (Value operand : op->getOperands())
      if (auto reason = refusesPrologue(operand))
        return reason;
    // k and v are pulled once per block of queries: a prologue there repeats
    // its work, so it is taken only where there is nothing to repeat.
    for (unsigned i : {1u, 2u})
      for (Operation *def = op->getOperand(i).getDefiningOp(); def;
           def = def->getNumOperands() ? def->getOperand(0).getDefiningOp()
                                       : nullptr)
        if (!isa<graphir::IndexingOpInterface>(def) ||
            isa<graphir::ElementwiseOpInterface>(def)) {
          opset::Shape q = shapeOf(op->getOperand(0));
          std::optional<int64_t> queries =
              q[op.getLayout() == "bshd" ? 1 : 2].constant();
          if (!queries || *queries > 64)
            return std::string("'") + graphir::kindOf(def).str() + "' on " +
                   (i == 1 ? "k" : "v") +
                   " would be recomputed for every block of queries";
        }
    Epilogue epilogue = findEpilogue(region, op);
    if (!epilogue.reason.empty())
      return epilogue.reason;
    return std::nullopt;
  }

  schedule::KnobSpace space(graphir::FusedOp region,
                            const target::TargetDesc &target) const override {
    return attentionSpace(factsOf(region), target);
  }

  schedule::Schedule
  defaultSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    return defaultAttention(factsOf(region), target);
  }

  schedule::Schedule
  generalSchedule(graphir::FusedOp region,
                  const target::TargetDesc &target) const override {
    return generalAttention(factsOf(region), target);
  }

  Result<tile::KernelOp> lower(OpBuilder &b, graphir::FusedOp region,
                               const schedule::Schedule &schedule,
                               const target::TargetDesc &) const override {
    int count;
    graphir::AttentionOp op = anchorOf(region, count);
    if (std::optional<std::string> reason = refuses(region))
      return makeError(ErrorCode::Unsupported, "kernel Attention", *reason,
                       "Attention.region");
    return Lowering(b, region, op, schedule, findEpilogue(region, op)).run();
  }
};

} // namespace

const ScheduleFamily &attentionFamily() {
  static const Attention family;
  return family;
}

} // namespace azulejo::tiling
