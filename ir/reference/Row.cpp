//===- Row.cpp - reductions, softmax, norms and rope ----------------------===//
//
// Statistics are two-pass: the mean first, then the centred squares.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Families.h"

#include <algorithm>
#include <limits>

namespace azulejo::reference {

/// For each element of `x`, the element of a dense tensor without the folded
/// axes that it goes to.
template <typename T>
static std::vector<int64_t> foldedPositions(const Tensor<T> &x,
                                            const std::vector<int64_t> &axes) {
  std::vector<int64_t> kept = x.shape;
  for (int64_t axis : axes)
    kept[axis] = 1;
  std::vector<int64_t> positions(static_cast<size_t>(x.elements()));
  BroadcastIndex index(kept, x.shape);
  for (size_t i = 0; i < positions.size(); ++i)
    positions[i] = index(static_cast<int64_t>(i));
  return positions;
}

template <typename T> static void reduceMaxInt(Call<T> &call) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  std::vector<int64_t> to =
      foldedPositions(x, call.template attr<std::vector<int64_t>>("axes"));
  int64_t lowest = out.dtype == DType::I32
                       ? std::numeric_limits<int32_t>::min()
                       : std::numeric_limits<int64_t>::min();
  std::fill(out.ints.begin(), out.ints.end(), lowest);
  for (size_t i = 0; i < to.size(); ++i)
    out.ints[to[i]] = std::max(out.ints[to[i]], x.ints[i]);
}

template <typename T> static void reduceMax(Call<T> &call) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  std::vector<int64_t> to =
      foldedPositions(x, call.template attr<std::vector<int64_t>>("axes"));
  std::fill(out.floats.begin(), out.floats.end(),
            -std::numeric_limits<T>::infinity());
  for (size_t i = 0; i < to.size(); ++i) {
    T &largest = out.floats[to[i]];
    if (std::isnan(x.floats[i]) || x.floats[i] > largest)
      largest = std::isnan(largest) ? largest : x.floats[i];
  }
}

template <typename T> static void reduceSum(Call<T> &call, bool mean) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  std::vector<int64_t> to =
      foldedPositions(x, call.template attr<std::vector<int64_t>>("axes"));
  std::vector<Sum<T>> sums(out.floats.size());
  for (size_t i = 0; i < to.size(); ++i)
    sums[to[i]].add(x.floats[i]);
  T folded = 1;
  for (int64_t axis : call.template attr<std::vector<int64_t>>("axes"))
    folded *= static_cast<T>(x.shape[axis]);
  for (size_t i = 0; i < sums.size(); ++i)
    out.floats[i] = mean ? sums[i].value() / folded : sums[i].value();
}

template <typename T> static void softmax(Call<T> &call) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  int64_t axis = call.template attr<int64_t>("axis");
  if (axis < 0)
    axis += x.rank();
  int64_t length = x.shape[axis], inner = denseStrides(x.shape)[axis];
  for (int64_t first = 0, n = x.elements(); first < n; ++first) {
    if (first / inner % length != 0)
      continue; // not the first element of a row
    T largest = -std::numeric_limits<T>::infinity();
    for (int64_t j = 0; j < length; ++j)
      largest = std::max(largest, x.floats[first + j * inner]);
    Sum<T> sum;
    for (int64_t j = 0; j < length; ++j) {
      T weight = std::exp(x.floats[first + j * inner] - largest);
      out.floats[first + j * inner] = weight;
      sum.add(weight);
    }
    for (int64_t j = 0; j < length; ++j)
      out.floats[first + j * inner] /= sum.value();
  }
}

template <typename T> static void norm(Call<T> &call, bool centred) {
  const Tensor<T> &x = *call.in[0];
  Tensor<T> &out = call.out[0];
  T eps = static_cast<T>(call.template attr<double>("eps"));
  int64_t length = x.shape.back();
  for (int64_t row = 0, n = x.elements(); row < n; row += length) {
    Sum<T> sum, squares;
    for (int64_t j = 0; j < length; ++j)
      sum.add(x.floats[row + j]);
    T mean = centred ? sum.value() / static_cast<T>(length) : T(0);
    for (int64_t j = 0; j < length; ++j) {
      T distance = x.floats[row + j] - mean;
      squares.add(distance * distance);
    }
    T deviation = std::sqrt(squares.value() / static_cast<T>(length) + eps);
    for (int64_t j = 0; j < length; ++j) {
      T value = (x.floats[row + j] - mean) / deviation;
      if (call.in.size() > 1)
        value *= call.in[1]->floats[j];
      if (call.in.size() > 2)
        value += call.in[2]->floats[j];
      out.floats[row + j] = value;
    }
  }
}

/// Rotates pairs of the first 2 * half channels and keeps the rest. Pairing
/// "half" pairs channel i with i + half, "interleaved" 2i with 2i + 1.
template <typename T> static void rope(Call<T> &call) {
  const Tensor<T> &x = *call.in[0], &cosines = *call.in[1],
                  &sines = *call.in[2];
  Tensor<T> &out = call.out[0];
  out.floats = x.floats;
  bool interleaved =
      call.template attr<std::string>("pairing") == "interleaved";
  int64_t channels = x.shape.back(), half = cosines.shape.back();
  std::vector<int64_t> angles = x.shape; // one angle per pair
  angles.back() = half;
  BroadcastIndex table(cosines.shape, angles);
  for (int64_t row = 0, rows = x.elements() / channels; row < rows; ++row) {
    for (int64_t i = 0; i < half; ++i) {
      int64_t a = row * channels + (interleaved ? 2 * i : i);
      int64_t b = a + (interleaved ? 1 : half);
      int64_t angle = table(row * half + i);
      T c = cosines.floats[angle], s = sines.floats[angle];
      out.floats[a] = x.floats[a] * c - x.floats[b] * s;
      out.floats[b] = x.floats[b] * c + x.floats[a] * s;
    }
  }
}

template <typename T> void evaluateRow(Call<T> &call) {
  const std::string &kind = call.op.kind;
  if (kind == "softmax")
    return softmax(call);
  if (kind == "layer_norm" || kind == "rms_norm")
    return norm(call, kind == "layer_norm");
  if (kind == "rope")
    return rope(call);
  if (kind == "reduce_max")
    return call.in[0]->isFloating() ? reduceMax(call) : reduceMaxInt(call);
  return reduceSum(call, kind == "reduce_mean");
}

template void evaluateRow(Call<float> &);
template void evaluateRow(Call<double> &);

} // namespace azulejo::reference
