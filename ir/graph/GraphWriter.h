//===- GraphWriter.h - graph ops written as formulas ------------*- C++ -*-===//
//
// Rewrites that emit a page of ops read best as formulas. A writer makes ops at
// one place and location; all types are inferred.
//
// Failure is sticky: an op that breaks a rule or a limit reports its error,
// yields a null value, and everything built on a null value is null in turn.
// So a formula is written without checks and `failed` asked once at the end.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHWRITER_H
#define AZULEJO_IR_GRAPH_GRAPHWRITER_H

#include "ir/graph/GraphTypes.h"

namespace azulejo::graphir {

class GraphWriter {
public:
  using Value = mlir::Value;

  GraphWriter(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Any op with one result.
  Value op(llvm::StringRef kind, mlir::ValueRange operands,
           opset::AttrMap attrs = {});
  Value compare(llvm::StringRef predicate, Value a, Value b);

  /// A scalar constant; elementwise ops broadcast it.
  Value constant(double value, opset::DType dtype);
  Value iota(opset::Shape shape, int64_t axis, opset::DType dtype);

  /// No op is made when nothing would change.
  Value cast(Value x, opset::DType dtype);
  Value reshape(Value x, opset::Shape shape);
  Value transpose(Value x, std::vector<int64_t> perm);
  Value matmul(Value a, Value b, bool transposeA, bool transposeB,
               llvm::StringRef precision);
  /// reduce_<name> that keeps the folded axis with size 1.
  Value reduce(llvm::StringRef name, Value x, int64_t axis);

  /// Gives the op behind `x` the user's label, if there is one, so that errors
  /// and reports keep naming what the user wrote.
  void label(Value x, llvm::StringRef text);

  bool failed() const { return anyFailed; }

  static opset::Shape shapeOf(Value x) { return typeOf(x).shape; }
  static opset::DType dtypeOf(Value x) { return typeOf(x).dtype; }
  static opset::TensorType typeOf(Value x);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool anyFailed = false;
};

} // namespace azulejo::graphir

#endif // AZULEJO_IR_GRAPH_GRAPHWRITER_H
