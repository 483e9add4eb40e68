//===- Weights.cpp - the encoder's sizes and parameters -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Weights.h"

#include "../json/Json.h"

#include <cstring>

namespace minilm {

using azulejo::DType;
using azulejo::Error;
using azulejo::ErrorCode;
using azulejo::makeError;
using azulejo::Result;
using azulejo::Status;

static Error badConfig(const std::string &where, std::string message) {
  return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                   "config",
                   "the config.json of a BERT encoder like all-MiniLM-L6-v2 "
                   "is needed");
}

Status Config::verify(const std::string &where) const {
  // Far above any encoder, far below where products overflow.
  constexpr int64_t limit = 1 << 24;
  for (auto [name, value] : {std::pair("vocab_size", vocabulary),
                             std::pair("max_position_embeddings", positions),
                             std::pair("type_vocab_size", tokenTypes),
                             std::pair("hidden_size", hidden),
                             std::pair("num_hidden_layers", layers),
                             std::pair("num_attention_heads", heads),
                             std::pair("intermediate_size", intermediate)})
    if (value < 1 || value > limit)
      return badConfig(where, std::string(name) + " is " +
                                  std::to_string(value) +
                                  ", expected 1 to 2^24");
  if (layers > 1000)
    return badConfig(where, "num_hidden_layers is " + std::to_string(layers));
  if (hidden % heads != 0)
    return badConfig(where, "hidden_size " + std::to_string(hidden) +
                                " is not a multiple of " +
                                std::to_string(heads) + " heads");
  if (!(normEpsilon >= 0 && normEpsilon < 1))
    return badConfig(where, "layer_norm_eps is outside [0, 1)");
  return {};
}

Result<Config> Config::parse(std::string_view text, const std::string &where) {
  Result<json::Value> root = json::parse(text, where);
  if (!root)
    return root.error();
  // What the graph takes for granted.
  for (auto [name, wanted] :
       {std::pair("model_type", "bert"), std::pair("hidden_act", "gelu"),
        std::pair("position_embedding_type", "absolute")}) {
    const json::Value *value = root->member(name);
    bool optional = std::string_view(name) == "position_embedding_type";
    if (!value && optional)
      continue;
    if (!value || !value->string() || *value->string() != wanted)
      return badConfig(where,
                       std::string(name) + " must be \"" + wanted + "\"");
  }
  Config config;
  for (auto [name, into] :
       {std::pair("vocab_size", &config.vocabulary),
        std::pair("max_position_embeddings", &config.positions),
        std::pair("type_vocab_size", &config.tokenTypes),
        std::pair("hidden_size", &config.hidden),
        std::pair("num_hidden_layers", &config.layers),
        std::pair("num_attention_heads", &config.heads),
        std::pair("intermediate_size", &config.intermediate)}) {
    const json::Value *value = root->member(name);
    std::optional<uint64_t> number =
        value ? value->unsignedInteger() : std::nullopt;
    if (!number || *number > INT64_MAX)
      return badConfig(where, std::string(name) + " must be an integer");
    *into = static_cast<int64_t>(*number);
  }
  const json::Value *epsilon = root->member("layer_norm_eps");
  std::optional<double> number = epsilon ? epsilon->number() : std::nullopt;
  if (!number)
    return badConfig(where, "layer_norm_eps must be a number");
  config.normEpsilon = *number;
  if (Status status = config.verify(where); !status)
    return status.error();
  return config;
}

Result<Config> Config::open(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  return parse(file->text(), path);
}

int64_t WeightSpec::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::vector<WeightSpec> weightList(const Config &config) {
  std::vector<WeightSpec> list;
  auto table = [&](const std::string &name, int64_t rows) {
    list.push_back({name + ".weight", {rows, config.hidden}});
  };
  auto norm = [&](const std::string &name) {
    list.push_back({name + ".weight", {config.hidden}, true});
    list.push_back({name + ".bias", {config.hidden}, true});
  };
  auto linear = [&](const std::string &name, int64_t from, int64_t to) {
    list.push_back({name + ".weight", {to, from}});
    list.push_back({name + ".bias", {to}});
  };
  table("embeddings.word_embeddings", config.vocabulary);
  table("embeddings.position_embeddings", config.positions);
  table("embeddings.token_type_embeddings", config.tokenTypes);
  norm("embeddings.LayerNorm");
  for (int64_t i = 0; i < config.layers; ++i) {
    std::string layer = "encoder.layer." + std::to_string(i) + ".";
    for (const char *part : {"query", "key", "value"})
      linear(layer + "attention.self." + part, config.hidden, config.hidden);
    linear(layer + "attention.output.dense", config.hidden, config.hidden);
    norm(layer + "attention.output.LayerNorm");
    linear(layer + "intermediate.dense", config.hidden, config.intermediate);
    linear(layer + "output.dense", config.intermediate, config.hidden);
    norm(layer + "output.LayerNorm");
  }
  return list;
}

void Weights::append(const WeightSpec &spec, DType dtype,
                     std::vector<float> values) {
  size_t count = values.size();
  std::vector<std::byte> bytes(count * size_t(azulejo::dtypeBytes(dtype)));
  for (size_t i = 0; i < count; ++i) {
    uint16_t half = toBfloat16(values[i]);
    if (dtype == DType::BF16)
      std::memcpy(bytes.data() + i * sizeof(half), &half, sizeof(half));
    else
      std::memcpy(bytes.data() + i * sizeof(float), &values[i], sizeof(float));
  }
  owned.push_back(std::move(bytes));
  list.push_back({spec, dtype, owned.back().data()});
}

Result<Weights> Weights::load(const Safetensors &file, const Config &config,
                              DType dtype) {
  Weights weights;
  for (const WeightSpec &spec : weightList(config)) {
    Result<const StoredTensor *> stored = file.require(spec.name, spec.shape);
    if (!stored)
      return stored.error();
    const StoredTensor &tensor = **stored;
    DType wanted = spec.isNorm ? DType::F32 : dtype;
    if (tensor.dtype == wanted && tensor.isAligned()) {
      weights.list.push_back({spec, wanted, tensor.bytes.data()});
      continue;
    }
    Result<std::vector<float>> values = toFloats(tensor);
    if (!values)
      return values.error();
    weights.append(spec, wanted, *std::move(values));
  }
  return weights;
}

Weights Weights::generate(
    const Config &config, DType dtype,
    const std::function<std::vector<float>(const WeightSpec &)> &values) {
  Weights weights;
  for (const WeightSpec &spec : weightList(config))
    weights.append(spec, spec.isNorm ? DType::F32 : dtype, values(spec));
  return weights;
}

int64_t Weights::totalBytes() const {
  int64_t bytes = 0;
  for (const Entry &entry : list)
    bytes += entry.spec.elementCount() * azulejo::dtypeBytes(entry.dtype);
  return bytes;
}

} // namespace minilm
