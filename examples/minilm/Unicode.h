//===- Unicode.h - how the uncased tokenizer sees characters ----*- C++ -*-===//
//
// The little of Unicode that an uncased BERT tokenizer needs: which characters
// separate words, and what "lower case without accents" means for one
// character. The tables are generated, see make_unicode_tables.py.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MINILM_UNICODE_H
#define AZULEJO_EXAMPLES_MINILM_UNICODE_H

#include <string>

namespace minilm {

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
