//===- ScalarEmitter.h - bodies of elementwise ops --------------*- C++ -*-===//
//
// The vocabulary in which ops/Elementwise.td writes scalar bodies. All values
// of one body share a shape: plain scalars, or vectors of one shape. Every op
// emitted here maps elementwise, and constants are made by `constant`, which
// splats, so the same body serves scalar and vector code.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_SCALAREMITTER_H
#define AZULEJO_IR_GRAPH_SCALAREMITTER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace azulejo::graphir {

class ScalarEmitter {
public:
  using Value = mlir::Value;
  ScalarEmitter(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  ScalarEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::ValueRange scalars)
      : builder(builder), loc(loc) {}

  // How a body's operands are prepared.
  llvm::SmallVector<Value> asGiven(mlir::Operation *op, mlir::ValueRange x);
  /// All converted to the compute type of the promoted operand types.
  llvm::SmallVector<Value> promoted(mlir::Operation *op, mlir::ValueRange x);
  /// The same for all but the first operand, a condition.
  llvm::SmallVector<Value> promotedBranches(mlir::Operation *op,
                                            mlir::ValueRange x);

  template <typename OpT, typename... Args> Value op(Args... args) {
    return OpT::create(builder, loc, args...);
  }
  template <typename FloatOp, typename IntOp, typename... Args>
  Value floatOrInt(Value first, Args... rest) {
    if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(first)))
      return FloatOp::create(builder, loc, first, rest...);
    return IntOp::create(builder, loc, first, rest...);
  }

  /// A constant of the type (and shape) of `like`. The integer form is exact;
  /// i1 takes 0 or 1.
  Value constant(Value like, double value);
  Value constant(Value like, int64_t value);
  Value constant(Value like, int value) {
    return constant(like, static_cast<int64_t>(value));
  }

  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value neg(Value x);
  Value exp(Value x);
  Value select(Value condition, Value a, Value b);
  Value compare(llvm::StringRef predicate, Value a, Value b);
  Value clamp(Value x, double low, double high);

  /// exp(x) for x <= 0 only, as of a row from which its maximum was taken. This
  /// and all that follow cost a GPU one exponential of its hardware and little
  /// arithmetic: they stand behind most products of a network.
  Value expBelowMaximum(Value x);
  Value sigmoid(Value x);
  Value silu(Value x);
  Value geluErf(Value x);
  Value geluTanh(Value x);

  /// To another compute type, as arithmetic promotes: int to float, i1 as 0
  /// or 1, wider integers by sign.
  Value convert(Value x, mlir::Type computeElement);
  /// graph.cast to the element type `to`; the result is in its compute type.
  Value cast(Value x, mlir::Type to);

private:
  /// 1 / (1 + exp(-left)), where `left` is not below the end of that function.
  Value gateOf(Value left);
  /// 2^x as an op that a target may approximate, and whose ends may be 0 and
  /// infinity early.
  Value exp2Approximately(Value x);
  mlir::Type shapedLike(Value x, mlir::Type element);
  Value roundToFloat(Value x, mlir::FloatType to);
  Value truncateToInt(Value x, unsigned width, mlir::Type element);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace azulejo::graphir

#endif // AZULEJO_IR_GRAPH_SCALAREMITTER_H
