//===- WordPiece.h - the uncased BERT tokenizer -----------------*- C++ -*-===//
//
// Text to token ids, exactly as the published tokenizer of all-MiniLM-L6-v2
// does it:
//
//   1. the special tokens, written out ("[MASK]"), are found in the raw text;
//   2. what lies between is cleaned, lower-cased and stripped of accents;
//   3. white space ends a word; a punctuation mark or an ideograph is a word;
//   4. each word is cut into the longest vocabulary entries from left to right,
//      where entries that continue a word are spelled "##..."; a word that
//      cannot be cut, or is longer than 100 characters, becomes [UNK];
//   5. [CLS] goes in front and [SEP] behind; what exceeds the maximum length is
//      cut off before [SEP].
//
// Bytes that are not UTF-8 are ignored, as controls are.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_WORDPIECE_H
#define AZULEJO_EXAMPLES_MINILM_WORDPIECE_H

#include "azulejo/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace minilm {

/// A rectangle of token ids: one row per text, padded with [PAD] to the longest
/// row. `lengths` counts the tokens of each row that are not padding.
struct TokenBatch {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<int32_t> ids; ///< rows x columns
  std::vector<int32_t> lengths;
};

class WordPiece {
public:
  /// The length that the model was trained for, special tokens included.
  static constexpr size_t defaultMaxLength = 256;

  /// Reads vocab.txt: one entry per line, the line's number is the id.
  static azulejo::Result<WordPiece> open(const std::string &path);
  /// Takes the entries in order of their ids. They must be unique and hold
  /// [PAD], [UNK], [CLS] and [SEP].
  static azulejo::Result<WordPiece> create(std::vector<std::string> entries,
                                           const std::string &where);

  /// The ids of one text. `maxLength` is at least 2.
  std::vector<int32_t> encode(std::string_view text,
                              size_t maxLength = defaultMaxLength) const;
  TokenBatch encodeBatch(std::span<const std::string> texts,
                         size_t maxLength = defaultMaxLength) const;

  size_t vocabularySize() const { return idOf.size(); }

private:
  void encodePlain(std::string_view text, std::vector<int32_t> &ids) const;
  void encodeWord(const std::u32string &word, std::vector<int32_t> &ids) const;

  std::unordered_map<std::string, int32_t> idOf;
  int32_t padId = 0, unknownId = 0, startId = 0, endId = 0;
};

} // namespace minilm

#endif // AZULEJO_EXAMPLES_MINILM_WORDPIECE_H
