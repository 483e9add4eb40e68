//===- Weights.h - the encoder's sizes and parameters -----------*- C++ -*-===//
//
// A Config holds the sizes of a BERT encoder; everything else follows from it,
// also the list of parameters in the order in which the graph takes them. So a
// tiny model of the same architecture is one Config away, which is how the
// tests check the whole encoder in milliseconds.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_WEIGHTS_H
#define AZULEJO_EXAMPLES_MINILM_WEIGHTS_H

#include "Safetensors.h"

#include <functional>

namespace minilm {

/// The sizes of all-MiniLM-L6-v2 are the defaults.
struct Config {
  int64_t vocabulary = 30522;
  int64_t positions = 512; ///< the longest sequence
  int64_t tokenTypes = 2;
  int64_t hidden = 384;
  int64_t layers = 6;
  int64_t heads = 12;
  int64_t intermediate = 1536;
  double normEpsilon = 1e-12;

  int64_t headSize() const { return hidden / heads; }
  /// Sizes positive and not absurd, hidden a multiple of heads.
  azulejo::Status verify(const std::string &where) const;
  /// Reads a config.json. Another architecture, activation or kind of position
  /// embedding is refused, because the graph would be silently wrong.
  static azulejo::Result<Config> open(const std::string &path);
  static azulejo::Result<Config> parse(std::string_view text,
                                       const std::string &where);
};

/// A parameter of the encoder, by its name in the published checkpoint.
struct WeightSpec {
  std::string name;
  std::vector<int64_t> shape;
  /// Norm parameters stay f32 in a bf16 model: they are tiny, and the norm
  /// computes in f32 anyway.
  bool isNorm = false;

  int64_t elementCount() const;
};

/// All parameters, in the order of the graph's inputs.
std::vector<WeightSpec> weightList(const Config &config);

/// The parameters' data in the element type that the graph wants. f32 weights
/// that lie aligned in the file are used in place: the views live no longer
/// than the file.
class Weights {
public:
  struct Entry {
    WeightSpec spec;
    azulejo::DType dtype = azulejo::DType::F32;
    const void *data = nullptr;
  };

  /// `dtype` is F32 or BF16.
  static azulejo::Result<Weights>
  load(const Safetensors &file, const Config &config, azulejo::DType dtype);
  /// Parameters from a function of the spec, for models made up by tests.
  static Weights
  generate(const Config &config, azulejo::DType dtype,
           const std::function<std::vector<float>(const WeightSpec &)> &values);

  const std::vector<Entry> &entries() const { return list; }
  int64_t totalBytes() const;

private:
  void append(const WeightSpec &spec, azulejo::DType dtype,
              std::vector<float> values);

  std::vector<Entry> list;
  std::vector<std::vector<std::byte>> owned; // moving it keeps the addresses
};

} // namespace minilm

#endif // AZULEJO_EXAMPLES_MINILM_WEIGHTS_H
