//===- FragmentSoftmax.cpp - one step of the running softmax --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/FragmentSoftmax.h"

#include "ir/kernel/Kernel.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace azulejo::gpu {

namespace {

class RowStep {
public:
  explicit RowStep(ThreadBuilder &t) : t(t) {
    minusInfinity = constant(-std::numeric_limits<double>::infinity());
    zero = constant(0);
  }

  void refer(Fragment &scores, RowTile &reference) {
    for (int64_t r = 0; r < scores.threadRows(); ++r)
      refer(scores, reference, r);
    shrink.any = kernel::WarpAnyOp::create(t.b, t.loc, grown);
  }

  void weigh(Fragment &scores, RowTile &sums) {
    for (int64_t r = 0; r < scores.threadRows(); ++r)
      weigh(scores, sums, r);
    scores.scale = 1;
  }

  Shrink shrink;

private:
  /// The row's new reference.
  void refer(Fragment &scores, RowTile &reference, int64_t r) {
    Value greatest = scores.element(r, 0);
    for (int64_t c = 1; c < scores.threadColumns(); ++c)
      greatest = t.combine(greatest, scores.element(r, c), "max");
    greatest = kernel::WarpReduceOp::create(t.b, t.loc, greatest.getType(),
                                            "max", greatest, /*lanes=*/4);
    Value factor = constant(scores.scale);
    if (scores.scale != 1)
      greatest = arith::MulFOp::create(t.b, t.loc, greatest, factor);
    Value before = reference.values[r];
    Value greater = t.combine(before, greatest, "max");
    // NaN follows, too.
    Value grows = arith::CmpFOp::create(
        t.b, t.loc, arith::CmpFPredicate::UGT, greater,
        arith::AddFOp::create(t.b, t.loc, before, constant(kSlack)));
    Value after = arith::SelectOp::create(t.b, t.loc, grows, greater, before);
    grown = grown ? t.bitOr(grown, grows) : grows;
    // Nothing visible yet: any finite reference gives weights of 0, where -inf
    // would give NaN.
    Value empty = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OEQ,
                                        after, minusInfinity);
    Value base = arith::SelectOp::create(t.b, t.loc, empty, zero, after);
    negated.push_back(arith::NegFOp::create(t.b, t.loc, base));
    shrink.factors.push_back(
        exp2(arith::AddFOp::create(t.b, t.loc, before, negated[r])));
    reference.values[r] = after;
  }

  /// The row's weights and their sum.
  void weigh(Fragment &scores, RowTile &sums, int64_t r) {
    Value factor = constant(scores.scale), sum;
    for (int64_t c = 0; c < scores.threadColumns(); ++c) {
      Value &score = scores.element(r, c);
      Value exponent =
          scores.scale != 1
              ? Value(
                    math::FmaOp::create(t.b, t.loc, score, factor, negated[r]))
              : Value(arith::AddFOp::create(t.b, t.loc, score, negated[r]));
      score = exp2(exponent);
      sum = sum ? Value(arith::AddFOp::create(t.b, t.loc, sum, score)) : score;
    }
    Value &total = sums.values[r];
    total = math::FmaOp::create(t.b, t.loc, total, shrink.factors[r], sum);
  }

  Value constant(double value) {
    return arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(value));
  }
  Value exp2(Value x) {
    return math::Exp2Op::create(t.b, t.loc, x, arith::FastMathFlags::afn);
  }

  ThreadBuilder &t;
  Value minusInfinity, zero, grown;
  SmallVector<Value> negated; ///< the references, per row
};

} // namespace

Shrink emitWeights(ThreadBuilder &t, Fragment &scores, RowTile &reference,
                   RowTile &sum) {
  RowStep step(t);
  step.refer(scores, reference);
  step.weigh(scores, sum);
  return step.shrink;
}

void scaleRows(ThreadBuilder &t, Fragment &fragment, const Shrink &shrink) {
  SmallVector<Value> as = fragment.elements;
  fragment.elements = t.when(shrink.any, as, [&] {
    Fragment scaled = fragment;
    for (int64_t r = 0; r < scaled.threadRows(); ++r)
      for (int64_t c = 0; c < scaled.threadColumns(); ++c) {
        Value &element = scaled.element(r, c);
        element = arith::MulFOp::create(t.b, t.loc, element, shrink.factors[r]);
      }
    return scaled.elements;
  });
}

void emitOnlineSoftmax(ThreadBuilder &t, Fragment &scores,
                       SoftmaxState &state) {
  // In front of the exponentials, which then have no branch between them and
  // the product.
  RowStep step(t);
  step.refer(scores, state.reference);
  scaleRows(t, state.output, step.shrink);
  step.weigh(scores, state.sum);
}

} // namespace azulejo::gpu
