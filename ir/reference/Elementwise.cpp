//===- Elementwise.cpp - one scalar at a time -----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Families.h"
#include "ir/reference/Float.h"

#include <limits>

namespace azulejo::reference {

int64_t wrapInt(int64_t value, DType dtype) {
  switch (dtype) {
  case DType::I1:
    return value != 0;
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::I32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

int64_t floatToInt(double value, DType dtype) {
  if (dtype == DType::I1)
    return value != 0; // NaN differs from 0, so it is true
  if (std::isnan(value))
    return 0;
  int bits = static_cast<int>(8 * dtypeBytes(dtype));
  // 2^(bits-1) is a double; the largest integer of 64 bits is not.
  double limit = std::ldexp(1.0, bits - 1);
  if (value >= limit)
    return static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  if (value <= -limit)
    return -static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) - 1;
  return static_cast<int64_t>(value);
}

template <typename T> static T sigmoid(T x) { return 1 / (1 + std::exp(-x)); }

/// x times something that goes to 0 faster: the limit at -inf is -0.0.
template <typename T> static T gated(T x, T gate) {
  return x == -std::numeric_limits<T>::infinity() ? T(-0.0) : x * gate;
}

template <typename T> static T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<T>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a; // +0.0 is the larger zero
  return a > b ? a : b;
}

template <typename T> static T minimum(T a, T b) { return -maximum(-a, -b); }

template <typename T> static T unary(const std::string &kind, T x) {
  if (kind == "exp")
    return std::exp(x);
  if (kind == "exp2")
    return std::exp2(x);
  if (kind == "log")
    return std::log(x);
  if (kind == "sqrt")
    return std::sqrt(x);
  if (kind == "rsqrt")
    return 1 / std::sqrt(x);
  if (kind == "sin")
    return std::sin(x);
  if (kind == "cos")
    return std::cos(x);
  if (kind == "tanh")
    return std::tanh(x);
  if (kind == "sigmoid")
    return sigmoid(x);
  if (kind == "silu")
    return gated(x, sigmoid(x));
  // erfc and the sigmoid keep the left tail exact, where 1 + erf and 1 + tanh
  // would cancel.
  if (kind == "gelu_erf")
    return gated(x, T(0.5) * std::erfc(-x * T(0.70710678118654752440)));
  if (kind == "gelu_tanh") {
    T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
    return gated(x, sigmoid(2 * inner));
  }
  if (kind == "neg")
    return -x;
  if (kind == "abs")
    return std::fabs(x);
  // relu, the last of the unary ops
  return std::isnan(x) ? x : x > 0 ? x : T(0);
}

static int64_t unaryInt(const std::string &kind, int64_t x) {
  if (kind == "relu")
    return x > 0 ? x : 0;
  bool negate = kind == "neg" || x < 0; // neg or abs
  return negate ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
}

template <typename T> static T binary(const std::string &kind, T a, T b) {
  if (kind == "add")
    return a + b;
  if (kind == "sub")
    return a - b;
  if (kind == "mul")
    return a * b;
  if (kind == "div")
    return a / b;
  if (kind == "pow")
    return std::pow(a, b);
  return kind == "min" ? minimum(a, b) : maximum(a, b);
}

static int64_t binaryInt(const std::string &kind, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  if (kind == "add")
    return static_cast<int64_t>(x + y);
  if (kind == "sub")
    return static_cast<int64_t>(x - y);
  if (kind == "mul")
    return static_cast<int64_t>(x * y);
  if (kind == "and")
    return a && b;
  if (kind == "or")
    return a || b;
  return kind == "min" ? std::min(a, b) : std::max(a, b);
}

template <typename V>
static bool holds(const std::string &predicate, V a, V b) {
  if (predicate == "eq")
    return a == b;
  if (predicate == "ne")
    return a != b;
  if (predicate == "lt")
    return a < b;
  if (predicate == "le")
    return a <= b;
  return predicate == "gt" ? a > b : a >= b;
}

template <typename T> static void evaluateCast(Call<T> &call) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  for (int64_t i = 0, n = out.elements(); i < n; ++i) {
    if (x.isFloating() && out.isFloating())
      out.floats[i] = static_cast<T>(roundTo(out.dtype, x.floats[i]));
    else if (x.isFloating())
      out.ints[i] = floatToInt(x.floats[i], out.dtype);
    else if (out.dtype == DType::F32)
      // Straight from the integer: through a double, one of 64 bits could
      // round twice.
      out.floats[i] = static_cast<float>(x.ints[i]);
    else if (out.isFloating())
      out.floats[i] =
          static_cast<T>(roundTo(out.dtype, static_cast<double>(x.ints[i])));
    else
      out.ints[i] = wrapInt(x.ints[i], out.dtype);
  }
}

