//===- Rows.cpp - chains over rows as subjects ----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/subjects/Subject.h"

namespace azulejo::bench {

static constexpr double kRmsEps = 1e-6, kLayerEps = 1e-5;

const char *rowChainName(RowChain chain) {
  switch (chain) {
  case RowChain::ResidualRmsNorm:
    return "residual_rms_norm";
  case RowChain::LayerNorm:
    return "layer_norm";
  case RowChain::Softmax:
    return "softmax";
  case RowChain::LayerNormSwiGlu:
    return "layer_norm_swiglu_residual";
  }
  return "";
}

/// How many inputs have rows of their own; parameters follow them.
static size_t rowInputs(RowChain chain) {
  switch (chain) {
  case RowChain::ResidualRmsNorm:
    return 2;
  case RowChain::LayerNormSwiGlu:
    return 3;
  default:
    return 1;
  }
}

static size_t parameters(RowChain chain) {
  switch (chain) {
  case RowChain::ResidualRmsNorm:
    return 1;
  case RowChain::Softmax:
    return 0;
  default:
    return 2;
  }
}

static std::vector<Tensor> build(RowChain chain, Graph &g,
                                 const std::vector<Tensor> &in) {
  switch (chain) {
  case RowChain::ResidualRmsNorm: {
    Tensor sum = g.add(in[0], in[1]);
    return {sum, g.rmsNorm(sum, {in[2]}, {.eps = kRmsEps})};
  }
  case RowChain::LayerNorm:
    return {g.layerNorm(in[0], {in[1], in[2]}, {.eps = kLayerEps})};
  case RowChain::Softmax:
    return {g.softmax(in[0])};
  case RowChain::LayerNormSwiGlu: {
    Tensor norm = g.layerNorm(in[0], {in[3], in[4]}, {.eps = kLayerEps});
    return {g.add(in[2], g.mul(g.silu(in[1]), norm))};
  }
  }
  return {};
}

template <typename T> using RowOf = std::vector<T>;

template <typename T>
static RowOf<T> layerNormRow(const float *x, const float *weight,
                             const float *bias, size_t n) {
  T mean = 0, variance = 0;
  for (size_t i = 0; i < n; ++i)
    mean += T(x[i]);
  mean /= T(n);
  for (size_t i = 0; i < n; ++i)
    variance += (T(x[i]) - mean) * (T(x[i]) - mean);
  T factor = T(1) / std::sqrt(variance / T(n) + T(kLayerEps));
  RowOf<T> row(n);
  for (size_t i = 0; i < n; ++i)
    row[i] = (T(x[i]) - mean) * factor * T(weight[i]) + T(bias[i]);
  return row;
}

/// The chain on one row, in T; one row per output.
template <typename T>
static std::vector<RowOf<T>>
evaluate(RowChain chain, const std::vector<const float *> &in, size_t n) {
  RowOf<T> first(n);
  switch (chain) {
  case RowChain::ResidualRmsNorm: {
    T squares = 0;
    for (size_t i = 0; i < n; ++i) {
      first[i] = T(in[0][i]) + T(in[1][i]);
      squares += first[i] * first[i];
    }
    T factor = T(1) / std::sqrt(squares / T(n) + T(kRmsEps));
    RowOf<T> second(n);
    for (size_t i = 0; i < n; ++i)
      second[i] = first[i] * factor * T(in[2][i]);
    return {first, second};
  }
  case RowChain::LayerNorm:
    return {layerNormRow<T>(in[0], in[1], in[2], n)};
  case RowChain::Softmax: {
    T largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; ++i)
      largest = std::max(largest, T(in[0][i]));
    for (size_t i = 0; i < n; ++i)
      sum += first[i] = std::exp(T(in[0][i]) - largest);
    for (size_t i = 0; i < n; ++i)
      first[i] /= sum;
    return {first};
  }
  case RowChain::LayerNormSwiGlu: {
    RowOf<T> norm = layerNormRow<T>(in[0], in[3], in[4], n);
    for (size_t i = 0; i < n; ++i) {
      T gate = T(in[1][i]);
      first[i] = T(in[2][i]) + gate / (T(1) + std::exp(-gate)) * norm[i];
    }
    return {first};
  }
  }
  return {};
}

std::unique_ptr<Subject> rowSubject(RowChain chain, int64_t rows,
                                    int64_t columns) {
  auto subject = std::make_unique<Subject>();
  const size_t wide = rowInputs(chain), all = wide + parameters(chain),
               n = size_t(columns);
  std::vector<Tensor> in;
  for (size_t i = 0; i < all; ++i) {
    std::vector<int64_t> shape{columns};
    if (i < wide)
      shape = {rows, columns};
    in.push_back(subject->input("in" + std::to_string(i), shape));
  }
  std::vector<Tensor> results = build(chain, subject->graph, in);
  for (size_t i = 0; i < results.size(); ++i)
    subject->output("out" + std::to_string(i), results[i], {rows, columns});
  subject->bytes = double(wide + results.size()) * double(rows * columns) * 4;

  std::vector<const float *> data;
  for (size_t i = 0; i < all + results.size(); ++i)
    data.push_back(subject->floats(i));
  const size_t outputs = results.size();
  subject->check = [=] {
    constexpr int64_t kSamples = 16;
    Verdict verdict{true, 0};
    for (int64_t sample = 0; sample < kSamples; ++sample) {
      size_t offset = size_t(sample * (rows - 1) / (kSamples - 1)) * n;
      std::vector<const float *> row(data.begin(), data.begin() + long(all));
      for (size_t i = 0; i < wide; ++i)
        row[i] += offset;
      auto exact = evaluate<double>(chain, row, n);
      auto plain = evaluate<float>(chain, row, n);
      for (size_t o = 0; o < outputs; ++o) {
        ErrorTally tally(DType::F32);
        for (size_t i = 0; i < n; ++i)
          tally.add(data[all + o][offset + i], plain[o][i], exact[o][i]);
        verdict = verdict & tally.verdict();
      }
    }
    return verdict;
  };
  return subject;
}

} // namespace azulejo::bench
