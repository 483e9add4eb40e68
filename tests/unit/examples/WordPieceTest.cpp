//===- WordPieceTest.cpp - token ids against the published tokenizer ------===//
//
// The expected ids are those of Hugging Face's tokenizer, stored by
// examples/minilm/expected/make_expected.py for every sentence of
// sentences.json. vocabulary.tsv is an excerpt of the model's vocab.txt that
// holds every entry which those sentences' words can meet, so the cuts are the
// same as with all 30522 entries.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "examples/minilm/WordPiece.h"
#include "examples/json/Json.h"
#include "examples/json/Utf8.h"
#include "examples/minilm/Safetensors.h"
#include "examples/minilm/Unicode.h"

#include <gtest/gtest.h>

#include <fstream>

namespace minilm {
namespace {

using azulejo::Result;

std::string source(const std::string &path) {
  return std::string(AZULEJO_SOURCE_DIR) + "/" + path;
}

/// The excerpt at its real ids; the holes hold names that no text can spell.
std::vector<std::string> vocabulary() {
  std::ifstream file(source("tests/unit/examples/vocabulary.tsv"));
  std::vector<std::string> entries;
  size_t id;
  std::string token;
  while (file >> id >> token) {
    while (entries.size() < id)
      entries.push_back(" hole " + std::to_string(entries.size()));
    entries.push_back(token);
  }
  return entries;
}

WordPiece tokenizer() {
  Result<WordPiece> result = WordPiece::create(vocabulary(), "vocabulary.tsv");
  if (!result)
    ADD_FAILURE() << result.error().str();
  return *std::move(result);
}

std::vector<std::string> sentences() {
  Result<MappedFile> file =
      MappedFile::open(source("examples/minilm/expected/sentences.json"));
  Result<json::Value> list = json::parse(file->text(), "sentences.json");
  std::vector<std::string> texts;
  for (const json::Value &text : *list->array())
    texts.push_back(*text.string());
  return texts;
}

TEST(WordPiece, GivesThePublishedIds) {
  Result<Safetensors> file = Safetensors::open(
      source("examples/minilm/expected/expected.safetensors"));
  ASSERT_TRUE(file) << file.error().str();
  std::vector<int32_t> ids = *toInts(*file->find("token_ids"));
  std::vector<int32_t> lengths = *toInts(*file->find("lengths"));
  std::vector<std::string> texts = sentences();
  ASSERT_GE(texts.size(), 20u);
  ASSERT_EQ(texts.size(), lengths.size());

  TokenBatch batch = tokenizer().encodeBatch(texts);
  EXPECT_EQ(batch.lengths, lengths);
  ASSERT_EQ(batch.ids.size(), ids.size());
  for (size_t row = 0; row < texts.size(); ++row) {
    auto begin = [&](const std::vector<int32_t> &all) {
      return std::vector<int32_t>(all.begin() + row * batch.columns,
                                  all.begin() + (row + 1) * batch.columns);
    };
    EXPECT_EQ(begin(batch.ids), begin(ids)) << texts[row];
  }
}

TEST(WordPiece, CutsOffWhatIsTooLong) {
  WordPiece pieces = tokenizer();
  std::vector<int32_t> whole = pieces.encode("hello , world !", 256);
  std::vector<int32_t> cut = pieces.encode("hello , world !", 4);
  ASSERT_EQ(whole.size(), 6u);
  ASSERT_EQ(cut.size(), 4u);
  EXPECT_EQ(cut[2], whole[2]);
  EXPECT_EQ(cut[3], whole[5]);
  EXPECT_EQ(pieces.encode("hello", 0).size(), 2u);
  EXPECT_EQ(pieces.encode("").size(), 2u);
}

TEST(WordPiece, TakesAnyBytes) {
  WordPiece pieces = tokenizer();
  // Bytes that are not UTF-8 vanish like controls.
  EXPECT_EQ(pieces.encode("hel\xFFlo \xC3 world\xF0\x9F"),
            pieces.encode("hello world"));
  std::string all;
  for (int i = 0; i < 256; ++i)
    all += static_cast<char>(i);
  EXPECT_LE(pieces.encode(all).size(), 256u);
}

/// A tokenizer is fed whole documents; quadratic time would look like a hang.
TEST(WordPiece, TakesLinearTime) {
  WordPiece pieces = tokenizer();
  std::string brackets(2'000'000, '['), specials;
  for (int i = 0; i < 200'000; ++i)
    specials += "[PAD]x";
  EXPECT_EQ(pieces.encode(brackets).size(), 256u);
  EXPECT_EQ(pieces.encode(specials).size(), 256u);
  EXPECT_EQ(pieces.encode(std::string(2'000'000, 'x')).size(), 3u);
}

TEST(WordPiece, RefusesAVocabularyItCannotUse) {
  Result<WordPiece> missing =
      WordPiece::create({"[PAD]", "[UNK]", "[CLS]", "a"}, "v.txt");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().rule, "vocabulary.special");
  EXPECT_EQ(missing.error().where, "v.txt");
  Result<WordPiece> twice = WordPiece::create(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "a"}, "v.txt");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().rule, "vocabulary.unique");
  EXPECT_FALSE(WordPiece::open("/no/such/vocab.txt"));
}

TEST(WordPiece, ReadsLinesWithEitherEnding) {
  std::string path = testing::TempDir() + "/azulejo-vocab.txt";
  std::ofstream(path, std::ios::binary)
      << "[PAD]\n[UNK]\r\n[CLS]\n[SEP]\nab\n##c";
  Result<WordPiece> pieces = WordPiece::open(path);
  ASSERT_TRUE(pieces) << pieces.error().str();
  EXPECT_EQ(pieces->vocabularySize(), 6u);
  EXPECT_EQ(pieces->encode("ABC abd"), (std::vector<int32_t>{2, 4, 5, 1, 3}));
}

std::u32string folded(char32_t c) {
  std::u32string text;
  appendFolded(c, text);
  return text;
}

TEST(Unicode, FoldsCaseAndAccents) {
  EXPECT_EQ(folded(U'A'), U"a");
  EXPECT_EQ(folded(U'\u00C9'), U"e");      // E with acute
  EXPECT_EQ(folded(U'\u1EC6'), U"e");      // two accents
  EXPECT_EQ(folded(U'\u00DF'), U"\u00DF"); // sharp s stays
  EXPECT_EQ(folded(U'\u0141'), U"\u0142"); // L with stroke is no accent
  EXPECT_EQ(folded(U'\u0301'), U"");       // combining acute
  EXPECT_EQ(folded(U'\u0130'), U"i");      // dotted capital I
  EXPECT_EQ(folded(U'\uFF21'), U"\uFF41"); // wide A
  EXPECT_EQ(folded(U'\u0416'), U"\u0436"); // Cyrillic
  EXPECT_EQ(folded(U'\uD55C'), U"\u1112\u1161\u11AB"); // Hangul with tail
  EXPECT_EQ(folded(U'\uAC00'), U"\u1100\u1161");       // without
  EXPECT_EQ(folded(U'\uFFFD'), U"");
  EXPECT_EQ(folded(U'\0'), U"");
  EXPECT_EQ(folded(U'\u6771'), U"\u6771");
}

} // namespace
} // namespace minilm
