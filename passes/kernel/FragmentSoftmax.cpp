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

  /// The row's new reference, and the output brought to it.
  void rescale(Fragment &scores, SoftmaxState &state, int64_t r) {
    Value greatest = scores.element(r, 0);
    for (int64_t c = 1; c < scores.threadColumns(); ++c)
      greatest = t.combine(greatest, scores.element(r, c), "max");
    greatest = kernel::WarpReduceOp::create(t.b, t.loc, greatest.getType(),
                                            "max", greatest, /*lanes=*/4);
    Value factor = constant(scores.scale);
    if (scores.scale != 1)
      greatest = arith::MulFOp::create(t.b, t.loc, greatest, factor);
    Value before = state.reference.values[r];
    Value after = t.combine(before, greatest, "max");
    // Nothing visible yet: any finite reference gives weights of 0, where -inf
    // would give NaN.
    Value empty = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OEQ,
                                        after, minusInfinity);
    Value base = arith::SelectOp::create(t.b, t.loc, empty, zero, after);
    negated.push_back(arith::NegFOp::create(t.b, t.loc, base));
    shrink.push_back(
        exp2(arith::AddFOp::create(t.b, t.loc, before, negated[r])));
    state.reference.values[r] = after;
    for (int64_t c = 0; c < state.output.threadColumns(); ++c) {
      Value &element = state.output.element(r, c);
      element = arith::MulFOp::create(t.b, t.loc, element, shrink[r]);
    }
  }

  /// The row's weights and their sum.
  void weigh(Fragment &scores, SoftmaxState &state, int64_t r) {
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
    Value &total = state.sum.values[r];
    total = math::FmaOp::create(t.b, t.loc, total, shrink[r], sum);
  }

private:
  Value constant(double value) {
    return arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(value));
  }
  Value exp2(Value x) {
    return math::Exp2Op::create(t.b, t.loc, x, arith::FastMathFlags::afn);
  }

  ThreadBuilder &t;
  Value minusInfinity, zero;
  SmallVector<Value> negated, shrink; ///< per row
};

} // namespace

void emitOnlineSoftmax(ThreadBuilder &t, Fragment &scores,
                       SoftmaxState &state) {
  RowStep step(t);
  for (int64_t r = 0; r < scores.threadRows(); ++r)
    step.rescale(scores, state, r);
  for (int64_t r = 0; r < scores.threadRows(); ++r)
    step.weigh(scores, state, r);
  scores.scale = 1;
}

} // namespace azulejo::gpu
