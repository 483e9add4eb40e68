//===- Unicode.cpp - UTF-8 and the folding of the uncased tokenizer -------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Unicode.h"

#include <algorithm>
#include <iterator>

namespace minilm {

namespace {

struct Range {
  char32_t first, last;
};

/// Characters first + i * step fold to target + i * targetStep.
struct FoldRun {
  char32_t first, target;
  uint32_t count, step, targetStep;
};

/// A character that folds to two or three; zero ends the sequence.
struct FoldSequence {
  char32_t from;
  char32_t to[3];
};

#include "UnicodeTables.inc"

constexpr Range ideographs[] = {
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
    {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
    {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F},
};

template <size_t N> bool contains(const Range (&table)[N], char32_t c) {
  auto after = std::upper_bound(
      std::begin(table), std::end(table), c,
      [](char32_t value, const Range &range) { return value < range.first; });
  return after != std::begin(table) && c <= std::prev(after)->last;
}

/// Hangul syllables are a product of lead, vowel and optional tail, so their
/// decomposition is arithmetic.
bool appendHangul(char32_t c, std::u32string &into) {
  constexpr char32_t first = 0xAC00, lead = 0x1100, vowel = 0x1161,
                     tail = 0x11A7;
  constexpr uint32_t vowels = 21, tails = 28, syllables = 19 * vowels * tails;
  if (c < first || c >= first + syllables)
    return false;
  uint32_t index = c - first;
  into += lead + index / (vowels * tails);
  into += vowel + index / tails % vowels;
  if (index % tails)
    into += tail + index % tails;
  return true;
}

} // namespace

std::optional<char32_t> decodeUtf8(std::string_view text, size_t &at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at++);
  if (lead < 0x80)
    return lead;
  int extra = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < size_t(extra))
    return std::nullopt;
  char32_t c = lead & (0x3F >> extra);
  for (int i = 0; i < extra; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80)
      return std::nullopt;
    c = c << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  if (c < smallest[extra] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
    return std::nullopt;
  at += extra;
  return c;
}

void appendUtf8(char32_t c, std::string &into) {
  auto put = [&](char32_t byte) { into += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
    return;
  }
  int extra = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr char32_t marks[] = {0, 0xC0, 0xE0, 0xF0};
  put(marks[extra] | c >> (6 * extra));
  for (int i = extra - 1; i >= 0; --i)
    put(0x80 | (c >> (6 * i) & 0x3F));
}

bool isSpace(char32_t c) { return contains(spaces, c); }

bool isPunctuation(char32_t c) { return contains(punctuation, c); }

bool isIdeograph(char32_t c) { return contains(ideographs, c); }

void appendFolded(char32_t c, std::u32string &into) {
  if (contains(vanishing, c) || appendHangul(c, into))
    return;
  // Runs of step 2 interleave (capital, small, capital, ...), so the last run
  // that starts at or before c is the only one that can hold it: the generator
  // walks the characters in order and ends a run at the first misfit.
  auto after = std::upper_bound(
      std::begin(foldRuns), std::end(foldRuns), c,
      [](char32_t value, const FoldRun &run) { return value < run.first; });
  if (after != std::begin(foldRuns)) {
    const FoldRun &run = *std::prev(after);
    uint32_t distance = c - run.first;
    if (distance % run.step == 0 && distance / run.step < run.count) {
      into += run.target + distance / run.step * run.targetStep;
      return;
    }
  }
  auto sequence = std::lower_bound(
      std::begin(foldSequences), std::end(foldSequences), c,
      [](const FoldSequence &row, char32_t value) { return row.from < value; });
  if (sequence != std::end(foldSequences) && sequence->from == c) {
    for (char32_t to : sequence->to)
      if (to)
        into += to;
    return;
  }
  into += c;
}

} // namespace minilm
