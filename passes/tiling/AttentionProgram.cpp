//===- AttentionProgram.cpp - the tile program of an attention ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/AttentionProgram.h"

#include "ir/graph/GraphTypes.h"
#include "passes/tiling/PlainHeads.h"
#include "passes/tiling/RegionSizes.h"
#include "passes/tiling/RowSpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;

namespace azulejo::tiling {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

graphir::AttentionOp attentionOf(graphir::FusedOp region, int &count) {
  graphir::AttentionOp anchor;
  count = 0;
  for (auto op : region.getBody().front().getOps<graphir::AttentionOp>()) {
    anchor = op;
    ++count;
  }
  return anchor;
}

AttentionShape::AttentionShape(graphir::AttentionOp op)
    : bshd(op.getLayout() == "bshd") {
  opset::Shape q = shapeOf(op->getOperand(0)), k = shapeOf(op->getOperand(1)),
               v = shapeOf(op->getOperand(2));
  batch = q[0];
  heads = q[bshd ? 2 : 1];
  queries = q[bshd ? 1 : 2];
  kvHeads = k[bshd ? 2 : 1];
  keys = k[bshd ? 1 : 2];
  headSize = *q[3].constant();
  valueSize = *v[3].constant();
  group = kvHeads == heads ? opset::Dim(1) : heads.dividedBy(kvHeads);
}

/// Positions and windows are added without a thought of overflow.
static constexpr int64_t kMostWindow = int64_t{1} << 40;

/// Of a tile of heads: those without channels have one that does not exist.
static int64_t columnsOf(int64_t channels) {
  return std::max<int64_t>(channels, 1);
}

namespace {

/// What a kernel of an attention covers of it.
struct Cut {
  bool packed = false;
  bool partial = false; ///< writes the results of one of several parts
};

class Program {
public:
  Program(OpBuilder &b, graphir::FusedOp region, graphir::AttentionOp op,
          const schedule::Schedule &schedule, Cut cut,
          ArrayRef<Type> outputTypes)
      : f(b, region, schedule, outputTypes), emitter(f), op(op),
        attrs(graphir::attrsOf(op)), shape(op), cut(cut),
        group(cut.packed ? *shape.group : opset::Dim(1)),
        tileM(schedule.knob("tileM")), tileN(schedule.knob("tileN")),
        splits(cut.partial ? schedule.knob("splits") : 1) {}

  /// Where a view ends is what bulk copies have to know.
  Program &withViewExtents(ArrayRef<Type> outputTypes) {
    f.setViewExtents(outputTypes);
    return *this;
  }

  Result<tile::KernelOp> run(const Epilogue &epilogue) {
    placeItem();
    findBounds();
    Value q = emitTile(0, row0, rowLimit, tileM, shape.headSize);
    SmallVector<Value> state{
        f.fill({tileM}, f.f32(-kInfinity)), f.fill({tileM}, f.f32(0)),
        f.fill({tileM, columnsOf(shape.valueSize)}, f.f32(0))};
    state = emitLoop(q, state);
    if (cut.partial)
      emitPartial(state);
    for (const EpilogueOutput &output : epilogue.outputs)
      emitOutput(output, state);
    if (!emitter.failure.empty())
      return makeError(ErrorCode::Internal,
                       "kernel " + f.kernel.getFamily().str(), emitter.failure);
    return f.kernel;
  }

private:
  std::string text(const char *name) const {
    return std::get<std::string>(attrs.at(name));
  }
  double number(const char *name) const {
    return std::get<double>(attrs.at(name));
  }
  /// More tokens than there can be are as good as all.
  int64_t window() const {
    return std::min(std::get<int64_t>(attrs.at("window")), kMostWindow);
  }
  bool causal() const { return text("causal") != "none"; }
  Value role(const char *name) const {
    int index = opset::attentionOperand(attrs, name);
    return index < 0 ? Value() : op->getOperand(index);
  }
  Value programId(int64_t axis) {
    return tile::ProgramIdOp::create(f.b, f.loc, f.b.getIndexType(), axis);
  }

