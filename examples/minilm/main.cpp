//===- main.cpp - sentence embeddings with all-MiniLM-L6-v2 ---------------===//
//
// Reads a published model, compiles its whole encoder as one graph, and embeds
// sentences. README.md tells how to get the model.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Encoder.h"
#include "Expected.h"

#include "../json/Utf8.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace minilm;
using azulejo::DType;
using azulejo::Error;
using azulejo::ErrorCode;
using azulejo::makeError;
using azulejo::Result;
using azulejo::Status;

namespace {

constexpr const char *usage =
    "usage: example_minilm --model DIR [options] [sentence...]\n"
    "\n"
    "  --model DIR       folder with config.json, vocab.txt, "
    "model.safetensors\n"
    "  --dtype TYPE      f32 (default) or bf16\n"
    "  --expected FILE   embed the stored sentences and compare with FILE\n"
    "  --device NAME     device to compile for (default: AZULEJO_DEVICE, else "
    "cpu)\n"
    "  --tune SECONDS    look for faster schedules first\n"
    "  --explain         say how the graph was compiled\n"
    "\n"
    "Without sentences, a few built-in ones are embedded.\n"
    "Exit code: 0 done, 1 failed or different from FILE, 2 wrong usage.\n";

struct Arguments {
  std::string model;
  DType dtype = DType::F32;
  std::string expected;
  std::string device;
  double tuneSeconds = -1;
  bool explain = false;
  bool help = false;
  std::vector<std::string> sentences;
};

Result<Arguments> readArguments(int argc, char **argv) {
  Arguments arguments;
  auto bad = [](const std::string &flag, std::string message) {
    return makeError(ErrorCode::InvalidArgument, flag, std::move(message),
                     "usage", "--help lists the options");
  };
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--") {
      arguments.sentences.insert(arguments.sentences.end(), argv + i + 1,
                                 argv + argc);
      break;
    }
    if (!flag.starts_with("--")) {
      arguments.sentences.push_back(flag);
      continue;
    }
    if (flag == "--help" || flag == "--explain") {
      (flag == "--help" ? arguments.help : arguments.explain) = true;
      continue;
    }
    if (i + 1 == argc)
      return bad(flag, "it needs a value, or is unknown");
    std::string value = argv[++i];
    if (flag == "--model") {
      arguments.model = value;
    } else if (flag == "--expected") {
      arguments.expected = value;
    } else if (flag == "--device") {
      arguments.device = value;
    } else if (flag == "--dtype") {
      std::optional<DType> dtype = azulejo::parseDType(value);
      if (dtype != DType::F32 && dtype != DType::BF16)
        return bad(flag, "'" + value + "' is not f32 or bf16");
      arguments.dtype = *dtype;
    } else if (flag == "--tune") {
      char *end = nullptr;
      arguments.tuneSeconds = std::strtod(value.c_str(), &end);
      if (value.empty() || *end || !(arguments.tuneSeconds >= 0))
        return bad(flag, "'" + value + "' is not a number of seconds");
    } else {
      return bad(flag, "no option is called so");
    }
  }
  if (arguments.model.empty() && !arguments.help)
    return bad("--model", "the folder of the model is missing");
  return arguments;
}

/// Milliseconds since the last call.
class Stopwatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    std::chrono::duration<double, std::milli> passed = now - start;
    start = now;
    return passed.count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

/// The first characters of a text, on one line.
std::string shortened(const std::string &text, size_t characters) {
  std::string result;
  size_t at = 0, count = 0;
  for (; at < text.size() && count < characters; ++count) {
    std::optional<char32_t> c = json::decodeUtf8(text, at);
    json::appendUtf8(c && *c >= 0x20 ? *c : U' ', result);
  }
  return at < text.size() ? result + "..." : result;
}

std::span<const float> row(const std::vector<float> &matrix, int64_t hidden,
                           size_t index) {
  return std::span(matrix).subspan(index * hidden, hidden);
}

void printEmbeddings(const std::vector<std::string> &sentences,
                     const TokenBatch &batch, const std::vector<float> &vectors,
                     int64_t hidden) {
  for (size_t i = 0; i < sentences.size(); ++i) {
    std::printf("[%2zu] %4d tokens ", i, batch.lengths[i]);
    std::span<const float> vector = row(vectors, hidden, i);
    for (float value : vector.first(std::min<size_t>(5, vector.size())))
      std::printf(" %8.5f", value);
    std::printf(" ...  %s\n", shortened(sentences[i], 50).c_str());
  }
}

/// How alike the sentences are; wide tables are cut to what a terminal shows.
void printSimilarities(const std::vector<float> &vectors, int64_t hidden,
                       size_t count) {
  constexpr size_t most = 12;
  size_t shown = std::min(count, most);
  std::printf("\ncosine similarity%s\n     ",
              shown < count ? " (the first 12 sentences)" : "");
  for (size_t j = 0; j < shown; ++j)
    std::printf("   [%2zu]", j);
  std::printf("\n");
  for (size_t i = 0; i < shown; ++i) {
    std::printf("[%2zu] ", i);
    for (size_t j = 0; j < shown; ++j)
      std::printf(" %6.3f",
                  cosine(row(vectors, hidden, i), row(vectors, hidden, j)));
    std::printf("\n");
  }
}

