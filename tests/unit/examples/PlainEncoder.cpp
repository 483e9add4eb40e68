//===- PlainEncoder.cpp - a BERT encoder as obvious loops -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "PlainEncoder.h"

#include <algorithm>
#include <cmath>

namespace minilm {
namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

Matrix linear(const Matrix &x, const Parameters &parameters,
              const std::string &name) {
  const std::vector<float> &weight = parameters.at(name + ".weight"),
                           &bias = parameters.at(name + ".bias");
  Matrix result;
  for (const Row &row : x) {
    Row &out = result.emplace_back(bias.begin(), bias.end());
    for (size_t o = 0; o < out.size(); ++o)
      for (size_t i = 0; i < row.size(); ++i)
        out[o] += row[i] * weight[o * row.size() + i];
  }
  return result;
}

void normalise(Matrix &x, const Parameters &parameters, const std::string &name,
               double epsilon) {
  const std::vector<float> &weight = parameters.at(name + ".weight"),
                           &bias = parameters.at(name + ".bias");
  for (Row &row : x) {
    double mean = 0, variance = 0;
    for (double value : row)
      mean += value / double(row.size());
    for (double value : row)
      variance += (value - mean) * (value - mean) / double(row.size());
    for (size_t i = 0; i < row.size(); ++i)
      row[i] =
          (row[i] - mean) / std::sqrt(variance + epsilon) * weight[i] + bias[i];
  }
}

Matrix sum(Matrix a, const Matrix &b) {
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j)
      a[i][j] += b[i][j];
  return a;
}

Matrix attention(const Matrix &q, const Matrix &k, const Matrix &v,
                 int64_t heads) {
  size_t tokens = q.size(), hidden = q[0].size(), size = hidden / heads;
  Matrix result(tokens, Row(hidden, 0.0));
  for (size_t first = 0; first < hidden; first += size)
    for (size_t i = 0; i < tokens; ++i) {
      Row score(tokens, 0.0);
      double highest = -INFINITY, total = 0;
      for (size_t j = 0; j < tokens; ++j) {
        for (size_t c = first; c < first + size; ++c)
          score[j] += q[i][c] * k[j][c] / std::sqrt(double(size));
        highest = std::max(highest, score[j]);
      }
      for (double &value : score)
        total += value = std::exp(value - highest);
      for (size_t j = 0; j < tokens; ++j)
        for (size_t c = first; c < first + size; ++c)
          result[i][c] += score[j] / total * v[j][c];
    }
  return result;
}

} // namespace

std::vector<double> plainEmbedding(const Config &config,
                                   const Parameters &parameters,
                                   std::span<const int32_t> ids) {
  auto entry = [&](const char *table, size_t row, int64_t channel) {
    return double(
        parameters.at(std::string("embeddings.") + table +
                      "_embeddings.weight")[row * config.hidden + channel]);
  };
  Matrix x;
  for (size_t t = 0; t < ids.size(); ++t) {
    Row &row = x.emplace_back();
    for (int64_t c = 0; c < config.hidden; ++c)
      row.push_back(entry("word", size_t(ids[t]), c) + entry("position", t, c) +
                    entry("token_type", 0, c));
  }
  normalise(x, parameters, "embeddings.LayerNorm", config.normEpsilon);
  for (int64_t i = 0; i < config.layers; ++i) {
    std::string name = "encoder.layer." + std::to_string(i) + ".";
    Matrix seen = attention(
        linear(x, parameters, name + "attention.self.query"),
        linear(x, parameters, name + "attention.self.key"),
        linear(x, parameters, name + "attention.self.value"), config.heads);
    x = sum(linear(seen, parameters, name + "attention.output.dense"), x);
    normalise(x, parameters, name + "attention.output.LayerNorm",
              config.normEpsilon);
    Matrix wide = linear(x, parameters, name + "intermediate.dense");
    for (Row &row : wide)
      for (double &value : row)
        value = value / 2 * (1 + std::erf(value / std::sqrt(2.0)));
    x = sum(linear(wide, parameters, name + "output.dense"), x);
    normalise(x, parameters, name + "output.LayerNorm", config.normEpsilon);
  }
  Row mean(size_t(config.hidden), 0.0);
  double square = 0;
  for (const Row &row : x)
    for (size_t c = 0; c < row.size(); ++c)
      mean[c] += row[c] / double(x.size());
  for (double value : mean)
    square += value * value;
  for (double &value : mean)
    value /= std::sqrt(square);
  return mean;
}

} // namespace minilm
