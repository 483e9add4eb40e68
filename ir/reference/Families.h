//===- Families.h - what the op families of the evaluator share -*- C++ -*-===//
//
// Internal to ir/reference. Each family is a function template over the
// accumulate type T: double is the oracle, float the plain run. A family file
// instantiates its function for both.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_REFERENCE_FAMILIES_H
#define AZULEJO_IR_REFERENCE_FAMILIES_H

#include "frontend/graph/Graph.h"
#include "ir/reference/HostTensor.h"

#include <cmath>

namespace azulejo::reference {

/// A dense value while the graph runs: floats of any dtype are held as T,
/// integers and i1 as int64, so that no i64 loses bits.
template <typename T> struct Tensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<T> floats;     ///< when isFloat(dtype)
  std::vector<int64_t> ints; ///< otherwise

  bool isFloating() const { return isFloat(dtype); }
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  }
  void allocate() {
    if (isFloating())
      floats.assign(static_cast<size_t>(elements()), T(0));
    else
      ints.assign(static_cast<size_t>(elements()), 0);
  }
  /// The element as a float, whatever it is stored as.
  T asFloat(int64_t i) const {
    return isFloating() ? floats[i] : static_cast<T>(ints[i]);
  }
  /// Copies one element from a tensor of the same dtype.
  void copy(int64_t to, const Tensor &from, int64_t at) {
    if (isFloating())
      floats[to] = from.floats[at];
    else
      ints[to] = from.ints[at];
  }
};

/// One op to run. Results are allocated and zero.
template <typename T> struct Call {
  const graph::Op &op;
  std::vector<const Tensor<T> *> in;
  std::vector<Tensor<T>> out;

  template <typename A> const A &attr(const char *name) const {
    return std::get<A>(op.attrs.at(name));
  }
};

/// A running sum. float adds naively; double is compensated (Neumaier).
template <typename T> class Sum {
public:
  void add(T value) { total += value; }
  T value() const { return total; }

private:
  T total = 0;
};

template <> class Sum<double> {
public:
  void add(double value) {
    double next = total + value;
    lost += std::fabs(total) >= std::fabs(value) ? (total - next) + value
                                                 : (value - next) + total;
    total = next;
  }
  /// Once the total is infinite or NaN, `lost` means nothing.
  double value() const { return std::isfinite(total) ? total + lost : total; }

private:
  double total = 0;
  double lost = 0;
};

/// Turns a row-major element number of `shape` into the element number of a
/// dense tensor of shape `from` that broadcasts to `shape`.
class BroadcastIndex {
public:
  BroadcastIndex(const std::vector<int64_t> &from,
                 const std::vector<int64_t> &shape)
      : shape(shape), strides(shape.size(), 0) {
    std::vector<int64_t> dense = denseStrides(from);
    size_t lead = shape.size() - from.size();
    for (size_t i = 0; i < from.size(); ++i)
      strides[lead + i] = from[i] == 1 ? 0 : dense[i];
  }
  int64_t operator()(int64_t number) const {
    int64_t position = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      position += number % shape[axis] * strides[axis];
      number /= shape[axis];
    }
    return position;
  }

private:
  std::vector<int64_t> shape, strides;
};

template <typename T> void evaluateElementwise(Call<T> &call);
template <typename T> void evaluateRow(Call<T> &call);
template <typename T> void evaluateMatmul(Call<T> &call);
template <typename T> void evaluateAttention(Call<T> &call);
template <typename T> void evaluateLayout(Call<T> &call);

/// Elements of an operand of a product. The plain run rounds them where the
/// precision lets kernels do so; the oracle never does.
template <typename T>
std::vector<T> asMultiplied(const Tensor<T> &x, const opset::AttrMap &attrs);

/// The value of a float as an integer dtype: truncated, saturated, NaN is 0.
int64_t floatToInt(double value, DType dtype);
/// An integer wrapped to the width of `dtype`.
int64_t wrapInt(int64_t value, DType dtype);

} // namespace azulejo::reference

#endif // AZULEJO_IR_REFERENCE_FAMILIES_H
