//===- EncoderOracle.cpp - the encoder's graph, evaluated -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "EncoderOracle.h"

#include "examples/minilm/Encoder.h"

#include "frontend/api/Handles.h"

#include <cstring>

namespace minilm {

using azulejo::DType;
using azulejo::Result;
using azulejo::reference::HostTensor;

static HostTensor copyOf(const void *data, DType dtype,
                         const std::vector<int64_t> &shape) {
  HostTensor tensor = HostTensor::dense(dtype, shape);
  std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
  return tensor;
}

Result<HostTensor> evaluateEncoder(const Config &config, const Weights &weights,
                                   DType dtype, const TokenBatch &batch,
                                   azulejo::reference::Mode mode) {
  azulejo::Graph graph = buildGraph(config, dtype);
  if (azulejo::Status status = graph.status(); !status)
    return status.error();
  std::vector<int64_t> idShape{batch.rows, batch.columns};
  std::vector<HostTensor> inputs{
      copyOf(batch.ids.data(), DType::I32, idShape),
      HostTensor::dense(DType::I32, idShape),
      copyOf(batch.lengths.data(), DType::I32, {batch.rows})};
  for (const Weights::Entry &entry : weights.entries())
    inputs.push_back(copyOf(entry.data, entry.dtype, entry.spec.shape));
  Result<std::vector<HostTensor>> outputs = azulejo::reference::evaluate(
      graph.handle()->graph, {{"B", batch.rows}, {"S", batch.columns}}, inputs,
      mode);
  if (!outputs)
    return outputs.error();
  return outputs->front();
}

} // namespace minilm
