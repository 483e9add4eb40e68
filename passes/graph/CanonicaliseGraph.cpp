//===- CanonicaliseGraph.cpp - one spelling for what means the same -------===//
//
// Only what is exact for every input: NaN, infinities and the sign of zero
// included. A cast to a narrower type is a rounding that the user asked for,
// so no cast is dropped unless the one before it loses nothing.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphWriter.h"
#include "passes/graph/Graph.h"
#include "passes/graph/ScalarConstants.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace azulejo::graphpasses {
#define GEN_PASS_DEF_CANONICALISEGRAPHPASS
#include "passes/graph/Passes.h.inc"
} // namespace azulejo::graphpasses

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphpasses;
using graphir::GraphWriter;
using opset::DType;

namespace {

/// A pattern on any graph op of one kind; `text` is its debug name.
template <typename OpT> struct GraphPattern : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  /// Replaces `op` by graph.<kind>; its label moves over.
  static LogicalResult replace(OpT op, PatternRewriter &rewriter,
                               StringRef kind, ValueRange operands,
                               opset::AttrMap attrs) {
    Operation *made =
        graphir::createGraphOp(rewriter, op->getLoc(), kind, operands,
                               std::move(attrs), graphir::labelOf(op));
    if (!made)
      return failure();
    rewriter.replaceOp(op, made);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// A move or cast whose result has the operand's type changes nothing. For a
/// slice this follows from its bounds: a window of the full size starts at 0.
template <typename OpT> struct DropIdentity : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &r) const override {
    if (op->getNumOperands() != 1 ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return r.notifyMatchFailure(op, "the type changes");
    r.replaceOp(op, op->getOperand(0));
    return success();
  }
};

struct DropIdentityTranspose : OpRewritePattern<graphir::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graphir::TransposeOp op,
                                PatternRewriter &r) const override {
    // Axes of size 1 may go anywhere: what counts is the order of the others.
    opset::Shape shape = GraphWriter::shapeOf(op.getInput());
    int64_t last = -1;
    for (int64_t axis : op.getPerm()) {
      if (shape[axis].isConstant(1))
        continue;
      if (axis < last)
        return r.notifyMatchFailure(op, "the order changes");
      last = axis;
    }
    if (op.getInput().getType() == op.getType()) {
      r.replaceOp(op, op.getInput());
      return success();
    }
    return GraphPattern<graphir::TransposeOp>::replace(
        op, r, "reshape", op.getInput(),
        {{"shape", GraphWriter::shapeOf(op.getResult())}});
  }
};

struct MergeTransposes : GraphPattern<graphir::TransposeOp> {
  using GraphPattern::GraphPattern;
  LogicalResult matchAndRewrite(graphir::TransposeOp op,
                                PatternRewriter &r) const override {
    auto inner = op.getInput().getDefiningOp<graphir::TransposeOp>();
    if (!inner)
      return r.notifyMatchFailure(op, "no transpose before it");
    std::vector<int64_t> perm;
    for (int64_t axis : op.getPerm())
      perm.push_back(inner.getPerm()[axis]);
    return replace(op, r, "transpose", inner.getInput(), {{"perm", perm}});
  }
};

/// reshape of reshape, and broadcast of broadcast: the last shape decides.
template <typename OpT> struct MergeShapes : GraphPattern<OpT> {
  using GraphPattern<OpT>::GraphPattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &r) const override {
    auto inner = op.getInput().template getDefiningOp<OpT>();
    if (!inner)
      return r.notifyMatchFailure(op, "nothing to merge with");
    return this->replace(op, r, graphir::kindOf(op), inner.getInput(),
                         graphir::attrsOf(op));
  }
};

/// A matmul reads a transposed operand as it is stored.
struct FoldTransposeIntoMatmul : GraphPattern<graphir::MatmulOp> {
  using GraphPattern::GraphPattern;

  static bool swapsLastTwo(graphir::TransposeOp op) {
    ArrayRef<int64_t> perm = op.getPerm();
    int64_t rank = static_cast<int64_t>(perm.size());
    for (int64_t i = 0; i < rank - 2; ++i)
      if (perm[i] != i)
        return false;
    return rank >= 2 && perm[rank - 2] == rank - 1;
  }

  LogicalResult matchAndRewrite(graphir::MatmulOp op,
                                PatternRewriter &r) const override {
    SmallVector<Value> operands(op->getOperands());
    bool flags[] = {op.getTransposeA(), op.getTransposeB()};
    bool changed = false;
    for (auto [operand, flag] : llvm::zip(operands, flags)) {
      auto transpose = operand.getDefiningOp<graphir::TransposeOp>();
      if (!transpose || !swapsLastTwo(transpose))
        continue;
      operand = transpose.getInput();
      flag = !flag;
      changed = true;
    }
    if (!changed)
      return r.notifyMatchFailure(op, "no operand is transposed");
    opset::AttrMap attrs = graphir::attrsOf(op);
    attrs["transpose_a"] = flags[0];
    attrs["transpose_b"] = flags[1];
    return replace(op, r, "matmul", operands, std::move(attrs));
  }
};

