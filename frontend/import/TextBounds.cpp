//===- TextBounds.cpp - what a text may ask of MLIR's parser --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/TextBounds.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace azulejo;

// Real graphs nest about a dozen brackets.
static constexpr int kMaxNesting = 256;
static constexpr size_t kMaxWord = 1024;
// The expanded text may have this many bytes, and so many per byte of the text.
static constexpr uint64_t kExpansion = 1 << 20;
static constexpr uint64_t kExpansionPerByte = 64;

namespace {

/// A token, as far as bounds need them: a string, a word with the sign before
/// it ('!' or '#' for a name), '->', or one other character.
struct Token {
  StringRef text;
  bool isName() const {
    return text.size() > 1 && (text[0] == '!' || text[0] == '#');
  }
  bool isOneOf(StringRef characters) const {
    return text.size() == 1 && characters.contains(text[0]);
  }
  /// Begins an operation, unless it continues a type or an attribute.
  bool isWord() const {
    return isAlpha(text[0]) || text[0] == '_' || text[0] == '"' ||
           text[0] == '%';
  }
};

class Bounds {
public:
  explicit Bounds(StringRef text)
      : rest(text), limit(kExpansion + kExpansionPerByte * text.size()) {}

  Status check() {
    for (Token token = next(); !token.text.empty(); token = next()) {
      if (Status status = nest(token); !status)
        return status;
      if (token.text[0] != '"' && token.text.size() > kMaxWord)
        return fail("a word has more than " + std::to_string(kMaxWord) +
                        " characters",
                    "text.word");
      if (token.text == "affine_map" || token.text == "affine_set")
        return fail("a graph holds no " + token.text.str(), "text.affine");
      weigh(token);
      if (total > limit)
        return fail("names stand for more than " + std::to_string(limit) +
                        " bytes when they are replaced",
                    "text.expansion");
      previous = token;
    }
    return {};
  }

private:
  Status nest(Token token) {
    if (token.isOneOf("([{<"))
      ++depth;
    else if (token.isOneOf(")]}>") && depth > 0)
      --depth;
    if (depth > kMaxNesting)
      return fail("brackets nest deeper than " + std::to_string(kMaxNesting),
                  "text.nesting");
    return {};
  }

  /// Counts the token, in the definition that it belongs to and in all.
  void weigh(Token token) {
    uint64_t weight = token.text.size();
    if (token.isName()) {
      skipSpace();
      if (rest.starts_with("=")) {
        defined = token.text;
        weights[defined] = 0;
        return;
      }
      if (auto known = weights.find(token.text); known != weights.end())
        weight = SaturatingAdd(weight, known->second);
    }
    // No type and no attribute has two words in a row outside of brackets.
    bool follows = previous.isOneOf("=:") || previous.text == "->";
    if (depth == 0 && token.isWord() && !follows)
      defined = {};
    if (!defined.empty()) {
      uint64_t &sum = weights[defined];
      sum = SaturatingAdd(sum, weight);
    }
    total = SaturatingAdd(total, weight);
  }

  Token next() {
    skipSpace();
    return {take(length())};
  }

  /// Comments are space, too.
  void skipSpace() {
    while (true) {
      StringRef trimmed = rest.ltrim();
      line += rest.drop_back(trimmed.size()).count('\n');
      rest = trimmed;
      if (!rest.starts_with("//"))
        return;
      rest = rest.drop_front(std::min(rest.find('\n'), rest.size()));
    }
  }

  /// Of the token at the front.
  size_t length() const {
    if (rest.size() < 2)
      return rest.size();
    if (rest[0] == '"') {
      size_t end = 1;
      while (end < rest.size() && rest[end] != '"' && rest[end] != '\n')
        end += rest[end] == '\\' ? 2 : 1;
      return std::min(end + 1, rest.size());
    }
    for (StringRef pair : {"->", ">=", "<="})
      if (rest.starts_with(pair))
        return pair.size();
    if (StringRef("!#%@^").contains(rest[0]) && isDigit(rest[1]))
      return 1 + rest.drop_front().take_while(isDigit).size();
    bool sign = StringRef("!#%@^").contains(rest[0]);
    auto belongs = [&](char c) {
      return isAlnum(c) || StringRef("_$.").contains(c) || (sign && c == '-');
    };
    return std::max<size_t>(
        sign + rest.drop_front(sign).take_while(belongs).size(), 1);
  }

  StringRef take(size_t size) {
    StringRef token = rest.take_front(size);
    rest = rest.drop_front(size);
    return token;
  }

  Status fail(const std::string &what, const char *rule) const {
    return makeError(ErrorCode::InvalidGraph, "line " + std::to_string(line),
                     what, rule,
                     "no graph needs that; look for what is never closed, or "
                     "grows without end");
  }

  StringRef rest;
  uint64_t limit, total = 0;
  size_t line = 1;
  int depth = 0;
  Token previous;
  StringRef defined; ///< the name whose definition is being read
  StringMap<uint64_t> weights;
};

} // namespace

Status importer::checkTextBounds(StringRef text) {
  return Bounds(text).check();
}
