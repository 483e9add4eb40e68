//===- Attention.cpp - attention as a subject -----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/subjects/Subject.h"

namespace azulejo::bench {

/// One row of softmax(q k^T / sqrt(d)) v over the first `keys` keys, in T.
template <typename T>
static std::vector<T> attentionRow(const float *q, const float *k,
                                   const float *v, int64_t keys, int64_t d) {
  std::vector<T> weights(static_cast<size_t>(keys)), row(size_t(d), T(0));
  T scale = T(1) / std::sqrt(T(d)), largest = -INFINITY, sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    T dot = 0;
    for (int64_t c = 0; c < d; ++c)
      dot += T(q[c]) * T(k[j * d + c]);
    weights[size_t(j)] = dot * scale;
    largest = std::max(largest, weights[size_t(j)]);
  }
  for (T &weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
  }
  for (int64_t j = 0; j < keys; ++j)
    for (int64_t c = 0; c < d; ++c)
      row[size_t(c)] += weights[size_t(j)] / sum * T(v[j * d + c]);
  return row;
}

std::unique_ptr<Subject> attentionSubject(const AttentionShape &shape) {
  auto subject = std::make_unique<Subject>();
  const int64_t heads = shape.batch * shape.heads, length = shape.length,
                d = shape.headSize;
  const bool causal = shape.causal;
  std::vector<int64_t> sizes{shape.batch, shape.heads, length, d};
  Tensor q = subject->input("q", sizes), k = subject->input("k", sizes),
         v = subject->input("v", sizes);
  AttentionOptions options;
  if (causal)
    options.mask = azulejo::causal();
  subject->output("o", subject->graph.attention(q, k, v, options), sizes);
  // Two products over the visible pairs of positions.
  double pairs = causal ? double(length) * double(length + 1) / 2
                        : double(length) * double(length);
  subject->flops = 4 * double(heads) * pairs * double(d);
  subject->bytes = 4 * double(heads * length * d) * 4;

  const float *queries = subject->floats(0), *keys = subject->floats(1),
              *values = subject->floats(2), *result = subject->floats(3);
  subject->check = [=] {
    constexpr int64_t kSamples = 24;
    Verdict verdict{true, 0};
    for (int64_t sample = 0; sample < kSamples; ++sample) {
      int64_t head = sample % heads;
      // The first row, the last, and rows spread between them.
      int64_t row = sample * (length - 1) / (kSamples - 1);
      int64_t visible = causal ? row + 1 : length;
      const float *query = queries + (head * length + row) * d;
      const float *got = result + (head * length + row) * d;
      std::vector<double> exact =
          attentionRow<double>(query, keys + head * length * d,
                               values + head * length * d, visible, d);
      std::vector<float> plain =
          attentionRow<float>(query, keys + head * length * d,
                              values + head * length * d, visible, d);
      ErrorTally tally(DType::F32);
      for (size_t c = 0; c < size_t(d); ++c)
        tally.add(got[c], plain[c], exact[c]);
      verdict = verdict & tally.verdict();
    }
    return verdict;
  };
  return subject;
}

} // namespace azulejo::bench
