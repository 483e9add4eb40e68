//===- ExpandMath.cpp - functions that the hardware lacks -----------------===//
//
// The backend has correctly rounded square roots and divisions, and an
// approximate 2^x (relative error 2^-22 at most). Exponentials are brought to
// 2^r with |r| <= 1/2, where that error is all there is, and scaled exactly.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace azulejo::codegen {

namespace {

class Expansion {
public:
  Expansion(Operation *op) : b(op), loc(op->getLoc()) {}

  /// e^x: x log2(e) = n + r, with r from a two-piece constant so that the
  /// rounding of the product does not reach the result.
  Value exp(Value x) {
    constexpr double kLog2e = 1.4426950408889634;
    const float high = static_cast<float>(kLog2e);
    // Beyond these the result is 0 or infinity; NaN passes.
    x = clamp(x, -104.0, 89.0);
    Value n = math::RoundEvenOp::create(
        b, loc, arith::MulFOp::create(b, loc, x, f32(high)));
    Value r = math::FmaOp::create(b, loc, x, f32(high),
                                  arith::NegFOp::create(b, loc, n));
    r = math::FmaOp::create(b, loc, x, f32(kLog2e - high), r);
    return scale(math::Exp2Op::create(b, loc, r), n);
  }

  Value exp2(Value x) {
    x = clamp(x, -151.0, 129.0);
    Value n = math::RoundEvenOp::create(b, loc, x);
    Value r = arith::SubFOp::create(b, loc, x, n); // exact
    return scale(math::Exp2Op::create(b, loc, r), n);
  }

private:
  Value f32(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }
  Value clamp(Value x, double low, double high) {
    x = arith::MaximumFOp::create(b, loc, x, f32(low));
    return arith::MinimumFOp::create(b, loc, x, f32(high));
  }

  /// x * 2^n for an integral n in [-151, 129]. One factor alone could not be
  /// represented; of the two products at most the second rounds.
  Value scale(Value x, Value n) {
    // NaN must not reach the conversion, whose result would be undefined.
    Value isNan =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, n, n);
    n = arith::SelectOp::create(b, loc, isNan, f32(0), n);
    Value whole = arith::FPToSIOp::create(b, loc, b.getI32Type(), n);
    Value half = arith::ShRSIOp::create(b, loc, whole, i32(1));
    Value rest = arith::SubIOp::create(b, loc, whole, half);
    for (Value part : {half, rest}) {
      Value biased = arith::AddIOp::create(b, loc, part, i32(127));
      Value bits = arith::ShLIOp::create(b, loc, biased, i32(23));
      x = arith::MulFOp::create(
          b, loc, x, arith::BitcastOp::create(b, loc, b.getF32Type(), bits));
    }
    return x;
  }

  OpBuilder b;
  Location loc;
};

/// Ops that the backend turns into exact or correctly rounded instructions.
bool hasInstruction(Operation *op) {
  return isa<math::SqrtOp, math::RsqrtOp, math::FmaOp, math::AbsFOp,
             math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
             math::TruncOp>(op);
}

bool isKnownFloat(Type type) {
  return !isa<FloatType>(type) || type.isF32() || type.isF16() || type.isBF16();
}

} // namespace

LogicalResult expandMathForPtx(ModuleOp module) {
  SmallVector<Operation *> ops;
  WalkResult walk = module.walk([&](Operation *op) {
    auto known = [](TypeRange types) {
      return llvm::all_of(types, isKnownFloat);
    };
    if (!known(op->getOperandTypes()) || !known(op->getResultTypes())) {
      op->emitOpError("uses a float type that has no GPU conversion yet");
      return WalkResult::interrupt();
    }
    if (!isa<math::MathDialect>(op->getDialect()) || hasInstruction(op))
      return WalkResult::advance();
    if (!isa<math::ExpOp, math::Exp2Op>(op) ||
        !op->getResult(0).getType().isF32()) {
      op->emitOpError("has no instruction sequence for GPUs yet");
      return WalkResult::interrupt();
    }
    ops.push_back(op);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (Operation *op : ops) {
    Expansion expansion(op);
    Value x = op->getOperand(0);
    op->getResult(0).replaceAllUsesWith(
        isa<math::ExpOp>(op) ? expansion.exp(x) : expansion.exp2(x));
    op->erase();
  }
  return success();
}

} // namespace azulejo::codegen
