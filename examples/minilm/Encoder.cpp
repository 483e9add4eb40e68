//===- Encoder.cpp - a BERT sentence encoder as one graph -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Encoder.h"

#include <algorithm>
#include <map>
#include <memory>

namespace minilm {

using azulejo::Dim;
using azulejo::DType;
using azulejo::ErrorCode;
using azulejo::Graph;
using azulejo::makeError;
using azulejo::Result;
using azulejo::Shape;
using azulejo::Status;
using azulejo::Tensor;

namespace {

/// Inputs are named by identifiers: "encoder.layer.0..." with underscores.
std::string inputName(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// Builds the graph part by part; names of ops follow the checkpoint's names,
/// so that messages and explain speak of "encoder.layer.3.attention".
class Builder {
public:
  Builder(const Config &config, DType dtype)
      : config(config), dtype(dtype), batch(graph.dim("B", 1, maxBatch)),
        length(graph.dim("S", 1, config.positions)) {
    ids = graph.input("ids", {batch, length}, DType::I32);
    tokenTypes = graph.input("token_types", {batch, length}, DType::I32);
    lengths = graph.input("lengths", {batch}, DType::I32);
    for (const WeightSpec &spec : weightList(config))
      parameters[spec.name] = graph.input(
          inputName(spec.name), Shape(spec.shape.begin(), spec.shape.end()),
          spec.isNorm ? DType::F32 : dtype);
  }

  Graph build() {
    Tensor x = embeddings();
    for (int64_t i = 0; i < config.layers; ++i)
      x = layer(x, "encoder.layer." + std::to_string(i));
    graph.output("embeddings", pool(x));
    return std::move(graph);
  }

private:
  const Tensor &parameter(const std::string &name) {
    return parameters.at(name);
  }

  /// x W^T + b; the checkpoint keeps W as [out, in].
  Tensor linear(const Tensor &x, const std::string &name) {
    Tensor product = graph.matmul(x, parameter(name + ".weight"),
                                  {.transposeB = true, .name = name});
    return graph.add(product, parameter(name + ".bias"), name + ".bias");
  }

  Tensor norm(const Tensor &x, const std::string &name) {
    return graph.layerNorm(
        x, {parameter(name + ".weight"), parameter(name + ".bias")},
        {.eps = config.normEpsilon, .name = name});
  }

  Tensor embeddings() {
    const std::string name = "embeddings";
    Tensor words = graph.gather(parameter(name + ".word_embeddings.weight"),
                                ids, 0, name + ".words");
    Tensor types =
        graph.gather(parameter(name + ".token_type_embeddings.weight"),
                     tokenTypes, 0, name + ".types");
    Tensor places = graph.gather(
        parameter(name + ".position_embeddings.weight"),
        graph.iota({length}, 0, DType::I32), 0, name + ".positions");
    return norm(graph.add(graph.add(words, types), places),
                name + ".LayerNorm");
  }

  Tensor selfAttention(const Tensor &x, const std::string &name) {
    auto heads = [&](const char *part) {
      return graph.reshape(linear(x, name + ".self." + part),
                           {batch, length, config.heads, config.headSize()});
    };
    Tensor seen = graph.attention(heads("query"), heads("key"), heads("value"),
                                  {.mask = azulejo::lengths(lengths),
                                   .layout = azulejo::Layout::bshd,
                                   .name = name});
    return graph.reshape(seen, {batch, length, config.hidden});
  }

  /// Each half of a layer adds to the stream and normalises the sum.
  Tensor layer(const Tensor &x, const std::string &name) {
    Tensor seen = linear(selfAttention(x, name + ".attention"),
                         name + ".attention.output.dense");
    Tensor middle =
        norm(graph.add(seen, x), name + ".attention.output.LayerNorm");
    Tensor wide = graph.geluErf(linear(middle, name + ".intermediate.dense"));
    Tensor narrow = linear(wide, name + ".output.dense");
    return norm(graph.add(narrow, middle), name + ".output.LayerNorm");
  }

  /// The mean of the real tokens, scaled to length one. Padding is selected
  /// away rather than multiplied by zero, so that nothing in it can leak.
  Tensor pool(const Tensor &x) {
    Tensor place = graph.iota({length}, 0, DType::I32);
    Tensor isReal = graph.compare(
        place, "lt", graph.reshape(lengths, {batch, 1}), "pooling.mask");
    Tensor tokens = dtype == DType::F32 ? x : graph.cast(x, DType::F32);
    Tensor zero = graph.constant(0, DType::F32);
    Tensor kept = graph.where(graph.reshape(isReal, {batch, length, 1}), tokens,
                              zero, "pooling.select");
    Tensor sum = graph.reduceSum(kept, {1}, false, "pooling.sum");
    Tensor count = graph.reshape(graph.cast(lengths, DType::F32), {batch, 1});
    Tensor mean = graph.div(sum, count, "pooling.mean");
    Tensor square = graph.reduceSum(graph.mul(mean, mean), {1}, true);
    // The floor keeps a zero vector zero instead of NaN.
    Tensor floor = graph.constant(1e-24, DType::F32);
    return graph.mul(mean, graph.rsqrt(graph.maximum(square, floor)),
                     "normalise");
  }

  const Config &config;
  DType dtype;
  Graph graph;
  Dim batch, length;
  Tensor ids, tokenTypes, lengths;
  std::map<std::string, Tensor> parameters;
};

} // namespace

Graph buildGraph(const Config &config, DType dtype) {
  return Builder(config, dtype).build();
}

Result<Encoder> Encoder::compile(const Config &config, const Weights &weights,
                                 DType dtype, const azulejo::Device &device,
                                 const azulejo::CompileOptions &options) {
  if (dtype != DType::F32 && dtype != DType::BF16)
    return makeError(ErrorCode::InvalidArgument, "encoder",
                     "element type " + std::string(dtypeName(dtype)) +
                         " is not offered",
                     "encoder.dtype", "use f32 or bf16");
  Graph graph = buildGraph(config, dtype);
  Result<azulejo::Executable> program =
      azulejo::compile(graph, device, options);
  if (!program)
    return program.error();
  std::vector<azulejo::TensorView> views;
  for (const Weights::Entry &entry : weights.entries())
    views.emplace_back(entry.data, entry.dtype, entry.spec.shape);
  Result<measure::DeviceTensors> copies =
      measure::DeviceTensors::create(device, std::move(views));
  if (!copies)
    return copies.error();
  return Encoder(config, *std::move(copies), *std::move(program));
}

Result<std::vector<float>> Encoder::embed(const TokenBatch &batch) {
  if (batch.columns > config.positions)
    return makeError(ErrorCode::InvalidArgument, "encoder",
                     std::to_string(batch.columns) +
                         " tokens exceed the model's " +
                         std::to_string(config.positions) + " positions",
                     "encoder.positions", "tokenise with a smaller maximum");
  for (int32_t id : batch.ids)
    if (id < 0 || id >= config.vocabulary)
      return makeError(ErrorCode::InvalidArgument, "encoder",
                       "token id " + std::to_string(id) +
                           " is outside the model's vocabulary of " +
                           std::to_string(config.vocabulary),
                       "encoder.vocabulary",
                       "vocab.txt and the weights belong together");
  std::vector<float> result(static_cast<size_t>(batch.rows * config.hidden));
  for (int64_t first = 0; first < batch.rows; first += maxBatch) {
    int64_t rows = std::min(maxBatch, batch.rows - first);
    if (Status status = embedRows(batch, first, rows,
                                  result.data() + first * config.hidden);
        !status)
      return status.error();
  }
  return result;
}

Status Encoder::embedRows(const TokenBatch &batch, int64_t first, int64_t rows,
                          float *into) {
  const int64_t idShape[] = {rows, batch.columns}, lengthShape[] = {rows},
                resultShape[] = {rows, config.hidden};
  std::vector<int32_t> types(static_cast<size_t>(rows * batch.columns), 0);
  Result<azulejo::Device> device = program.device();
  if (!device)
    return device.error();
  Result<measure::DeviceTensors> own = measure::DeviceTensors::create(
      *device, {{batch.ids.data() + first * batch.columns, DType::I32, idShape},
                {types.data(), DType::I32, idShape},
                {batch.lengths.data() + first, DType::I32, lengthShape},
                {into, DType::F32, resultShape}});
  if (!own)
    return own.error();
  // Three inputs, then the weights, then the result.
  std::vector<azulejo::TensorView> bindings = weights.views();
  bindings.insert(bindings.begin(), own->views().begin(),
                  own->views().begin() + 3);
  bindings.push_back(own->views()[3]);
  Result<size_t> needed = program.workspaceSize(bindings);
  if (!needed)
    return needed.error();
  if (!workspace || workspace->size() < *needed) {
    Result<azulejo::Buffer> larger = azulejo::Buffer::create(*device, *needed);
    if (!larger)
      return larger.error();
    workspace = *std::move(larger);
  }
  if (Status status = program.run({}, bindings, {workspace->data(), *needed});
      !status)
    return status;
  return own->download(3);
}

} // namespace minilm
