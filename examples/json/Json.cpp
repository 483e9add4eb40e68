//===- Json.cpp - a small strict JSON reader ------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Json.h"

#include "Utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace json {

using azulejo::Error;
using azulejo::ErrorCode;
using azulejo::Result;

Value::Value(Object value) : data(std::make_unique<Object>(std::move(value))) {}
Value::Value(Value &&) noexcept = default;
Value &Value::operator=(Value &&) noexcept = default;
Value::~Value() = default;

const Array *Value::array() const {
  auto *pointer = std::get_if<std::unique_ptr<Array>>(&data);
  return pointer ? pointer->get() : nullptr;
}

const Object *Value::object() const {
  auto *pointer = std::get_if<std::unique_ptr<Object>>(&data);
  return pointer ? pointer->get() : nullptr;
}

std::optional<uint64_t> Value::unsignedInteger() const {
  if (auto *value = std::get_if<uint64_t>(&data))
    return *value;
  auto *value = std::get_if<int64_t>(&data);
  if (value && *value >= 0)
    return static_cast<uint64_t>(*value);
  return std::nullopt;
}

std::optional<double> Value::number() const {
  if (auto *value = std::get_if<double>(&data))
    return *value;
  if (auto *value = std::get_if<uint64_t>(&data))
    return static_cast<double>(*value);
  if (auto *value = std::get_if<int64_t>(&data))
    return static_cast<double>(*value);
  return std::nullopt;
}

const Value *Value::member(std::string_view name) const {
  if (const Object *members = object())
    for (const Member &member : *members)
      if (member.name == name)
        return &member.value;
  return nullptr;
}

namespace {

/// Recursive descent over the text. Every function leaves `at` on the byte
/// that broke a rule, so that the error can name it.
class Parser {
public:
  Parser(std::string_view text, const std::string &where, const Limits &limits)
      : text(text), where(where), limits(limits) {}

  Result<Value> parseDocument() {
    skipSpace();
    Value value;
    if (!parseValue(value, 0))
      return failure();
    skipSpace();
    if (at != text.size()) {
      fail("text goes on after the value");
      return failure();
    }
    return value;
  }

private:
  bool fail(const char *what, ErrorCode kind = ErrorCode::InvalidArgument) {
    message = what;
    code = kind;
    return false;
  }

  Error failure() const {
    return azulejo::makeError(
        code, where, message + " at byte " + std::to_string(at), "json",
        code == ErrorCode::ResourceLimit ? "" : "strict JSON (RFC 8259) only");
  }

  bool atEnd() const { return at >= text.size(); }
  char peek() const { return atEnd() ? '\0' : text[at]; }
  bool take(char c) {
    if (atEnd() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  void skipSpace() {
    while (!atEnd() && (text[at] == ' ' || text[at] == '\t' ||
                        text[at] == '\n' || text[at] == '\r'))
      ++at;
  }

  bool parseValue(Value &into, int depth) {
    if (depth > limits.depth)
      return fail("values nest too deeply", ErrorCode::ResourceLimit);
    if (++count > limits.values)
      return fail("too many values", ErrorCode::ResourceLimit);
    switch (peek()) {
    case '{':
      return parseObject(into, depth);
    case '[':
      return parseArray(into, depth);
    case '"': {
      std::string string;
      if (!parseString(string))
        return false;
      into = Value(std::move(string));
      return true;
    }
    case 't':
      return parseWord("true", Value(true), into);
    case 'f':
      return parseWord("false", Value(false), into);
    case 'n':
      return parseWord("null", Value(), into);
    default:
      return parseNumber(into);
    }
  }

  bool parseWord(std::string_view word, Value value, Value &into) {
    if (text.substr(at, word.size()) != word)
      return fail("expected a value");
    at += word.size();
    into = std::move(value);
    return true;
  }

  bool parseArray(Value &into, int depth) {
    ++at;
    Array items;
    skipSpace();
    if (!take(']')) {
      do {
        skipSpace();
        if (!parseValue(items.emplace_back(), depth + 1))
          return false;
        skipSpace();
      } while (take(','));
      if (!take(']'))
        return fail("expected ',' or ']'");
    }
    into = Value(std::move(items));
    return true;
  }

  bool parseObject(Value &into, int depth) {
    ++at;
    Object members;
    skipSpace();
    if (!take('}')) {
      do {
        skipSpace();
        Member &member = members.emplace_back();
        if (peek() != '"')
          return fail("expected a member's name");
        if (!parseString(member.name))
          return false;
        skipSpace();
        if (!take(':'))
          return fail("expected ':'");
        skipSpace();
        if (!parseValue(member.value, depth + 1))
          return false;
        skipSpace();
      } while (take(','));
      if (!take('}'))
        return fail("expected ',' or '}'");
    }
    if (!namesAreUnique(members))
      return false;
    into = Value(std::move(members));
    return true;
  }

  /// Two members of one name make the meaning depend on the reader, which is
  /// how one file can be two models.
  bool namesAreUnique(const Object &members) {
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const Member &member : members)
      names.push_back(member.name);
    std::sort(names.begin(), names.end());
    auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end())
      return true;
    fail("");
    message = "the name '" + std::string(*twice) +
              "' appears twice in the "
              "object that ends";
    return false;
  }