/// Compares token ids exactly and embeddings by their cosine.
Status compare(const Expected &expected, const TokenBatch &batch,
               const std::vector<float> &vectors, int64_t hidden, DType dtype) {
  auto differs = [](const std::string &sentence, std::string message) {
    return makeError(ErrorCode::CandidateWrong,
                     "sentence '" + shortened(sentence, 40) + "'",
                     std::move(message), "expected");
  };
  if (expected.hidden != hidden)
    return makeError(ErrorCode::InvalidArgument, "--expected",
                     "its embeddings have " + std::to_string(expected.hidden) +
                         " values, the model's have " + std::to_string(hidden),
                     "expected", "it was made with another model");
  double needed = dtype == DType::F32 ? 0.9999 : 0.999, worst = 1;
  for (size_t i = 0; i < expected.sentences.size(); ++i) {
    const std::string &sentence = expected.sentences[i];
    int32_t length = expected.tokens.lengths[i];
    auto ours = batch.ids.begin() + i * batch.columns,
         theirs = expected.tokens.ids.begin() + i * expected.tokens.columns;
    if (batch.lengths[i] != length || !std::equal(ours, ours + length, theirs))
      return differs(sentence, "its token ids differ from the stored ones");
    double likeness =
        cosine(row(vectors, hidden, i), row(expected.embeddings, hidden, i));
    if (!(likeness >= needed))
      return differs(sentence, "its embedding has cosine " +
                                   std::to_string(likeness) +
                                   " with the stored one, needed " +
                                   std::to_string(needed));
    worst = std::min(worst, likeness);
  }
  std::printf("\n%zu sentences agree with the stored embeddings: token ids are "
              "equal,\nthe worst cosine is %.7f (needed: %.4f)\n",
              expected.sentences.size(), worst, needed);
  return {};
}

Status run(const Arguments &arguments) {
  Stopwatch watch;
  Result<Config> config = Config::open(arguments.model + "/config.json");
  if (!config) {
    Error error = config.error();
    if (error.rule == "file")
      error.hint = "--model wants the folder of all-MiniLM-L6-v2; README.md "
                   "tells how to get it";
    return error;
  }
  Result<WordPiece> pieces = WordPiece::open(arguments.model + "/vocab.txt");
  if (!pieces)
    return pieces.error();
  Result<Safetensors> file =
      Safetensors::open(arguments.model + "/model.safetensors");
  if (!file)
    return file.error();
  Result<Weights> weights = Weights::load(*file, *config, arguments.dtype);
  if (!weights)
    return weights.error();

  std::vector<std::string> sentences = arguments.sentences;
  std::optional<Expected> expected;
  if (!arguments.expected.empty()) {
    if (!sentences.empty())
      return makeError(ErrorCode::InvalidArgument, "--expected",
                       "it brings its own sentences", "usage",
                       "leave out either --expected or the sentences");
    Result<Expected> stored = Expected::open(arguments.expected);
    if (!stored)
      return stored.error();
    expected = *std::move(stored);
    sentences = expected->sentences;
  } else if (sentences.empty()) {
    sentences = {"How do I reset my password?", "I forgot my login, what now?",
                 "The ferry leaves at nine.", "When does the boat depart?"};
  }
  TokenBatch batch = pieces->encodeBatch(
      sentences,
      std::min<size_t>(WordPiece::defaultMaxLength, size_t(config->positions)));
  double loadMs = watch.lap();

  Result<azulejo::Device> device = azulejo::Device::open(arguments.device);
  if (!device)
    return device.error();
  azulejo::CompileOptions options;
  options.tune = std::chrono::duration<double>(arguments.tuneSeconds);
  Result<Encoder> encoder =
      Encoder::compile(*config, *weights, arguments.dtype, *device, options);
  if (!encoder)
    return encoder.error();
  double compileMs = watch.lap();
  Result<std::vector<float>> vectors = encoder->embed(batch);
  if (!vectors)
    return vectors.error();
  double runMs = watch.lap();

  printEmbeddings(sentences, batch, *vectors, config->hidden);
  printSimilarities(*vectors, config->hidden, sentences.size());
  std::printf("\n%s weights, %.1f MB; loading %.0f ms, %s %.0f ms, "
              "%zu sentences padded to %lld tokens: %.1f ms\n",
              std::string(dtypeName(arguments.dtype)).c_str(),
              double(weights->totalBytes()) / 1e6, loadMs,
              encoder->executable().fromCache() ? "plan from the cache"
                                                : "compiling",
              compileMs, sentences.size(), (long long)batch.columns, runMs);
  if (arguments.explain) {
    Result<std::string> text = azulejo::explainText(
        encoder->executable(),
        {{"B", std::min(batch.rows, maxBatch)}, {"S", batch.columns}});
    if (!text)
      return text.error();
    std::printf("\n%s\n", text->c_str());
  }
  if (expected)
    return compare(*expected, batch, *vectors, config->hidden, arguments.dtype);
  return {};
}

} // namespace

int main(int argc, char **argv) {
  Result<Arguments> arguments = readArguments(argc, argv);
  if (!arguments) {
    std::fprintf(stderr, "%s\n\n%s", arguments.error().str().c_str(), usage);
    return 2;
  }
  if (arguments->help) {
    std::printf("%s", usage);
    return 0;
  }
  if (Status status = run(*arguments); !status) {
    std::fprintf(stderr, "%s\n", status.error().str().c_str());
    return 1;
  }
  return 0;
}