  void placeItem() {
    opset::Dim rows = shape.queries * group;
    SmallVector<std::pair<opset::Dim, int64_t>> axes{
        {shape.batch, 1},
        {cut.packed ? shape.kvHeads : shape.heads, 1},
        {rows, tileM}};
    if (cut.partial)
      axes.push_back({opset::Dim(splits), 1});
    f.setGrid(axes);
    b = programId(0);
    Value head = programId(1);
    row0 = f.mul(programId(2), f.constant(tileM));
    if (cut.partial)
      part = programId(3);
    rowLimit = f.dim(rows);
    bool grouped = !(shape.kvHeads == shape.heads);
    kvHead = !grouped || cut.packed
                 ? head
                 : f.div(head, f.div(f.dim(shape.heads), f.dim(shape.kvHeads)));
    firstHead = grouped && cut.packed ? f.mul(head, f.dim(group)) : head;
  }

  /// The query and the head of a row.
  Value queryOf(Value row) {
    if (group.isConstant(1))
      return row;
    return shape.queries.isConstant(1) ? f.constant(0)
                                       : f.div(row, f.dim(group));
  }
  Value headOf(Value row) {
    if (group.isConstant(1))
      return firstHead;
    return f.add(firstHead,
                 shape.queries.isConstant(1) ? row : f.rem(row, f.dim(group)));
  }

  /// The key range of this item, and how queries align to keys.
  void findBounds() {
    keyLimit = f.dim(shape.keys);
    if (Value lengths = role("lengths")) {
      Value length = scalarElement(lengths);
      Value index =
          arith::IndexCastOp::create(f.b, f.loc, f.b.getIndexType(), length);
      keyLimit = f.min(f.max(index, f.constant(0)), keyLimit);
    }
    // Without causality only ALiBi asks where a query stands: at the end.
    offset = text("causal") == "top_left"
                 ? f.constant(0)
                 : Value(arith::SubIOp::create(f.b, f.loc, keyLimit,
                                               f.dim(shape.queries)));
    first = f.constant(0);
    last = keyLimit;
    if (causal())
      boundByCausality();
    if (cut.partial)
      takePart();
  }

  void boundByCausality() {
    // The last query of the block sees keys up to itself plus the offset.
    Value end = f.add(row0, f.constant(tileM));
    if (!group.isConstant(1))
      end = f.add(queryOf(f.sub(end, f.constant(1))), f.constant(1));
    last = f.max(f.min(last, f.add(end, offset)), f.constant(0));
    if (window() <= 0)
      return;
    Value oldest =
        f.add(f.sub(queryOf(row0), f.constant(window() - 1)), offset);
    first = wholeSteps(f.max(oldest, f.constant(0)));
  }
  Value wholeSteps(Value keys) {
    return f.mul(f.div(keys, f.constant(tileN)), f.constant(tileN));
  }

  /// Parts differ by a step at most. A part's size follows from the keys that
  /// there are, not from how many there may be.
  void takePart() {
    Value keys = f.max(f.sub(last, first), f.constant(0));
    Value whole = wholeSteps(
        f.add(f.div(f.add(keys, f.constant(splits - 1)), f.constant(splits)),
              f.constant(tileN - 1)));
    first = f.min(f.add(first, f.mul(part, whole)), f.max(last, first));
    last = f.min(f.add(first, whole), last);
  }

  /// One element of a per-batch operand, read by a map of one element.
  Value scalarElement(Value operand) {
    emitter.reset();
    return emitter.emit(operand, ValueRange{b});
  }

  /// rows x channels of q (rows of the item), k or v (keys).
  Value emitTile(unsigned operand, Value origin, Value limit, int64_t rows,
                 int64_t channels) {
    KernelFrame::MapSpec spec;
    spec.origin = {origin, f.constant(0)};
    spec.extent = {limit, f.constant(channels)};
    spec.shape = {rows, columnsOf(channels)};
    spec.kinds = {"tile"};
    spec.pads = {0.0};
    spec.results = {f.tileType(spec.shape, f.b.getF32Type())};
    tile::MapOp map = f.map(spec, [&](ValueRange at, ValueRange) {
      emitter.reset();
      bool rowsOfQ = operand == 0;
      Value element =
          emitter.emit(op->getOperand(operand),
                       coordinates(rowsOfQ ? headOf(at[0]) : kvHead,
                                   rowsOfQ ? queryOf(at[0]) : at[0], at[1]));
      return SmallVector<Value>{element ? element : f.f32(0)};
    });
    return map.getResult(0);
  }

  /// Of q, k, v or the output.
  SmallVector<Value> coordinates(Value head, Value position, Value channel) {
    if (shape.bshd)
      return {b, position, head, channel};
    return {b, head, position, channel};
  }

