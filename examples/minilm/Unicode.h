//===- Unicode.h - UTF-8 and the folding of the uncased tokenizer -*- C++ -*-=//
//
// The little of Unicode that an uncased BERT tokenizer needs: decoding and
// encoding UTF-8, which characters separate words, and what "lower case without
// accents" means for one character. The tables are generated, see
// make_unicode_tables.py.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_UNICODE_H
#define AZULEJO_EXAMPLES_MINILM_UNICODE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace minilm {

/// Decodes the character that starts at `at` (inside `text`) and moves `at`
/// past it. Malformed input (overlong, surrogate, cut off, above U+10FFFF)
/// gives nullopt and moves `at` by one byte.
std::optional<char32_t> decodeUtf8(std::string_view text, size_t &at);

void appendUtf8(char32_t c, std::string &into);

/// White space: separates words and is dropped.
bool isSpace(char32_t c);

/// ASCII marks and general category P: a word of its own.
bool isPunctuation(char32_t c);

/// The ideograph blocks that BERT sets apart as single-character words. Kana
/// and Hangul are not among them.
bool isIdeograph(char32_t c);

/// Appends what is left of `c` after canonical decomposition, removal of
/// non-spacing marks, and lower-casing. Controls and marks leave nothing.
void appendFolded(char32_t c, std::u32string &into);

} // namespace minilm

#endif // AZULEJO_EXAMPLES_MINILM_UNICODE_H