template <typename T> static void evaluateClamp(Call<T> &call) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  double low = call.template attr<double>("low"),
         high = call.template attr<double>("high");
  int64_t lowInt = floatToInt(low, out.dtype),
          highInt = floatToInt(high, out.dtype);
  for (int64_t i = 0, n = out.elements(); i < n; ++i) {
    if (out.isFloating())
      out.floats[i] = minimum(maximum(x.floats[i], static_cast<T>(low)),
                              static_cast<T>(high));
    else
      out.ints[i] = std::min(std::max(x.ints[i], lowInt), highInt);
  }
}

template <typename T> static void evaluateUnary(Call<T> &call) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  for (int64_t i = 0, n = out.elements(); i < n; ++i) {
    if (call.op.kind == "not")
      out.ints[i] = !x.ints[i];
    else if (out.isFloating())
      out.floats[i] = unary(call.op.kind, x.floats[i]);
    else
      out.ints[i] = wrapInt(unaryInt(call.op.kind, x.ints[i]), out.dtype);
  }
}

template <typename T> static void evaluateBinary(Call<T> &call) {
  const Tensor<T> &a = *call.in[0], &b = *call.in[1];
  Tensor<T> &out = call.out[0];
  BroadcastIndex indexA(a.shape, out.shape), indexB(b.shape, out.shape);
  bool compare = call.op.kind == "compare";
  std::string predicate =
      compare ? call.template attr<std::string>("predicate") : std::string();
  bool floating = a.isFloating() || b.isFloating();
  for (int64_t i = 0, n = out.elements(); i < n; ++i) {
    int64_t ia = indexA(i), ib = indexB(i);
    if (compare)
      out.ints[i] = floating ? holds(predicate, a.asFloat(ia), b.asFloat(ib))
                             : holds(predicate, a.ints[ia], b.ints[ib]);
    else if (floating)
      out.floats[i] = binary(call.op.kind, a.asFloat(ia), b.asFloat(ib));
    else
      out.ints[i] =
          wrapInt(binaryInt(call.op.kind, a.ints[ia], b.ints[ib]), out.dtype);
  }
}

template <typename T> static void evaluateWhere(Call<T> &call) {
  const Tensor<T> &condition = *call.in[0];
  Tensor<T> &out = call.out[0];
  BroadcastIndex indexC(condition.shape, out.shape);
  BroadcastIndex indices[2] = {{call.in[1]->shape, out.shape},
                               {call.in[2]->shape, out.shape}};
  for (int64_t i = 0, n = out.elements(); i < n; ++i) {
    int pick = condition.ints[indexC(i)] ? 0 : 1;
    const Tensor<T> &from = *call.in[1 + pick];
    int64_t at = indices[pick](i);
    if (out.isFloating())
      out.floats[i] = from.asFloat(at);
    else
      out.ints[i] = from.ints[at];
  }
}

template <typename T> void evaluateElementwise(Call<T> &call) {
  const std::string &kind = call.op.kind;
  if (kind == "cast")
    return evaluateCast(call);
  if (kind == "clamp")
    return evaluateClamp(call);
  if (kind == "where")
    return evaluateWhere(call);
  if (call.in.size() == 1)
    return evaluateUnary(call);
  return evaluateBinary(call);
}

template void evaluateElementwise(Call<float> &);
template void evaluateElementwise(Call<double> &);

} // namespace azulejo::reference
