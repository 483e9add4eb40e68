//===- GraphWriter.cpp - graph ops written as formulas --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphWriter.h"
#include "ir/graph/GraphDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

opset::TensorType GraphWriter::typeOf(Value x) {
  // A null value stands for an error that was reported; any type will do.
  return x ? graphir::toOpset(llvm::cast<RankedTensorType>(x.getType()))
           : opset::TensorType();
}

Value GraphWriter::op(StringRef kind, ValueRange operands,
                      opset::AttrMap attrs) {
  anyFailed |= llvm::is_contained(operands, Value());
  if (anyFailed)
    return {};
  Operation *made =
      graphir::createGraphOp(builder, loc, kind, operands, std::move(attrs));
  anyFailed |= !made;
  return made ? made->getResult(0) : Value();
}

Value GraphWriter::compare(StringRef predicate, Value a, Value b) {
  return op("compare", {a, b}, {{"predicate", predicate.str()}});
}

Value GraphWriter::constant(double value, opset::DType dtype) {
  return op("constant", {},
            {{"value", value}, {"dtype", dtype}, {"shape", opset::Shape{}}});
}

Value GraphWriter::iota(opset::Shape shape, int64_t axis, opset::DType dtype) {
  return op("iota", {},
            {{"shape", std::move(shape)}, {"axis", axis}, {"dtype", dtype}});
}

Value GraphWriter::cast(Value x, opset::DType dtype) {
  return dtypeOf(x) == dtype ? x : op("cast", {x}, {{"dtype", dtype}});
}

Value GraphWriter::reshape(Value x, opset::Shape shape) {
  if (shapeOf(x) == shape)
    return x;
  return op("reshape", {x}, {{"shape", std::move(shape)}});
}

Value GraphWriter::transpose(Value x, std::vector<int64_t> perm) {
  bool moves = false;
  for (auto [i, axis] : llvm::enumerate(perm))
    moves |= axis != static_cast<int64_t>(i);
  return moves ? op("transpose", {x}, {{"perm", std::move(perm)}}) : x;
}

Value GraphWriter::matmul(Value a, Value b, bool transposeA, bool transposeB,
                          StringRef precision) {
  return op("matmul", {a, b},
            {{"transpose_a", transposeA},
             {"transpose_b", transposeB},
             {"precision", precision.str()}});
}

Value GraphWriter::reduce(StringRef name, Value x, int64_t axis) {
  return op(("reduce_" + name).str(), {x},
            {{"axes", std::vector<int64_t>{axis}}, {"keepdims", true}});
}

void GraphWriter::label(Value x, StringRef text) {
  if (Operation *made = x ? x.getDefiningOp() : nullptr; made && !text.empty())
    made->setAttr(graphir::kLabelAttr, builder.getStringAttr(text));
}