  SmallVector<Value> emitLoop(Value q, SmallVector<Value> state) {
    auto loop =
        scf::ForOp::create(f.b, f.loc, first, last, f.constant(tileN), state);
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(loop.getBody());
    Value j0 = loop.getInductionVar();
    ValueRange carried = loop.getRegionIterArgs();
    Value rows = f.min(f.sub(rowLimit, row0), f.constant(tileM));
    Value count = f.min(f.sub(last, j0), f.constant(tileN));
    Value k = emitTile(1, j0, last, tileN, shape.headSize);
    Value zero = f.f32(0);
    Value s = tile::DotOp::create(
        f.b, f.loc, f.tileType({tileM, tileN}, f.b.getF32Type()), q, k,
        f.fill({tileM, tileN}, zero), rows, count, f.constant(shape.headSize),
        /*transposeRhs=*/true,
        operandTypeOf(op.getQ(), op.getK(), op.getPrecision()));
    s = emitScores(s, j0);
    auto softmax = tile::OnlineSoftmaxOp::create(
        f.b, f.loc, s.getType(), carried[0].getType(), carried[1].getType(),
        carried[2].getType(), s, carried[0], carried[1], carried[2]);
    Value v = emitTile(2, j0, last, tileN, shape.valueSize);
    Value o = tile::DotOp::create(
        f.b, f.loc, carried[2].getType(), softmax.getWeights(), v,
        softmax.getNewOutput(), rows, f.constant(shape.valueSize), count,
        /*transposeRhs=*/false,
        operandTypeOf(op.getV(), op.getV(), op.getPrecision()));
    scf::YieldOp::create(
        f.b, f.loc,
        ValueRange{softmax.getNewReference(), softmax.getNewSum(), o});
    return SmallVector<Value>(loop.getResults());
  }

  /// Scale, softcap, bias and masks; the result is in units of log2.
  Value emitScores(Value scores, Value j0) {
    KernelFrame::MapSpec spec;
    spec.origin = {row0, j0};
    spec.extent = {rowLimit, last};
    spec.shape = {tileM, tileN};
    spec.inputs = {scores};
    spec.kinds = {"tile"};
    spec.pads = {-kInfinity};
    spec.results = {scores.getType()};
    tile::MapOp map = f.map(spec, [&](ValueRange at, ValueRange elements) {
      emitter.reset();
      Value score = emitScore(elements[0], at[0], at[1]);
      if (Value visible = emitVisible(at[0], at[1]))
        score = arith::SelectOp::create(f.b, f.loc, visible, score,
                                        f.f32(-kInfinity));
      return SmallVector<Value>{score};
    });
    return map.getResult(0);
  }

  Value emitScore(Value raw, Value row, Value j) {
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
          arith::AddFOp::create(f.b, f.loc, score, scoreOperand(bias, row, j));
    score = mul(role("bias") ? keepFinite(score) : score, kLog2E);
    Value slope = slopeOf(row);
    if (!slope)
      return score;
    // ALiBi: slope times the distance to the query's own position. It may be
    // much larger than the score, so it is added last, in the final unit, with
    // one rounding.
    Value from = causal() ? ownPosition(row) : lastKey();
    return math::FmaOp::create(f.b, f.loc, mul(slope, kLog2E),
                               asReal(f.sub(j, from)), score);
  }

  /// The ALiBi slope of a row's head; null: there is none.
  Value slopeOf(Value row) {
    Value slopes = role("slopes");
    return slopes ? emitter.emit(slopes, ValueRange{headOf(row)}) : Value();
  }

  /// The key position of a row's query.
  Value ownPosition(Value row) {
    return arith::AddIOp::create(f.b, f.loc, queryOf(row), offset);
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
    Value finite = arith::CmpFOp::create(f.b, f.loc, arith::CmpFPredicate::OGT,
                                         score, f.f32(-kInfinity));
    return arith::SelectOp::create(
        f.b, f.loc, arith::AndIOp::create(f.b, f.loc, low, finite),
        f.f32(kLeast), score);
  }

  /// An operand that broadcasts to [B, H, Sq, Sk].
  Value scoreOperand(Value operand, Value row, Value j) {
    opset::Shape extents = shapeOf(operand);
    SmallVector<Value> all{b, headOf(row), queryOf(row), j}, coords;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      size_t from = 4 - extents.size() + axis;
      coords.push_back(extents[axis].isConstant(1) ? f.constant(0) : all[from]);
    }
    Value element = emitter.emit(operand, coords);
    return element ? element : f.f32(0);
  }