  bool parseString(std::string &into) {
    ++at;
    while (true) {
      if (atEnd())
        return fail("a string does not end");
      unsigned char c = static_cast<unsigned char>(text[at]);
      if (c == '"') {
        ++at;
        return true;
      }
      if (c < 0x20)
        return fail("a control character must be escaped");
      if (c == '\\') {
        if (!parseEscape(into))
          return false;
        continue;
      }
      size_t start = at, next = at;
      if (!decodeUtf8(text, next))
        return fail("invalid UTF-8");
      into.append(text, start, next - start);
      at = next;
    }
  }

  bool parseHex4(uint32_t &into) {
    into = 0;
    for (int i = 0; i < 4; ++i, ++at) {
      char c = peek();
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      if (digit < 0)
        return fail("\\u needs four hexadecimal digits");
      into = into * 16 + static_cast<uint32_t>(digit);
    }
    return true;
  }

  bool parseEscape(std::string &into) {
    static constexpr std::string_view letters = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    ++at;
    if (atEnd())
      return fail("a string does not end");
    if (size_t i = letters.find(text[at]); i != letters.npos) {
      into += meanings[i];
      ++at;
      return true;
    }
    if (!take('u'))
      return fail("unknown escape");
    uint32_t unit;
    if (!parseHex4(unit))
      return false;
    if (unit >= 0xDC00 && unit <= 0xDFFF)
      return fail("a low surrogate without its high one");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      uint32_t low;
      if (!take('\\') || !take('u'))
        return fail("a high surrogate without its low one");
      if (!parseHex4(low))
        return false;
      if (low < 0xDC00 || low > 0xDFFF)
        return fail("a high surrogate without its low one");
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    appendUtf8(unit, into);
    return true;
  }

  bool takeDigits() {
    size_t start = at;
    while (peek() >= '0' && peek() <= '9')
      ++at;
    return at > start;
  }

  bool parseNumber(Value &into) {
    size_t start = at;
    bool integral = true;
    take('-');
    if (take('0')) {
      if (peek() >= '0' && peek() <= '9')
        return fail("a number must not begin with 0");
    } else if (!takeDigits()) {
      return fail("expected a value");
    }
    if (take('.')) {
      integral = false;
      if (!takeDigits())
        return fail("expected digits after '.'");
    }
    if (peek() == 'e' || peek() == 'E') {
      integral = false;
      ++at;
      if (!take('+'))
        take('-');
      if (!takeDigits())
        return fail("expected digits in the exponent");
    }
    const char *first = text.data() + start, *last = text.data() + at;
    if (integral) {
      uint64_t natural;
      if (std::from_chars(first, last, natural).ec == std::errc()) {
        into = Value(natural);
        return true;
      }
      int64_t negative;
      if (std::from_chars(first, last, negative).ec == std::errc()) {
        into = Value(negative);
        return true;
      }
    }
    double real;
    if (std::from_chars(first, last, real).ec != std::errc())
      return fail("the number that ends is outside the range of a double");
    into = Value(real);
    return true;
  }

  std::string_view text;
  const std::string &where;
  const Limits &limits;
  size_t at = 0;
  size_t count = 0;
  std::string message;
  ErrorCode code = ErrorCode::InvalidArgument;
};

} // namespace

Result<Value> parse(std::string_view text, const std::string &where,
                    const Limits &limits) {
  return Parser(text, where, limits).parseDocument();
}

} // namespace json
