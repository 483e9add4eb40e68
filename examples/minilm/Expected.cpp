//===- Expected.cpp - stored answers of the published model ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Expected.h"

#include "../json/Json.h"
#include "Safetensors.h"

#include <cmath>
#include <filesystem>

namespace minilm {

using azulejo::ErrorCode;
using azulejo::makeError;
using azulejo::Result;

Result<std::vector<std::string>> readSentences(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  Result<json::Value> root = json::parse(file->text(), path);
  if (!root)
    return root.error();
  std::vector<std::string> sentences;
  bool good = root->array() != nullptr;
  for (size_t i = 0; good && i < root->array()->size(); ++i) {
    const std::string *text = (*root->array())[i].string();
    good = text != nullptr;
    if (good)
      sentences.push_back(*text);
  }
  if (!good)
    return makeError(ErrorCode::InvalidArgument, path,
                     "expected a JSON array of strings", "sentences");
  return sentences;
}

Result<Expected> Expected::open(const std::string &path) {
  std::filesystem::path beside = path;
  Result<std::vector<std::string>> sentences =
      readSentences(beside.replace_filename("sentences.json").string());
  if (!sentences)
    return sentences.error();
  Result<Safetensors> file = Safetensors::open(path);
  if (!file)
    return file.error();

  Expected expected;
  expected.sentences = *std::move(sentences);
  int64_t rows = static_cast<int64_t>(expected.sentences.size());
  const StoredTensor *vectors = file->find("embeddings"),
                     *ids = file->find("token_ids"),
                     *lengths = file->find("lengths");
  if (!vectors || !ids || !lengths || vectors->shape.size() != 2 ||
      ids->shape.size() != 2 || vectors->shape[0] != rows ||
      ids->shape[0] != rows || lengths->shape != std::vector<int64_t>{rows})
    return makeError(ErrorCode::InvalidArgument, path,
                     "expected embeddings [N, hidden], token_ids [N, S] and "
                     "lengths [N] for the N sentences beside it",
                     "expected", "make_expected.py writes such files");
  Result<std::vector<float>> values = toFloats(*vectors);
  if (!values)
    return values.error();
  Result<std::vector<int32_t>> idValues = toInts(*ids),
                               lengthValues = toInts(*lengths);
  if (!idValues)
    return idValues.error();
  if (!lengthValues)
    return lengthValues.error();
  for (int32_t length : *lengthValues)
    if (length < 0 || length > ids->shape[1])
      return makeError(ErrorCode::InvalidArgument, path,
                       "a length of " + std::to_string(length) +
                           " does not fit token_ids" + ids->shapeStr(),
                       "expected");
  expected.hidden = vectors->shape[1];
  expected.embeddings = *std::move(values);
  expected.tokens = {rows, ids->shape[1], *std::move(idValues),
                     *std::move(lengthValues)};
  return expected;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += double(a[i]) * b[i];
    aa += double(a[i]) * a[i];
    bb += double(b[i]) * b[i];
  }
  return dot / std::sqrt(aa * bb);
}

} // namespace minilm
