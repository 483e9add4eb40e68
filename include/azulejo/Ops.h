//===- Ops.h - the ops, as functions on tensors -----------------*- C++ -*-===//
//
// One function per op of the op set; docs/ops.md states the rules of each. All
// take an optional last argument: the op's name in messages and in explain.
// Elementwise ops broadcast as NumPy does.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_OPS_H
#define AZULEJO_OPS_H

#include "azulejo/Apply.h"
#include "azulejo/Attention.h"
#include "azulejo/LayoutOps.h"
#include "azulejo/Tensor.h"

#include <utility>

namespace azulejo {
inline namespace v0 {

using Name = std::string;

namespace detail {
inline Tensor apply1(const char *kind, const std::vector<Tensor> &operands,
                     const Name &name,
                     const std::vector<Attribute> &attrs = {}) {
  return apply(kind, operands, attrs, name)[0];
}
} // namespace detail

// Elementwise, one operand.
#define AZULEJO_UNARY(function, kind)                                          \
  inline Tensor function(const Tensor &x, const Name &name = {}) {             \
    return detail::apply1(kind, {x}, name);                                    \
  }
AZULEJO_UNARY(exp, "exp")
AZULEJO_UNARY(exp2, "exp2")
AZULEJO_UNARY(log, "log")
AZULEJO_UNARY(sqrt, "sqrt")
AZULEJO_UNARY(rsqrt, "rsqrt")
AZULEJO_UNARY(sin, "sin")
AZULEJO_UNARY(cos, "cos")
AZULEJO_UNARY(tanh, "tanh")
AZULEJO_UNARY(sigmoid, "sigmoid")
AZULEJO_UNARY(silu, "silu")
AZULEJO_UNARY(geluErf, "gelu_erf")
AZULEJO_UNARY(geluTanh, "gelu_tanh")
AZULEJO_UNARY(neg, "neg")
AZULEJO_UNARY(abs, "abs")
AZULEJO_UNARY(relu, "relu")
AZULEJO_UNARY(logicalNot, "not")
#undef AZULEJO_UNARY

// Elementwise, two operands.
#define AZULEJO_BINARY(function, kind)                                         \
  inline Tensor function(const Tensor &a, const Tensor &b,                     \
                         const Name &name = {}) {                              \
    return detail::apply1(kind, {a, b}, name);                                 \
  }
AZULEJO_BINARY(add, "add")
AZULEJO_BINARY(sub, "sub")
AZULEJO_BINARY(mul, "mul")
AZULEJO_BINARY(div, "div")
AZULEJO_BINARY(pow, "pow")
AZULEJO_BINARY(minimum, "min")
AZULEJO_BINARY(maximum, "max")
AZULEJO_BINARY(logicalAnd, "and")
AZULEJO_BINARY(logicalOr, "or")
#undef AZULEJO_BINARY

/// A tensor of the type of `like` and no axes, in the graph of `like`.
inline Tensor scalarLike(const Tensor &like, double value) {
  if (Status status = like.status(); !status)
    return like;
  return detail::apply("constant", {},
                       {{"value", value}, {"dtype", like.dtype()}}, {}, 1,
                       like.graphState())[0];
}

// Operators; a number takes the element type of the tensor.
#define AZULEJO_OPERATOR(op, function)                                         \
  inline Tensor operator op(const Tensor &a, const Tensor &b) {                \
    return function(a, b);                                                     \
  }                                                                            \
  inline Tensor operator op(const Tensor &a, double b) {                       \
    return function(a, scalarLike(a, b));                                      \
  }                                                                            \
  inline Tensor operator op(double a, const Tensor &b) {                       \
    return function(scalarLike(b, a), b);                                      \
  }
AZULEJO_OPERATOR(+, add)
AZULEJO_OPERATOR(-, sub)
AZULEJO_OPERATOR(*, mul)
AZULEJO_OPERATOR(/, div)
#undef AZULEJO_OPERATOR
inline Tensor operator-(const Tensor &x) { return neg(x); }

/// predicate: "eq", "ne", "lt", "le", "gt" or "ge"; gives i1.
inline Tensor compare(const Tensor &a, const std::string &predicate,
                      const Tensor &b, const Name &name = {}) {
  return detail::apply1("compare", {a, b}, name, {{"predicate", predicate}});
}
inline Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b,
                    const Name &name = {}) {
  return detail::apply1("where", {condition, a, b}, name);
}
inline Tensor clamp(const Tensor &x, double low, double high,
                    const Name &name = {}) {
  return detail::apply1("clamp", {x}, name, {{"low", low}, {"high", high}});
}
inline Tensor cast(const Tensor &x, DType dtype, const Name &name = {}) {
  return detail::apply1("cast", {x}, name, {{"dtype", dtype}});
}

// Reductions and normalisations.
using Axes = std::vector<int64_t>;
inline Tensor reduceSum(const Tensor &x, const Axes &axes,
                        bool keepdims = false, const Name &name = {}) {
  return detail::apply1("reduce_sum", {x}, name,
                        {{"axes", axes}, {"keepdims", keepdims}});
}
inline Tensor reduceMax(const Tensor &x, const Axes &axes,
                        bool keepdims = false, const Name &name = {}) {
  return detail::apply1("reduce_max", {x}, name,
                        {{"axes", axes}, {"keepdims", keepdims}});
}
inline Tensor reduceMean(const Tensor &x, const Axes &axes,
                         bool keepdims = false, const Name &name = {}) {
  return detail::apply1("reduce_mean", {x}, name,
                        {{"axes", axes}, {"keepdims", keepdims}});
}
inline Tensor softmax(const Tensor &x, int64_t axis = -1,
                      const Name &name = {}) {
  return detail::apply1("softmax", {x}, name, {{"axis", axis}});
}

struct NormOptions {
  double eps = 1e-5;
  Name name = {};
};
/// `parameters`: none, {weight} or {weight, bias}.
inline Tensor layerNorm(const Tensor &x, std::vector<Tensor> parameters = {},
                        const NormOptions &options = {}) {
  parameters.insert(parameters.begin(), x);
  return detail::apply1("layer_norm", parameters, options.name,
                        {{"eps", options.eps}});
}
/// `parameters`: none or {weight}.
inline Tensor rmsNorm(const Tensor &x, std::vector<Tensor> parameters = {},
                      const NormOptions &options = {.eps = 1e-6}) {
  parameters.insert(parameters.begin(), x);
  return detail::apply1("rms_norm", parameters, options.name,
                        {{"eps", options.eps}});
}

enum class RopePairing { Half, Interleaved };
inline Tensor rope(const Tensor &x, const Tensor &cosTable,
                   const Tensor &sinTable,
                   RopePairing pairing = RopePairing::Half,
                   const Name &name = {}) {
  std::string text = pairing == RopePairing::Half ? "half" : "interleaved";
  return detail::apply1("rope", {x, cosTable, sinTable}, name,
                        {{"pairing", text}});
}

struct MatmulOptions {
  bool transposeA = false, transposeB = false;
  Precision precision = Precision::ieee;
  Name name = {};
};
inline Tensor matmul(const Tensor &a, const Tensor &b,
                     const MatmulOptions &options = {}) {
  return detail::apply1(
      "matmul", {a, b}, options.name,
      {{"transpose_a", options.transposeA},
       {"transpose_b", options.transposeB},
       {"precision", detail::precisionText(options.precision)}});
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_OPS_H
