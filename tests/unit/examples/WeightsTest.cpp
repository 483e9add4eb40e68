//===- WeightsTest.cpp - configurations and parameters --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TinyModel.h"

#include <gtest/gtest.h>

#include <cstring>

namespace minilm {
namespace {

using azulejo::DType;
using azulejo::Result;

const std::string goodConfig =
    R"({"model_type": "bert", "hidden_act": "gelu", "vocab_size": 30522,
        "max_position_embeddings": 512, "type_vocab_size": 2,
        "hidden_size": 384, "num_hidden_layers": 6,
        "num_attention_heads": 12, "intermediate_size": 1536,
        "position_embedding_type": "absolute", "layer_norm_eps": 1e-12})";

/// goodConfig with one piece of its text replaced.
std::string configWith(const std::string &from, const std::string &to) {
  std::string text = goodConfig;
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Config, ReadsThePublishedOne) {
  Result<Config> config = Config::parse(goodConfig, "config.json");
  ASSERT_TRUE(config) << config.error().str();
  EXPECT_EQ(config->hidden, 384);
  EXPECT_EQ(config->headSize(), 32);
  EXPECT_EQ(config->normEpsilon, 1e-12);
  // Older files do not say how positions are embedded.
  EXPECT_TRUE(Config::parse(
      configWith(R"("position_embedding_type": "absolute", )", ""), "c"));
}

TEST(Config, RefusesWhatTheGraphIsNot) {
  for (auto [from, to] :
       {std::pair(R"("bert")", R"("roberta")"),
        std::pair(R"("model_type": "bert",)", ""),
        std::pair(R"("gelu")", R"("relu")"), std::pair(R"("gelu")", "1"),
        std::pair(R"("absolute")", R"("relative_key")"),
        std::pair("384", "385"), std::pair("384", "384.0"),
        std::pair("384", "-384"), std::pair("384", "0"),
        std::pair("384", R"("384")"), std::pair("30522", "99999999999"),
        std::pair(R"("hidden_size": 384,)", ""), std::pair(": 6", ": 100000"),
        std::pair("1e-12", "-1"), std::pair("1e-12", "null"),
        std::pair("1e-12}", "1e-12"),
        std::pair("12,", "18446744073709551615,")}) {
    Result<Config> config = Config::parse(configWith(from, to), "config.json");
    ASSERT_FALSE(config) << from << " -> " << to;
    EXPECT_EQ(config.error().where, "config.json");
    EXPECT_FALSE(config.error().rule.empty());
  }
  EXPECT_EQ(Config::parse("[]", "c").error().rule, "config");
}

TEST(Weights, ListsEveryParameterOnce) {
  std::vector<WeightSpec> list = weightList(Config{});
  EXPECT_EQ(list.size(), 5u + 6 * 16);
  int64_t total = 0;
  for (const WeightSpec &spec : list)
    total += spec.elementCount();
  EXPECT_EQ(total, 22565376); // the published 22.7 M less the unused pooler
}

/// A file with all parameters of the tiny model, as F32 or BF16.
std::string tinyFile(const Config &config, DType dtype) {
  std::string header = "{", data;
  for (const WeightSpec &spec : weightList(config)) {
    StoredTensor like;
    like.shape = spec.shape;
    size_t begin = data.size();
    for (float value : tinyValues(spec)) {
      uint16_t half = toBfloat16(value);
      if (dtype == DType::F32)
        data.append(reinterpret_cast<const char *>(&value), 4);
      else
        data.append(reinterpret_cast<const char *>(&half), 2);
    }
    header += (header.size() > 1 ? ",\"" : "\"") + spec.name +
              "\":{\"dtype\":\"" + (dtype == DType::F32 ? "F32" : "BF16") +
              "\",\"shape\":" + like.shapeStr() + ",\"data_offsets\":[" +
              std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

TEST(Weights, UsesAlignedDataInPlace) {
  Config config = tinyConfig();
  std::string bytes = tinyFile(config, DType::F32);
  Result<Safetensors> file =
      Safetensors::parse(std::as_bytes(std::span(bytes)), "tiny");
  ASSERT_TRUE(file) << file.error().str();
  Result<Weights> weights = Weights::load(*file, config, DType::F32);
  ASSERT_TRUE(weights) << weights.error().str();
  for (const Weights::Entry &entry : weights->entries())
    EXPECT_EQ(entry.data, file->find(entry.spec.name)->bytes.data());
}

TEST(Weights, ConvertsToBf16ButKeepsNorms) {
  Config config = tinyConfig();
  std::string bytes = tinyFile(config, DType::F32);
  Result<Safetensors> file =
      Safetensors::parse(std::as_bytes(std::span(bytes)), "tiny");
  ASSERT_TRUE(file);
  Result<Weights> weights = Weights::load(*file, config, DType::BF16);
  ASSERT_TRUE(weights) << weights.error().str();
  for (const Weights::Entry &entry : weights->entries()) {
    ASSERT_EQ(entry.dtype, entry.spec.isNorm ? DType::F32 : DType::BF16);
    std::vector<float> values = tinyValues(entry.spec);
    if (entry.spec.isNorm)
      EXPECT_EQ(static_cast<const float *>(entry.data)[0], values[0]);
    else
      EXPECT_EQ(static_cast<const uint16_t *>(entry.data)[1],
                toBfloat16(values[1]));
  }
}

TEST(Weights, WidensABf16File) {
  Config config = tinyConfig();
  std::string bytes = tinyFile(config, DType::BF16);
  Result<Safetensors> file =
      Safetensors::parse(std::as_bytes(std::span(bytes)), "tiny");
  ASSERT_TRUE(file);
  Result<Weights> weights = Weights::load(*file, config, DType::F32);
  ASSERT_TRUE(weights) << weights.error().str();
  const Weights::Entry &entry = weights->entries()[0];
  EXPECT_EQ(entry.dtype, DType::F32);
  uint32_t wide = uint32_t(toBfloat16(tinyValues(entry.spec)[0])) << 16, bits;
  std::memcpy(&bits, entry.data, 4);
  EXPECT_EQ(bits, wide);
}

TEST(Weights, NamesWhatDoesNotFit) {
  Config config = tinyConfig();
  std::string bytes = tinyFile(config, DType::F32);
  Result<Safetensors> file =
      Safetensors::parse(std::as_bytes(std::span(bytes)), "tiny");
  ASSERT_TRUE(file);
  config.layers = 3;
  Result<Weights> missing = Weights::load(*file, config, DType::F32);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().where.find("encoder.layer.2."), std::string::npos);
  config = tinyConfig();
  config.intermediate += 1;
  Result<Weights> shape = Weights::load(*file, config, DType::F32);
  ASSERT_FALSE(shape);
  EXPECT_NE(shape.error().message.find("has shape [44, 30], expected [45, 30]"),
            std::string::npos);
}

} // namespace
} // namespace minilm
