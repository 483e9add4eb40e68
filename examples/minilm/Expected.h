//===- Expected.h - stored answers of the published model -------*- C++ -*-===//
//
// What expected/make_expected.py stored: sentences, their token ids, and the
// embeddings that the published implementation gives for them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_EXPECTED_H
#define AZULEJO_EXAMPLES_MINILM_EXPECTED_H

#include "WordPiece.h"

namespace minilm {

struct Expected {
  std::vector<std::string> sentences;
  TokenBatch tokens;
  int64_t hidden = 0;
  std::vector<float> embeddings; ///< sentences x hidden

  /// Reads the .safetensors file at `path` and sentences.json beside it.
  static azulejo::Result<Expected> open(const std::string &path);
};

/// Reads a JSON array of strings.
azulejo::Result<std::vector<std::string>>
readSentences(const std::string &path);

/// The cosine of the angle between two vectors, summed in double. NaN when one
/// of them is zero or not finite, so a comparison with it fails.
double cosine(std::span<const float> a, std::span<const float> b);

} // namespace minilm

#endif // AZULEJO_EXAMPLES_MINILM_EXPECTED_H
