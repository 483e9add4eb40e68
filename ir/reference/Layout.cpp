//===- Layout.cpp - ops that make, move or place elements -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Families.h"
#include "ir/reference/Float.h"

#include <algorithm>

namespace azulejo::reference {

template <typename T> static void constant(Call<T> &call) {
  Tensor<T> &out = call.out[0];
  double value = call.template attr<double>("value");
  for (T &x : out.floats)
    x = static_cast<T>(roundTo(out.dtype, value));
  for (int64_t &x : out.ints)
    x = floatToInt(value, out.dtype);
}

/// Splits a shape at an axis, so that element (o, a, i) of a dense tensor is
/// number (o * extent + a) * inner + i.
struct Split {
  int64_t outer = 1, extent, inner = 1;
  Split(const std::vector<int64_t> &shape, int64_t axis) : extent(shape[axis]) {
    for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
      if (i != axis)
        (i < axis ? outer : inner) *= shape[i];
  }
  int64_t operator()(int64_t o, int64_t a, int64_t i) const {
    return (o * extent + a) * inner + i;
  }
};

template <typename T> static void iota(Call<T> &call) {
  Tensor<T> &out = call.out[0];
  Split at(out.shape, call.template attr<int64_t>("axis"));
  for (int64_t i = 0, n = out.elements(); i < n; ++i) {
    int64_t value = i / at.inner % at.extent;
    if (out.isFloating())
      out.floats[i] = static_cast<T>(value);
    else
      out.ints[i] = wrapInt(value, out.dtype);
  }
}

template <typename T> static void broadcast(Call<T> &call) {
  Tensor<T> &out = call.out[0];
  BroadcastIndex index(call.in[0]->shape, out.shape);
  for (int64_t i = 0, n = out.elements(); i < n; ++i)
    out.copy(i, *call.in[0], index(i));
}

template <typename T> static void reshape(Call<T> &call) {
  Tensor<T> &out = call.out[0];
  for (int64_t i = 0, n = out.elements(); i < n; ++i)
    out.copy(i, *call.in[0], i);
}

/// Transpose and slice: out[index] = x[sum of index * stride + start].
template <typename T>
static void copyStrided(Call<T> &call, const std::vector<int64_t> &strides,
                        int64_t start) {
  Tensor<T> &out = call.out[0];
  for (int64_t i = 0, n = out.elements(); i < n; ++i) {
    int64_t from = start, rest = i;
    for (size_t axis = out.shape.size(); axis-- > 0;) {
      from += rest % out.shape[axis] * strides[axis];
      rest /= out.shape[axis];
    }
    out.copy(i, *call.in[0], from);
  }
}

template <typename T> static void transpose(Call<T> &call) {
  std::vector<int64_t> from = denseStrides(call.in[0]->shape), strides;
  for (int64_t axis : call.template attr<std::vector<int64_t>>("perm"))
    strides.push_back(from[axis]);
  copyStrided(call, strides, 0);
}

template <typename T> static void slice(Call<T> &call) {
  std::vector<int64_t> strides = denseStrides(call.in[0]->shape);
  const auto &starts = call.template attr<std::vector<int64_t>>("starts");
  const auto &steps = call.template attr<std::vector<int64_t>>("steps");
  int64_t start = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    start += starts[axis] * strides[axis];
    strides[axis] *= steps[axis];
  }
  copyStrided(call, strides, start);
}

template <typename T> static void concat(Call<T> &call) {
  Tensor<T> &out = call.out[0];
  int64_t axis = call.template attr<int64_t>("axis"), placed = 0;
  Split to(out.shape, axis);
  for (const Tensor<T> *part : call.in) {
    Split from(part->shape, axis);
    for (int64_t o = 0; o < from.outer; ++o)
      for (int64_t a = 0; a < from.extent; ++a)
        for (int64_t i = 0; i < from.inner; ++i)
          out.copy(to(o, placed + a, i), *part, from(o, a, i));
    placed += from.extent;
  }
}

template <typename T> static void gather(Call<T> &call) {
  const Tensor<T> &table = *call.in[0], &ids = *call.in[1];
  Tensor<T> &out = call.out[0];
  Split from(table.shape, call.template attr<int64_t>("axis"));
  int64_t count = ids.elements();
  for (int64_t o = 0; o < from.outer; ++o)
    for (int64_t a = 0; a < count; ++a) {
      int64_t id = ids.ints[a];
      if (id < 0 || id >= from.extent)
        continue; // stays 0
      for (int64_t i = 0; i < from.inner; ++i)
        out.copy((o * count + a) * from.inner + i, table, from(o, id, i));
    }
}

template <typename T> static void cacheUpdate(Call<T> &call) {
  const Tensor<T> &cache = *call.in[0], &update = *call.in[1],
                  &position = *call.in[2];
  Tensor<T> &out = call.out[0];
  out = cache;
  int64_t axis = call.template attr<int64_t>("axis");
  Split to(cache.shape, axis), from(update.shape, axis);
  // With one position per batch, axis 0 is the slowest of the outer axes.
  int64_t outerPerBatch =
      position.rank() == 0 || cache.shape[0] == 0
          ? std::max<int64_t>(from.outer, 1)
          : std::max<int64_t>(from.outer / cache.shape[0], 1);
  for (int64_t o = 0; o < from.outer; ++o) {
    int64_t first = position.ints[o / outerPerBatch];
    for (int64_t a = 0; a < from.extent; ++a) {
      // Written so that no position overflows: a is smaller than the extent.
      if (first < -a || first >= to.extent - a)
        continue;
      for (int64_t i = 0; i < from.inner; ++i)
        out.copy(to(o, first + a, i), update, from(o, a, i));
    }
  }
}

template <typename T> void evaluateLayout(Call<T> &call) {
  const std::string &kind = call.op.kind;
  if (kind == "constant")
    return constant(call);
  if (kind == "iota")
    return iota(call);
  if (kind == "broadcast")
    return broadcast(call);
  if (kind == "reshape")
    return reshape(call);
  if (kind == "transpose")
    return transpose(call);
  if (kind == "slice")
    return slice(call);
  if (kind == "concat")
    return concat(call);
  if (kind == "gather")
    return gather(call);
  return cacheUpdate(call);
}

template void evaluateLayout(Call<float> &);
template void evaluateLayout(Call<double> &);

} // namespace azulejo::reference
