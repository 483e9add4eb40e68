//===- PlainEncoder.h - a BERT encoder as obvious loops ---------*- C++ -*-===//
//
// The oracle of the encoder's tests: the same network written as loops over
// doubles, sentence by sentence, so that there is no padding to get wrong. It
// shares no code with the graph, only the parameters.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_EXAMPLES_PLAINENCODER_H
#define AZULEJO_TESTS_UNIT_EXAMPLES_PLAINENCODER_H

#include "examples/minilm/Weights.h"

#include <map>

namespace minilm {

using Parameters = std::map<std::string, std::vector<float>>;

/// The unit-length embedding of one sentence.
std::vector<double> plainEmbedding(const Config &config,
                                   const Parameters &parameters,
                                   std::span<const int32_t> ids);

} // namespace minilm

#endif // AZULEJO_TESTS_UNIT_EXAMPLES_PLAINENCODER_H
