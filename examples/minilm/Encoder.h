//===- Encoder.h - a BERT sentence encoder as one graph ---------*- C++ -*-===//
//
// From token ids to unit-length sentence embeddings, in ONE graph: embeddings,
// the transformer layers, mean pooling over the real tokens, and scaling to
// length one. Batch and sequence length are symbolic, so one compilation serves
// every batch; padding is told apart by `lengths`, in attention and in pooling.
//
//   ids          i32 [B, S]        token_types  i32 [B, S]
//   lengths      i32 [B]           then all parameters, see weightList()
//   -> embeddings f32 [B, hidden]
//
// In a bf16 encoder the weights and what flows between the layers are bf16;
// norm parameters, pooling and the output are f32.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_ENCODER_H
#define AZULEJO_EXAMPLES_MINILM_ENCODER_H

#include "Weights.h"
#include "WordPiece.h"

#include "../measure/DeviceTensors.h"

#include "azulejo/Azulejo.h"

#include <optional>

namespace minilm {

/// The largest batch that one run takes; embed() cuts larger ones.
inline constexpr int64_t maxBatch = 64;

/// The graph alone. `dtype` is F32 or BF16.
azulejo::Graph buildGraph(const Config &config, azulejo::DType dtype);

class Encoder {
public:
  /// Compiles for a device and copies the weights there. The weights (and
  /// the file that they may view) must outlive the encoder.
  static azulejo::Result<Encoder>
  compile(const Config &config, const Weights &weights, azulejo::DType dtype,
          const azulejo::Device &device,
          const azulejo::CompileOptions &options = {});

  /// The embeddings of a batch, rows x hidden.
  azulejo::Result<std::vector<float>> embed(const TokenBatch &batch);

  const azulejo::Executable &executable() const { return program; }

private:
  Encoder(const Config &config, measure::DeviceTensors weights,
          azulejo::Executable program)
      : config(config), weights(std::move(weights)),
        program(std::move(program)) {}
  azulejo::Status embedRows(const TokenBatch &batch, int64_t first,
                            int64_t rows, float *into);

  Config config;
  measure::DeviceTensors weights;
  azulejo::Executable program;
  std::optional<azulejo::Buffer> workspace; // kept, grows as needed
};

} // namespace minilm

#endif // AZULEJO_EXAMPLES_MINILM_ENCODER_H
