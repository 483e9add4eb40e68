//===- Matmul.cpp - a matrix product as a subject -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/subjects/Subject.h"

namespace azulejo::bench {

static float element(const void *data, size_t index, DType dtype) {
  return dtype == DType::BF16
             ? fromBf16(static_cast<const uint16_t *>(data)[index])
             : static_cast<const float *>(data)[index];
}

std::unique_ptr<Subject> matmulSubject(int64_t m, int64_t n, int64_t k,
                                       bool transposeB, DType dtype) {
  auto subject = std::make_unique<Subject>();
  Tensor a = subject->input("a", {m, k}, dtype);
  std::vector<int64_t> shapeOfB{k, n};
  if (transposeB)
    shapeOfB = {n, k};
  Tensor b = subject->input("b", shapeOfB, dtype);
  Tensor c = subject->graph.matmul(a, b, {.transposeB = transposeB});
  subject->output("c", c, {m, n}, dtype);
  subject->flops = 2.0 * double(m) * double(n) * double(k);
  subject->bytes = double(m * k + k * n + m * n) * double(dtypeBytes(dtype));

  const void *left = subject->data(0), *right = subject->data(1),
             *product = subject->data(2);
  subject->check = [=] {
    constexpr int64_t kSamples = 512;
    ErrorTally tally(dtype);
    for (int64_t sample = 0; sample < kSamples; ++sample) {
      // Odd strides reach every row and column, the last ones included.
      int64_t i = (sample * 7919 + m - 1) % m, j = (sample * 6007 + n - 1) % n;
      double exact = 0;
      float plain = 0;
      for (int64_t p = 0; p < k; ++p) {
        float x = element(left, size_t(i * k + p), dtype);
        float y =
            element(right, size_t(transposeB ? j * k + p : p * n + j), dtype);
        exact += double(x) * double(y);
        plain += x * y;
      }
      if (dtype == DType::BF16)
        plain = fromBf16(toBf16(plain));
      tally.add(element(product, size_t(i * n + j), dtype), plain, exact);
    }
    return tally.verdict();
  };
  return subject;
}

} // namespace azulejo::bench
