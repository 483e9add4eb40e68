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
    Value after = t.combine(before, greatest, "max");
    // Nothing visible yet: any finite reference gives weights of 0, where -inf
    // would give NaN.
    Value empty = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OEQ,
                                        after, minusInfinity);
    Value base = arith::SelectOp::create(t.b, t.loc, empty, zero, after);
    negated.push_back(arith::NegFOp::create(t.b, t.loc, base));
    shrink.push_back(
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
    total = math::FmaOp::create(t.b, t.loc, total, shrink[r], sum);
  }

  SmallVector<Value> negated, shrink; ///< per row

private:
  Value constant(double value) {
    return arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(value));
  }
  Value exp2(Value x) {
    return math::Exp2Op::create(t.b, t.loc, x, arith::FastMathFlags::afn);
  }

  ThreadBuilder &t;
  Value minusInfinity, zero;
};

} // namespace

SmallVector<Value> emitWeights(ThreadBuilder &t, Fragment &scores,
                               RowTile &reference, RowTile &sum) {
  RowStep step(t);
  for (int64_t r = 0; r < scores.threadRows(); ++r)
    step.refer(scores, reference, r);
  for (int64_t r = 0; r < scores.threadRows(); ++r)
    step.weigh(scores, sum, r);
  scores.scale = 1;
  return step.shrink;
}

void scaleRows(ThreadBuilder &t, Fragment &fragment, ArrayRef<Value> factors) {
  for (int64_t r = 0; r < fragment.threadRows(); ++r)
    for (int64_t c = 0; c < fragment.threadColumns(); ++c) {
      Value &element = fragment.element(r, c);
      element = arith::MulFOp::create(t.b, t.loc, element, factors[r]);
    }
}

void emitOnlineSoftmax(ThreadBuilder &t, Fragment &scores,
                       SoftmaxState &state) {
  SmallVector<Value> shrink =
      emitWeights(t, scores, state.reference, state.sum);
  scaleRows(t, state.output, shrink);
}

} // namespace azulejo::gpu
