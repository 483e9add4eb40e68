//===- Elementwise.cpp - rules of the elementwise ops ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Opset.h"

namespace azulejo::opset {

static InferResult broadcastAll(const InferContext &cx, DType dtype) {
  Shape shape;
  for (size_t i = 0; i < cx.operands.size(); ++i) {
    std::optional<Shape> next = broadcastShapes(shape, cx.operands[i].shape);
    if (!next)
      return cx.fail("C1",
                     "shapes do not broadcast: " + cx.operandStr(0) + " with " +
                         cx.operandStr(i),
                     "shapes align at the right; only a size of exactly 1 "
                     "stretches");
    shape = std::move(*next);
  }
  return std::vector<TensorType>{{dtype, shape}};
}

/// Arithmetic is defined on the types that a kernel computes in; i8 and fp8
/// are storage types and need a cast first.
static bool isComputeType(DType dtype) {
  return dtype != DType::I8 && dtype != DType::F8E4M3 &&
         dtype != DType::F8E5M2 && dtype != DType::F64;
}

static std::optional<Error> checkCompute(const InferContext &cx) {
  for (size_t i = 0; i < cx.operands.size(); ++i)
    if (!isComputeType(cx.operands[i].dtype))
      return cx.fail("C2",
                     "operand " + cx.operandStr(i) +
                         " has a storage-only element type",
                     "cast to f32, f16 or bf16 first");
  return std::nullopt;
}

static InferResult inferFloatUnary(const InferContext &cx) {
  if (std::optional<Error> error = checkCompute(cx))
    return *error;
  if (!isFloat(cx.operands[0].dtype))
    return cx.fail("C3", "operand " + cx.operandStr(0) + " must be a float",
                   "cast it to f32 first");
  return std::vector<TensorType>{cx.operands[0]};
}

static InferResult inferNumberUnary(const InferContext &cx) {
  if (std::optional<Error> error = checkCompute(cx))
    return *error;
  if (cx.operands[0].dtype == DType::I1)
    return cx.fail("C3", "operand " + cx.operandStr(0) + " must be a number",
                   "cast it first");
  return std::vector<TensorType>{cx.operands[0]};
}

static InferResult inferArithmetic(const InferContext &cx) {
  if (std::optional<Error> error = checkCompute(cx))
    return *error;
  DType dtype = promote(cx.operands[0].dtype, cx.operands[1].dtype);
  if (dtype == DType::I1)
    return cx.fail("C3", "both operands are i1",
                   "use and / or, or cast to a number first");
  return broadcastAll(cx, dtype);
}

static InferResult inferFloatBinary(const InferContext &cx) {
  if (std::optional<Error> error = checkCompute(cx))
    return *error;
  DType dtype = promote(cx.operands[0].dtype, cx.operands[1].dtype);
  if (!isFloat(dtype))
    return cx.fail("C3",
                   "operands " + cx.operandStr(0) + " and " + cx.operandStr(1) +
                       " must give a float",
                   "cast one of them to f32 first");
  return broadcastAll(cx, dtype);
}

static InferResult inferLogical(const InferContext &cx) {
  for (size_t i = 0; i < cx.operands.size(); ++i)
    if (cx.operands[i].dtype != DType::I1)
      return cx.fail("C3", "operand " + cx.operandStr(i) + " must be i1",
                     "make a truth value with compare");
  return broadcastAll(cx, DType::I1);
}

static InferResult inferCompare(const InferContext &cx) {
  if (std::optional<Error> error = checkCompute(cx))
    return *error;
  return broadcastAll(cx, DType::I1);
}

static InferResult inferWhere(const InferContext &cx) {
  if (cx.operands[0].dtype != DType::I1)
    return cx.fail("C3", "the condition " + cx.operandStr(0) + " must be i1",
                   "make a truth value with compare");
  if (std::optional<Error> error = checkCompute(cx))
    return *error;
  return broadcastAll(cx, promote(cx.operands[1].dtype, cx.operands[2].dtype));
}

static InferResult inferClamp(const InferContext &cx) {
  if (!(cx.attr<double>("low") <= cx.attr<double>("high")))
    return cx.fail("C4", "low must not be greater than high, nor NaN",
                   "swap the two, or use min or max for one bound");
  return inferNumberUnary(cx);
}

static InferResult inferCast(const InferContext &cx) {
  DType to = cx.attr<DType>("dtype");
  if (to == DType::F64 || cx.operands[0].dtype == DType::F64)
    return cx.fail("C2", "f64 exists only in the reference evaluator",
                   "use f32");
  return std::vector<TensorType>{{to, cx.operands[0].shape}};
}

std::vector<OpSpec> elementwiseOps() {
  std::vector<OpSpec> ops;
  for (const char *name : {"exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos",
                           "tanh", "sigmoid", "silu", "gelu_erf", "gelu_tanh"})
    ops.push_back({name, OpClass::Elementwise, 1, 1, {}, inferFloatUnary});
  for (const char *name : {"neg", "abs", "relu"})
    ops.push_back({name, OpClass::Elementwise, 1, 1, {}, inferNumberUnary});
  for (const char *name : {"add", "sub", "mul", "min", "max"})
    ops.push_back({name, OpClass::Elementwise, 2, 2, {}, inferArithmetic});
  for (const char *name : {"div", "pow"})
    ops.push_back({name, OpClass::Elementwise, 2, 2, {}, inferFloatBinary});
  for (const char *name : {"and", "or"})
    ops.push_back({name, OpClass::Elementwise, 2, 2, {}, inferLogical});
  ops.push_back({"not", OpClass::Elementwise, 1, 1, {}, inferLogical});
  ops.push_back({"compare",
                 OpClass::Elementwise,
                 2,
                 2,
                 {{"predicate",
                   AttrKind::String,
                   std::nullopt,
                   {"eq", "ne", "lt", "le", "gt", "ge"}}},
                 inferCompare});
  ops.push_back({"where", OpClass::Elementwise, 3, 3, {}, inferWhere});
  ops.push_back({"clamp",
                 OpClass::Elementwise,
                 1,
                 1,
                 {{"low", AttrKind::Float, std::nullopt},
                  {"high", AttrKind::Float, std::nullopt}},
                 inferClamp});
  ops.push_back({"cast",
                 OpClass::Elementwise,
                 1,
                 1,
                 {{"dtype", AttrKind::DType, std::nullopt}},
                 inferCast});
  return ops;
}

} // namespace azulejo::opset
