//===- EncoderOracle.h - the encoder's graph, evaluated ---------*- C++ -*-===//
//
// Evaluates the graph of the encoder with the reference evaluator, without any
// compiler.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_EXAMPLES_ENCODERORACLE_H
#define AZULEJO_TESTS_UNIT_EXAMPLES_ENCODERORACLE_H

#include "examples/minilm/Weights.h"
#include "examples/minilm/WordPiece.h"

#include "ir/reference/Evaluate.h"

namespace minilm {

/// The embeddings of a batch, [rows, hidden].
azulejo::Result<azulejo::reference::HostTensor>
evaluateEncoder(const Config &config, const Weights &weights,
                azulejo::DType dtype, const TokenBatch &batch,
                azulejo::reference::Mode mode);

} // namespace minilm

#endif // AZULEJO_TESTS_UNIT_EXAMPLES_ENCODERORACLE_H
