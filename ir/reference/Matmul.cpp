//===- Matmul.cpp - batched matrix product --------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Families.h"
#include "ir/reference/Float.h"

#include <algorithm>
#include <type_traits>

namespace azulejo::reference {

template <typename T>
std::vector<T> asMultiplied(const Tensor<T> &x, const opset::AttrMap &attrs) {
  std::vector<T> elements = x.floats;
  if constexpr (std::is_same_v<T, float>)
    if (opset::isTf32(attrs))
      std::transform(elements.begin(), elements.end(), elements.begin(),
                     roundToTf32);
  return elements;
}

template std::vector<float> asMultiplied(const Tensor<float> &,
                                         const opset::AttrMap &);
template std::vector<double> asMultiplied(const Tensor<double> &,
                                          const opset::AttrMap &);

template <typename T> void evaluateMatmul(Call<T> &call) {
  const Tensor<T> &a = *call.in[0], &b = *call.in[1];
  Tensor<T> &out = call.out[0];
  bool transposeA = call.template attr<bool>("transpose_a"),
       transposeB = call.template attr<bool>("transpose_b");
  size_t rank = out.shape.size(), rankA = a.shape.size();
  int64_t m = out.shape[rank - 2], n = out.shape[rank - 1];
  int64_t k = a.shape[transposeA ? rankA - 2 : rankA - 1];
  // Element (i, l) of a matrix of A is at i * rowA + l * colA, likewise (l, j)
  // of B.
  int64_t rowA = transposeA ? 1 : k, colA = transposeA ? m : 1;
  int64_t rowB = transposeB ? 1 : n, colB = transposeB ? k : 1;
  std::vector<int64_t> batch(out.shape.begin(), out.shape.end() - 2);
  std::vector<int64_t> batchA(a.shape.begin(), a.shape.end() - 2);
  std::vector<int64_t> batchB(b.shape.begin(), b.shape.end() - 2);
  BroadcastIndex indexA(batchA, batch), indexB(batchB, batch);
  int64_t batches = 1;
  for (int64_t size : batch)
    batches *= size;
  std::vector<T> elementsA = asMultiplied(a, call.op.attrs),
                 elementsB = asMultiplied(b, call.op.attrs);
  for (int64_t t = 0; t < batches; ++t) {
    const T *baseA = elementsA.data() + indexA(t) * m * k;
    const T *baseB = elementsB.data() + indexB(t) * k * n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        Sum<T> sum;
        for (int64_t l = 0; l < k; ++l)
          sum.add(baseA[i * rowA + l * colA] * baseB[l * rowB + j * colB]);
        out.floats[(t * m + i) * n + j] = sum.value();
      }
  }
}

template void evaluateMatmul(Call<float> &);
template void evaluateMatmul(Call<double> &);

} // namespace azulejo::reference
