//===- TinyModel.h - a small encoder with made-up weights -------*- C++ -*-===//
//
// The architecture of all-MiniLM-L6-v2 at sizes that compile and run in no
// time, with weights drawn from a fixed seed. Sizes are chosen unlike powers of
// two, so that partial tiles are met everywhere.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_EXAMPLES_TINYMODEL_H
#define AZULEJO_TESTS_UNIT_EXAMPLES_TINYMODEL_H

#include "PlainEncoder.h"

#include "examples/minilm/WordPiece.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace minilm {

inline Config tinyConfig() {
  Config config;
  config.vocabulary = 53;
  config.positions = 40;
  config.hidden = 30;
  config.layers = 2;
  config.heads = 3;
  config.intermediate = 44;
  return config;
}

/// The same on every machine, unlike std::hash.
inline uint32_t seedOf(const std::string &name) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

/// Weights of a scale that keeps activations near one.
inline std::vector<float> tinyValues(const WeightSpec &spec) {
  std::mt19937 engine(seedOf(spec.name));
  bool isMatrix = spec.shape.size() == 2;
  float scale = isMatrix ? 1 / std::sqrt(float(spec.shape[1])) : 0.1f;
  bool isGain = spec.isNorm && spec.name.ends_with(".weight");
  std::normal_distribution<float> normal(isGain ? 1.0f : 0.0f, scale);
  std::vector<float> values;
  for (int64_t i = 0; i < spec.elementCount(); ++i)
    values.push_back(normal(engine));
  return values;
}

inline Parameters tinyParameters(const Config &config) {
  Parameters parameters;
  for (const WeightSpec &spec : weightList(config))
    parameters[spec.name] = tinyValues(spec);
  return parameters;
}

/// Rows of the given lengths with arbitrary tokens, padded with id 0.
inline TokenBatch tinyBatch(const Config &config,
                            const std::vector<int32_t> &lengths) {
  TokenBatch batch;
  batch.rows = static_cast<int64_t>(lengths.size());
  batch.columns = *std::max_element(lengths.begin(), lengths.end());
  batch.lengths = lengths;
  batch.ids.assign(static_cast<size_t>(batch.rows * batch.columns), 0);
  for (int64_t row = 0; row < batch.rows; ++row)
    for (int64_t t = 0; t < lengths[row]; ++t)
      batch.ids[row * batch.columns + t] =
          static_cast<int32_t>((row * 17 + t * 29 + 3) % config.vocabulary);
  return batch;
}

} // namespace minilm

#endif // AZULEJO_TESTS_UNIT_EXAMPLES_TINYMODEL_H