/// Attention reads [B, S, H, D] as well as [B, H, S, D], so exchanges of heads
/// and sequence in front of all of q, k and v become one behind it.
struct FoldTransposesIntoAttention : GraphPattern<graphir::AttentionOp> {
  using GraphPattern::GraphPattern;

  /// What `x` exchanges axes 1 and 2 of.
  static Value exchanged(Value x) {
    auto op = x.getDefiningOp<graphir::TransposeOp>();
    return op && op.getPerm() == ArrayRef<int64_t>{0, 2, 1, 3} ? op.getInput()
                                                               : Value();
  }
  static bool isFree(Value x) {
    opset::Shape shape = GraphWriter::shapeOf(x);
    return shape[1].isConstant(1) || shape[2].isConstant(1);
  }

  LogicalResult matchAndRewrite(graphir::AttentionOp op,
                                PatternRewriter &r) const override {
    SmallVector<Value> operands(op->getOperands());
    // One query or one head: exchanging is a reshape, which costs nothing,
    // but is no reason to rewrite either.
    bool any = false;
    for (Value x : ArrayRef(operands).take_front(3)) {
      any |= static_cast<bool>(exchanged(x));
      if (!exchanged(x) && !isFree(x))
        return r.notifyMatchFailure(op, "an operand is stored as it is read");
    }
    if (!any)
      return r.notifyMatchFailure(op, "no operand is transposed");
    GraphWriter w(r, op->getLoc());
    for (Value &x : MutableArrayRef(operands).take_front(3)) {
      opset::Shape shape = w.shapeOf(x);
      Value stored = exchanged(x);
      x = stored ? stored
                 : w.reshape(x, {shape[0], shape[2], shape[1], shape[3]});
    }
    if (w.failed())
      return failure();
    opset::AttrMap attrs = graphir::attrsOf(op);
    attrs["layout"] = std::string(op.getLayout() == "bshd" ? "bhsd" : "bshd");
    Operation *made =
        graphir::createGraphOp(r, op->getLoc(), "attention", operands,
                               std::move(attrs), graphir::labelOf(op));
    if (!made)
      return failure();
    Value out = w.transpose(made->getResult(0), {0, 2, 1, 3});
    if (w.failed())
      return failure();
    SmallVector<Value> results{out};
    llvm::append_range(results, made->getResults().drop_front());
    r.replaceOp(op, results);
    return success();
  }
};

/// Elementwise ops stretch their operands themselves.
struct DropStretch
    : OpInterfaceRewritePattern<graphir::ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(graphir::ElementwiseOpInterface op,
                                PatternRewriter &r) const override {
    opset::Shape want = GraphWriter::shapeOf(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      auto stretch = operand.get().getDefiningOp<graphir::BroadcastOp>();
      if (!stretch || !staysAs(want, op, operand, stretch.getInput()))
        continue;
      r.modifyOpInPlace(op, [&] { operand.set(stretch.getInput()); });
      return success();
    }
    return r.notifyMatchFailure(op, "every broadcast shapes the result");
  }

  static bool staysAs(const opset::Shape &want, Operation *op,
                      OpOperand &replaced, Value by) {
    std::optional<opset::Shape> shape = GraphWriter::shapeOf(by);
    for (OpOperand &other : op->getOpOperands())
      if (&other != &replaced && shape)
        shape =
            opset::broadcastShapes(*shape, GraphWriter::shapeOf(other.get()));
    return shape == want;
  }
};

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Whether every value of `from` is a value of `to`, so that a cast loses
/// nothing.
bool keepsAll(DType from, DType to) {
  switch (from) {
  case DType::I1:
    return true;
  case DType::F16:
  case DType::BF16:
    return to == DType::F32;
  case DType::I8:
    return to == DType::I32 || to == DType::I64;
  case DType::I32:
    return to == DType::I64;
  default:
    return false;
  }
}

struct MergeCasts : GraphPattern<graphir::CastOp> {
  using GraphPattern::GraphPattern;
  LogicalResult matchAndRewrite(graphir::CastOp op,
                                PatternRewriter &r) const override {
    auto inner = op.getInput().getDefiningOp<graphir::CastOp>();
    if (!inner || !keepsAll(GraphWriter::dtypeOf(inner.getInput()),
                            GraphWriter::dtypeOf(inner.getResult())))
      return r.notifyMatchFailure(op, "the inner cast rounds");
    return replace(op, r, "cast", inner.getInput(), graphir::attrsOf(op));
  }
};

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The operand that the op gives back unchanged, or null: x * 1, x / 1,
/// x + -0.0, x - 0.0 (on integers any zero), and logic with a constant.
Value unchangedOperand(Operation *op) {
  StringRef kind = graphir::kindOf(op);
  if (op->getNumOperands() != 2)
    return {};
  auto isNeutral = [&](double value, bool onRight) {
    bool isFloat = opset::isFloat(GraphWriter::dtypeOf(op->getResult(0)));
    if (kind == "mul")
      return value == 1;
    if (kind == "div")
      return onRight && value == 1;
    if (kind == "add")
      return value == 0 && (!isFloat || std::signbit(value));
    if (kind == "sub")
      return onRight && value == 0 && (!isFloat || !std::signbit(value));
    return (kind == "and" && value == 1) || (kind == "or" && value == 0);
  };
  for (unsigned i : {1u, 0u}) {
    std::optional<double> value = constantOf(op->getOperand(i));
    if (value && isNeutral(*value, i == 1))
      return op->getOperand(1 - i);
  }
  return {};
}