  Value emitVisible(Value row, Value j) {
    Value visible;
    auto require = [&](Value condition) {
      visible =
          visible ? Value(arith::AndIOp::create(f.b, f.loc, visible, condition))
                  : condition;
    };
    if (causal()) {
      // In 32 bits where lanes are queries: i + offset >= j.
      Value own = ownPosition(row);
      require(
          arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::sge, own, j));
      if (window() > 0)
        require(arith::CmpIOp::create(
            f.b, f.loc, arith::CmpIPredicate::slt, own,
            arith::AddIOp::create(f.b, f.loc, j, f.constant(window()))));
    }
    if (Value mask = role("mask"))
      require(scoreOperand(mask, row, j));
    return visible;
  }

  /// A map over the item's rows, and over the channels of the output.
  KernelFrame::MapSpec resultMap(bool channels) {
    KernelFrame::MapSpec spec;
    spec.origin = {row0};
    spec.extent = {rowLimit};
    spec.shape = {tileM};
    if (channels) {
      spec.origin.push_back(f.constant(0));
      spec.extent.push_back(f.constant(shape.valueSize));
      spec.shape.push_back(columnsOf(shape.valueSize));
    }
    return spec;
  }

  void emitOutput(const EpilogueOutput &output, ArrayRef<Value> state) {
    bool isLse = op->getNumResults() > 1 && output.anchor == op->getResult(1);
    KernelFrame::MapSpec spec = resultMap(!isLse);
    spec.inputs = {state[isLse ? 0 : 2], state[1]};
    f.map(spec, [&](ValueRange at, ValueRange elements) {
      emitter.reset();
      Value result = isLse ? emitLse(elements[0], elements[1], at[0])
                           : emitNormalised(elements[0], elements[1]);
      emitter.bind(output.anchor, [result](ValueRange) { return result; });
      SmallVector<Value> anchorAt{b, headOf(at[0]), queryOf(at[0])};
      if (!isLse)
        anchorAt = coordinates(headOf(at[0]), queryOf(at[0]), at[1]);
      SmallVector<Value> coords;
      for (AffineExpr expr : output.coordinates)
        coords.push_back(f.expand(expr, anchorAt, output.symbols));
      if (Value value = emitter.emit(output.value, coords))
        emitter.write(output.index, value, coords);
      return SmallVector<Value>();
    });
  }

  void emitPartial(ArrayRef<Value> state) {
    KernelFrame::MapSpec spec = resultMap(/*channels=*/true);
    spec.inputs = {state[2], state[1]};
    f.map(spec, [&](ValueRange at, ValueRange elements) {
      emitter.write(0, emitNormalised(elements[0], elements[1]),
                    {part, b, kvHead, at[0], at[1]});
      return SmallVector<Value>();
    });
    spec = resultMap(/*channels=*/false);
    spec.inputs = {state[0], state[1]};
    f.map(spec, [&](ValueRange at, ValueRange elements) {
      constexpr double kLog2E = 1.4426950408889634;
      Value log = math::LogOp::create(f.b, f.loc, elements[1]);
      Value sum =
          math::FmaOp::create(f.b, f.loc, log, f.f32(kLog2E), elements[0]);
      emitter.write(1, orWhenEmpty(sum, elements[1], -kInfinity),
                    {part, b, kvHead, at[0]});
      return SmallVector<Value>();
    });
  }

  /// What a row that sees no key has instead of `value`.
  Value orWhenEmpty(Value value, Value sum, double instead) {
    Value empty = arith::CmpFOp::create(f.b, f.loc, arith::CmpFPredicate::OEQ,
                                        sum, f.f32(0));
    return arith::SelectOp::create(f.b, f.loc, empty, f.f32(instead), value);
  }

  /// Where the result has 16 bits, one division per row does for all of its
  /// elements: what the second rounding adds is lost in the result's own.
  Value emitNormalised(Value o, Value sum) {
    Type type = cast<RankedTensorType>(op.getV().getType()).getElementType();
    bool narrow = !type.isF32();
    Value quotient =
        narrow ? Value(arith::MulFOp::create(
                     f.b, f.loc, o,
                     arith::DivFOp::create(f.b, f.loc, f.f32(1), sum)))
               : Value(arith::DivFOp::create(f.b, f.loc, o, sum));
    return orWhenEmpty(quotient, sum, 0);
  }

