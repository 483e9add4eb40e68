//===- ExpandMath.cpp - functions that the hardware lacks -----------------===//
//
// The backend has correctly rounded square roots and divisions and everything
// that is exact; the rest is the arithmetic of ir/scalar. An op that carries
// `afn` asks for less: it becomes the instruction that approximates it, which
// flushes subnormals and keeps no promise of docs/numerics.md.
//
// Correctly rounded square roots and divisions branch (ir/scalar/Unbranched.h).
// Where many of them are written out, all are replaced.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Float8.h"
#include "codegen/ptx/Ptx.h"
#include "ir/scalar/Elementary.h"
#include "ir/scalar/Unbranched.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/MapVector.h"

#include <numbers>

using namespace mlir;

namespace azulejo::codegen {

namespace {

/// So many branches an assembler takes in its stride: 128 cost it 0.4 s.
constexpr size_t kMostBranching = 64;

/// Ops that the backend turns into exact or correctly rounded instructions.
bool hasInstruction(Operation *op) {
  return isa<math::SqrtOp, math::FmaOp, math::AbsFOp, math::AbsIOp,
             math::FloorOp, math::CeilOp, math::RoundEvenOp, math::TruncOp,
             math::CopySignOp>(op);
}

bool mayApproximate(Operation *op) {
  auto flagged = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!flagged || op->getNumResults() != 1 ||
      !op->getResult(0).getType().isF32())
    return false;
  arith::FastMathFlagsAttr flags = flagged.getFastMathFlagsAttr();
  return flags &&
         bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
}

/// The hardware's approximation of `op`; null where it has none.
Value approximate(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  auto f32 = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  auto times = [&](Value x, double factor) -> Value {
    return arith::MulFOp::create(b, loc, x, f32(factor));
  };
  auto instruction = [&](StringRef name, ValueRange operands) -> Value {
    return LLVM::CallIntrinsicOp::create(
               b, loc, b.getF32Type(),
               b.getStringAttr("llvm.nvvm." + name.str() + ".approx.ftz.f"),
               operands)
        .getResult(0);
  };
  Value x = op->getOperand(0);
  if (isa<math::Exp2Op>(op))
    return instruction("ex2", x);
  if (isa<math::ExpOp>(op))
    return instruction("ex2", times(x, std::numbers::log2e));
  if (isa<math::Log2Op>(op))
    return instruction("lg2", x);
  if (isa<math::LogOp>(op))
    return times(instruction("lg2", x), std::numbers::ln2);
  if (isa<math::SinOp>(op))
    return instruction("sin", x);
  if (isa<math::CosOp>(op))
    return instruction("cos", x);
  if (isa<math::SqrtOp>(op))
    return instruction("sqrt", x);
  if (isa<math::RsqrtOp>(op))
    return instruction("rsqrt", x);
  if (isa<arith::DivFOp>(op)) {
    Value divisor = op->getOperand(1);
    return matchPattern(x, m_OneFloat())
               ? instruction("rcp", divisor)
               : instruction("div", ValueRange{x, divisor});
  }
  // Of this one the instruction has no form that flushes.
  if (isa<math::TanhOp>(op))
    return LLVM::TanhOp::create(b, loc, x, LLVM::FastmathFlags::afn);
  return {};
}

class Expansion {
public:
  explicit Expansion(const target::TargetDesc &target) : target(target) {}

  /// The ops that rounded to fp8 have no users by now.
  void finish() {
    for (auto [round, wide] : rounded)
      round.getDefiningOp()->erase();
  }

  /// Replaces `op` where that is needed. Operations are visited after those
  /// that they use. False, with a diagnostic, where it
  /// would have to be replaced and cannot.
  bool visit(Operation *op) {
    if (llvm::any_of(op->getResultTypes(), scalar::isFloat8))
      return roundToFloat8(op);
    if (op->getNumOperands() == 1)
      if (Value wide = rounded.lookup(op->getOperand(0)))
        return replace(op, wide);
    auto isKnown = [](Type type) {
      return !isa<FloatType>(type) || type.isF32() || type.isF16() ||
             type.isBF16();
    };
    if (!llvm::all_of(op->getOperandTypes(), isKnown) ||
        !llvm::all_of(op->getResultTypes(), isKnown))
      return op->emitOpError("uses a float type that GPU code does not"), false;
    OpBuilder b(op);
    if (mayApproximate(op))
      if (Value fast = approximate(b, op))
        return replace(op, fast);
    if (!isa<math::MathDialect>(op->getDialect()) || hasInstruction(op))
      return true;
    if (Value value = scalar::expandMath(b, op->getLoc(), op, op->getOperands(),
                                         scalar::Clamp::Minimum))
      return replace(op, value);
    return op->emitOpError("has no instruction sequence for GPUs"), false;
  }

private:
  static bool replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return true;
  }

  /// fp8 is no type of registers: a value of it exists only between the op
  /// that rounds to it and those that widen it again.
  bool roundToFloat8(Operation *op) {
    auto round = dyn_cast<arith::TruncFOp>(op);
    auto widens = [](Operation *user) {
      return isa<arith::ExtFOp>(user) && user->getResult(0).getType().isF32();
    };
    if (!round || !round.getIn().getType().isF32() ||
        !llvm::all_of(round->getUsers(), widens))
      return op->emitOpError("leaves an fp8 value that GPU code cannot hold"),
             false;
    OpBuilder b(op);
    Type storage = round.getType();
    Value bytes = narrowFloat8(b, op->getLoc(), round.getIn(), storage, target);
    rounded[round] = widenFloat8(b, op->getLoc(), bytes, storage, target)[0];
    return true;
  }

  const target::TargetDesc &target;
  /// What each rounding to fp8 is in f32.
  llvm::MapVector<Value, Value> rounded;
};

/// Divisions and roots that become more than an instruction, if there are too
/// many of them.
void replaceBranching(ModuleOp module) {
  SmallVector<Operation *> branching;
  module.walk([&](Operation *op) {
    if (isa<arith::DivFOp, math::SqrtOp>(op) && !mayApproximate(op) &&
        op->getResult(0).getType().isF32())
      branching.push_back(op);
  });
  if (branching.size() <= kMostBranching)
    return;
  for (Operation *op : branching) {
    OpBuilder b(op);
    Value first = op->getOperand(0);
    Value value = isa<math::SqrtOp>(op)
                      ? scalar::emitUnbranchedRoot(b, op->getLoc(), first)
                      : scalar::emitUnbranchedQuotient(b, op->getLoc(), first,
                                                       op->getOperand(1));
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
  // Each begins with an approximation.
  module.walk([&](Operation *op) {
    OpBuilder b(op);
    Value fast = mayApproximate(op) ? approximate(b, op) : Value();
    if (!fast)
      return;
    op->getResult(0).replaceAllUsesWith(fast);
    op->erase();
  });
}

} // namespace

LogicalResult expandMathForPtx(ModuleOp module,
                               const target::TargetDesc &target) {
  Expansion expansion(target);
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Block *block) {
    for (Operation &op : llvm::make_early_inc_range(*block))
      if (!expansion.visit(&op))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  expansion.finish();
  // Other functions are made of divisions and roots, too.
  replaceBranching(module);
  return success();
}

} // namespace azulejo::codegen
