//===- Row.cpp - rules of reductions and normalisations -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Opset.h"

#include <algorithm>

namespace azulejo::opset {

static std::optional<Error> checkKernelFloat(const InferContext &cx,
                                             size_t index) {
  DType dtype = cx.operands[index].dtype;
  if (dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16)
    return std::nullopt;
  return cx.fail(
      "C1", "operand " + cx.operandStr(index) + " must be f32, f16 or bf16",
      "cast it first");
}

static InferResult inferReduce(const InferContext &cx) {
  const TensorType &x = cx.operands[0];
  if (cx.op == "max" || cx.op == "reduce_max") {
    if (x.dtype != DType::I32 && x.dtype != DType::I64)
      if (std::optional<Error> error = checkKernelFloat(cx, 0))
        return *error;
  } else if (std::optional<Error> error = checkKernelFloat(cx, 0)) {
    return *error;
  }
  std::vector<int64_t> axes = cx.attr<std::vector<int64_t>>("axes");
  std::vector<bool> folded(x.shape.size(), false);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= x.rank())
      return cx.fail("C2",
                     "axis " + std::to_string(axis) + " is outside " +
                         cx.operandStr(0),
                     "axes count from 0 to rank - 1");
    if (folded[axis])
      return cx.fail("C2", "axis " + std::to_string(axis) + " is named twice",
                     "name each axis once");
    folded[axis] = true;
  }
  if (axes.empty())
    return cx.fail("C2", "axes is empty", "name at least one axis");
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!folded[i])
      shape.push_back(x.shape[i]);
    else if (cx.attr<bool>("keepdims"))
      shape.push_back(Dim(1));
  }
  return std::vector<TensorType>{{x.dtype, shape}};
}

static InferResult inferSoftmax(const InferContext &cx) {
  if (std::optional<Error> error = checkKernelFloat(cx, 0))
    return *error;
  int64_t axis = cx.attr<int64_t>("axis");
  if (axis < -1 || axis >= cx.operands[0].rank() || cx.operands[0].rank() == 0)
    return cx.fail("C2",
                   "axis " + std::to_string(axis) + " is outside " +
                       cx.operandStr(0),
                   "use 0 to rank - 1, or -1 for the last axis");
  return std::vector<TensorType>{cx.operands[0]};
}

static InferResult inferNorm(const InferContext &cx) {
  const TensorType &x = cx.operands[0];
  for (size_t i = 0; i < cx.operands.size(); ++i)
    if (std::optional<Error> error = checkKernelFloat(cx, i))
      return *error;
  if (x.rank() < 1)
    return cx.fail("C2", "operand " + cx.operandStr(0) + " has no row axis",
                   "reshape it to [1] first");
  for (size_t i = 1; i < cx.operands.size(); ++i)
    if (cx.operands[i].shape != Shape{x.shape.back()})
      return cx.fail("C3",
                     "parameter " + cx.operandStr(i) + " must have shape [" +
                         x.shape.back().str() + "], the last axis of " +
                         cx.operandStr(0),
                     "reshape or slice it to one value per channel");
  if (!(cx.attr<double>("eps") >= 0))
    return cx.fail("C4", "eps must be zero or positive",
                   "1e-5 and 1e-6 are usual");
  return std::vector<TensorType>{x};
}

static InferResult inferRope(const InferContext &cx) {
  const TensorType &x = cx.operands[0], &cosTable = cx.operands[1],
                   &sinTable = cx.operands[2];
  for (size_t i = 0; i < 3; ++i)
    if (std::optional<Error> error = checkKernelFloat(cx, i))
      return *error;
  if (x.rank() < 2 || cosTable.rank() < 1)
    return cx.fail(
        "C2",
        "operand " + cx.operandStr(0) +
            " needs a position axis and a channel axis",
        "reshape x to [..., S, D]; the tables are [..., rotary / 2]");
  if (cosTable.shape != sinTable.shape)
    return cx.fail("C3",
                   "the tables differ: " + cx.operandStr(1) + " and " +
                       cx.operandStr(2),
                   "cos and sin have one shape, [..., rotary / 2]");
  std::optional<int64_t> half = cosTable.shape.back().constant();
  std::optional<int64_t> channels = x.shape.back().constant();
  if (!half || !channels || *half < 1 || 2 * *half > *channels)
    return cx.fail("C4",
                   "twice the last axis of " + cx.operandStr(1) +
                       " must be constant and at most the last axis of " +
                       cx.operandStr(0),
                   "the tables hold half of the channels that turn");
  Shape rotated = x.shape;
  rotated.back() = cosTable.shape.back();
  if (!broadcastsTo(cosTable.shape, rotated))
    return cx.fail("C5",
                   "table " + cx.operandStr(1) +
                       " does not broadcast over the positions of " +
                       cx.operandStr(0),
                   "for [B, H, S, D] use [S, R/2]; for [B, S, H, D] use "
                   "[S, 1, R/2]");
  return std::vector<TensorType>{x};
}

std::vector<OpSpec> rowOps() {
  std::vector<OpSpec> ops;
  for (const char *name : {"reduce_sum", "reduce_max", "reduce_mean"})
    ops.push_back({name,
                   OpClass::Reduction,
                   1,
                   1,
                   {{"axes", AttrKind::Ints, std::nullopt},
                    {"keepdims", AttrKind::Bool, Attr(false)}},
                   inferReduce});
  ops.push_back({"softmax",
                 OpClass::Normalise,
                 1,
                 1,
                 {{"axis", AttrKind::Int, Attr(int64_t{-1})}},
                 inferSoftmax});
  ops.push_back({"layer_norm",
                 OpClass::Normalise,
                 1,
                 3,
                 {{"eps", AttrKind::Float, Attr(1e-5)}},
                 inferNorm});
  ops.push_back({"rms_norm",
                 OpClass::Normalise,
                 1,
                 2,
                 {{"eps", AttrKind::Float, Attr(1e-6)}},
                 inferNorm});
  ops.push_back({"rope",
                 OpClass::Layout,
                 3,
                 3,
                 {{"pairing",
                   AttrKind::String,
                   Attr(std::string("half")),
                   {"half", "interleaved"}}},
                 inferRope});
  return ops;
}

} // namespace azulejo::opset