  Value emitLse(Value reference, Value sum, Value row) {
    constexpr double kLn2 = 0.6931471805599453;
    Value logSum = math::LogOp::create(f.b, f.loc, sum);
    Value scaled = arith::MulFOp::create(f.b, f.loc, reference, f.f32(kLn2));
    Value lse = arith::AddFOp::create(f.b, f.loc, scaled, logSum);
    Value slope = slopeOf(row);
    if (slope && !causal())
      lse = math::FmaOp::create(
          f.b, f.loc, slope, asReal(f.sub(lastKey(), ownPosition(row))), lse);
    return orWhenEmpty(lse, sum, -kInfinity);
  }

  KernelFrame f;
  ElementEmitter emitter;
  graphir::AttentionOp op;
  opset::AttrMap attrs;
  AttentionShape shape;
  Cut cut;
  opset::Dim group; ///< heads in a row's place
  int64_t tileM, tileN, splits;
  Value b, kvHead, firstHead, part, row0, rowLimit;
  Value keyLimit, offset, first, last;
};

} // namespace

std::optional<std::string> refusesAttention(graphir::FusedOp region) {
  int count;
  graphir::AttentionOp op = attentionOf(region, count);
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
        std::optional<int64_t> queries = AttentionShape(op).queries.constant();
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

AttentionFacts attentionFacts(graphir::FusedOp region) {
  int count;
  graphir::AttentionOp op = attentionOf(region, count);
  AttentionShape shape(op);
  opset::AttrMap attrs = graphir::attrsOf(op);
  AttentionFacts facts;
  facts.queries = typicalSize(shape.queries, region);
  facts.keys = typicalSize(shape.keys, region);
  facts.heads = typicalSize(shape.batch * shape.heads, region);
  facts.headSize = shape.headSize;
  facts.valueSize = shape.valueSize;
  TypeAttr type = operandTypeOf(op.getQ(), op.getK(), op.getPrecision());
  facts.tf32 = type && type.getValue().isTF32();
  facts.elementBytes = type && !facts.tf32 ? 2 : 4;
  for (const char *role : {"bias", "mask"})
    facts.scoreOperands += opset::attentionOperand(attrs, role) >= 0;
  facts.plain = true;
  for (unsigned operand : {0u, 1u, 2u})
    facts.plain &= arePlainHeads(op->getOperand(operand));
  facts.causal = std::get<std::string>(attrs.at("causal")) != "none";
  facts.window = std::min(std::get<int64_t>(attrs.at("window")), kMostWindow);
  return facts;
}

PartialAttention partialsOf(graphir::AttentionOp op, int64_t splits) {
  AttentionShape shape(op);
  opset::Shape rows{opset::Dim(splits), shape.batch, shape.kvHeads,
                    shape.queries * *shape.group};
  opset::Shape output = rows;
  output.push_back(opset::Dim(shape.valueSize));
  auto type = [&](opset::Shape extents) {
    return graphir::fromOpset(op->getContext(),
                              {opset::DType::F32, std::move(extents)});
  };
  return {type(output), type(rows)};
}

Result<tile::KernelOp> attentionKernel(OpBuilder &b, graphir::FusedOp region,
                                       const schedule::Schedule &schedule,
                                       const target::TargetDesc &target,
                                       bool packed) {
  int count;
  graphir::AttentionOp op = attentionOf(region, count);
  SmallVector<Type> outputs = llvm::to_vector(region.getOutputs().getTypes());
  Result<tile::KernelOp> kernel =
      Program(b, region, op, schedule, {packed, /*partial=*/false}, outputs)
          .withViewExtents(outputs)
          .run(findEpilogue(region, op));
  if (kernel && schedule.knob("stay") > 0)
    kernel->setMostBlocks(target.units);
  return kernel;
}

Result<tile::KernelOp>
partialAttentionKernel(OpBuilder &b, graphir::FusedOp region,
                       const schedule::Schedule &schedule) {
  int count;
  graphir::AttentionOp op = attentionOf(region, count);
  PartialAttention parts = partialsOf(op, schedule.knob("splits"));
  return Program(b, region, op, schedule, {/*packed=*/true, /*partial=*/true},
                 {parts.output, parts.logSum})
      .run({});
}

} // namespace azulejo::tiling
