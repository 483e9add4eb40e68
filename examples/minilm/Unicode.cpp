//===- Unicode.cpp - how the uncased tokenizer sees characters ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Unicode.h"

#include <algorithm>
#include <cstdint>
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