struct DropNeutral : RewritePattern {
  explicit DropNeutral(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &r) const override {
    if (!isa<graphir::ElementwiseOpInterface>(op))
      return failure();
    Value kept = unchangedOperand(op);
    if (!kept || kept.getType() != op->getResult(0).getType())
      return r.notifyMatchFailure(op, "it changes a value or its type");
    r.replaceOp(op, kept);
    return success();
  }
};

/// neg(neg x) and not(not x).
template <typename OpT> struct DropDouble : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &r) const override {
    auto inner = op.getInput().template getDefiningOp<OpT>();
    if (!inner)
      return r.notifyMatchFailure(op, "single");
    r.replaceOp(op, inner.getInput());
    return success();
  }
};

/// where with a known condition.
struct ChooseBranch : OpRewritePattern<graphir::WhereOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graphir::WhereOp op,
                                PatternRewriter &r) const override {
    std::optional<double> condition = constantOf(op.getCondition());
    if (!condition)
      return r.notifyMatchFailure(op, "the condition is not known");
    Value branch = *condition != 0 ? op.getLhs() : op.getRhs();
    if (branch.getType() != op.getType())
      return r.notifyMatchFailure(op, "the branch would need a conversion");
    r.replaceOp(op, branch);
    return success();
  }
};

/// Moves, casts and arithmetic of constants, as long as nothing is rounded.
struct FoldConstants : RewritePattern {
  explicit FoldConstants(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  static std::optional<double> fold(Operation *op) {
    StringRef kind = graphir::kindOf(op);
    unsigned count = op->getNumOperands();
    if (kind.empty() || op->getNumResults() != 1 || count < 1 || count > 2)
      return std::nullopt;
    std::optional<double> a = constantOf(op->getOperand(0)),
                          b = constantOf(op->getOperand(count - 1));
    if (!a || !b)
      return std::nullopt;
    if (isa<graphir::BroadcastOp, graphir::ReshapeOp, graphir::TransposeOp,
            graphir::SliceOp>(op))
      return a;
    DType dtype = GraphWriter::dtypeOf(op->getResult(0));
    if (isa<graphir::CastOp>(op))
      return roundTo(dtype, *a) == a && dtype != DType::I1 ? a : std::nullopt;
    return exactResult(kind, dtype, *a, *b);
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &r) const override {
    std::optional<double> value = fold(op);
    if (!value)
      return r.notifyMatchFailure(op, "not a constant, or not exactly");
    opset::TensorType type = GraphWriter::typeOf(op->getResult(0));
    Operation *made = graphir::createGraphOp(
        r, op->getLoc(), "constant", {},
        {{"value", *value}, {"dtype", type.dtype}, {"shape", type.shape}},
        graphir::labelOf(op));
    if (!made)
      return failure();
    r.replaceOp(op, made);
    return success();
  }
};

/// Softmax axes count from 0.
struct NormaliseAxis : OpRewritePattern<graphir::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graphir::SoftmaxOp op,
                                PatternRewriter &r) const override {
    int64_t axis = op.getNormalisedAxis();
    if (axis == static_cast<int64_t>(op.getAxis()))
      return r.notifyMatchFailure(op, "the axis counts from 0");
    r.modifyOpInPlace(op,
                      [&] { op->setAttr("axis", r.getI64IntegerAttr(axis)); });
    return success();
  }
};

struct CanonicaliseGraphPass
    : graphpasses::impl::CanonicaliseGraphPassBase<CanonicaliseGraphPass> {
  using CanonicaliseGraphPassBase::CanonicaliseGraphPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateCanonicaliseGraphPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     config))) {
      getOperation().emitError() << "canonical forms did not settle";
      signalPassFailure();
    }
  }
};

} // namespace

void graphpasses::populateCanonicaliseGraphPatterns(
    RewritePatternSet &patterns) {
  patterns
      .add<DropIdentity<graphir::ReshapeOp>, DropIdentity<graphir::BroadcastOp>,
           DropIdentity<graphir::SliceOp>, DropIdentity<graphir::CastOp>,
           DropIdentity<graphir::ConcatOp>, DropIdentityTranspose,
           MergeTransposes, MergeShapes<graphir::ReshapeOp>,
           MergeShapes<graphir::BroadcastOp>, FoldTransposeIntoMatmul,
           FoldTransposesIntoAttention, DropStretch, MergeCasts, DropNeutral,
           DropDouble<graphir::NegOp>, DropDouble<graphir::NotOp>, ChooseBranch,
           FoldConstants, NormaliseAxis>(patterns.getContext());
}
