//===- Json.cpp - reading the library's JSON ------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Json.h"

#include <charconv>
#include <cmath>

namespace azulejo::cli {

static constexpr int kMaxDepth = 32;

class JsonParser {
public:
  explicit JsonParser(std::string_view text) : text(text) {}

  bool parseAll(Json &into) {
    return value(into, 0) && (skipSpace(), at == text.size());
  }
  size_t position() const { return at; }

private:
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' ||
                                text[at] == '\n' || text[at] == '\r'))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool literal(std::string_view word) {
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  bool value(Json &into, int depth) {
    skipSpace();
    if (at >= text.size() || depth > kMaxDepth)
      return false;
    switch (text[at]) {
    case '{':
      return members(into, depth);
    case '[':
      return elements(into, depth);
    case '"':
      into.theKind = Json::Text;
      return string(into.string);
    case 't':
      into.theKind = Json::Bool;
      into.number = 1;
      return literal("true");
    case 'f':
      into.theKind = Json::Bool;
      return literal("false");
    case 'n':
      return literal("null");
    default:
      return number(into);
    }
  }

  bool members(Json &into, int depth) {
    into.theKind = Json::Object;
    ++at;
    if (take('}'))
      return true;
    do {
      skipSpace();
      into.keys.emplace_back();
      into.elements.emplace_back();
      if (!string(into.keys.back()) || !take(':') ||
          !value(into.elements.back(), depth + 1))
        return false;
    } while (take(','));
    return take('}');
  }

  bool elements(Json &into, int depth) {
    into.theKind = Json::Array;
    ++at;
    if (take(']'))
      return true;
    do {
      into.elements.emplace_back();
      if (!value(into.elements.back(), depth + 1))
        return false;
    } while (take(','));
    return take(']');
  }

  bool number(Json &into) {
    size_t begin = at;
    auto digits = [&] {
      size_t first = at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        ++at;
      return at > first;
    };
    literal("-");
    bool zero = at < text.size() && text[at] == '0';
    size_t first = at;
    if (!digits() || (zero && at - first > 1))
      return false;
    if (literal(".") && !digits())
      return false;
    if (literal("e") || literal("E")) {
      if (!literal("+"))
        literal("-");
      if (!digits())
        return false;
    }
    into.theKind = Json::Number;
    const char *from = text.data() + begin, *to = text.data() + at;
    std::from_chars(from, to, into.number);
    if (auto [end, code] = std::from_chars(from, to, into.integral);
        code != std::errc() || end != to)
      into.integral =
          std::fabs(into.number) < 9e18 ? static_cast<int64_t>(into.number) : 0;
    return true;
  }

  bool hex4(uint32_t &into) {
    std::string_view digits = text.substr(at, 4);
    auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), into, 16);
    if (digits.size() != 4 || code != std::errc() || end != digits.data() + 4)
      return false;
    at += 4;
    return true;
  }

  bool escape(std::string &into) {
    static constexpr std::string_view names = "\"\\/bfnrt",
                                      values = "\"\\/\b\f\n\r\t";
    if (at >= text.size())
      return false;
    char c = text[at++];
    if (size_t i = names.find(c); i != std::string_view::npos) {
      into += values[i];
      return true;
    }
    uint32_t code = 0, low = 0;
    if (c != 'u' || !hex4(code))
      return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!literal("\\u") || !hex4(low) || low < 0xdc00 || low > 0xdfff)
        return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return false;
    }
    append(into, code);
    return true;
  }

  static void append(std::string &into, uint32_t code) {
    if (code < 0x80) {
      into += static_cast<char>(code);
      return;
    }
    int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static constexpr unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    into += static_cast<char>(lead[extra] | code >> (6 * extra));
    while (extra-- > 0)
      into += static_cast<char>(0x80 | (code >> (6 * extra) & 0x3f));
  }

  bool string(std::string &into) {
    if (at >= text.size() || text[at] != '"')
      return false;
    for (++at; at < text.size();) {
      char c = text[at++];
      if (c == '"')
        return true;
      if (static_cast<unsigned char>(c) < 0x20)
        return false;
      if (c != '\\')
        into += c;
      else if (!escape(into))
        return false;
    }
    return false;
  }

  std::string_view text;
  size_t at = 0;
};

Result<Json> Json::parse(std::string_view text, const std::string &where) {
  Json value;
  JsonParser parser(text);
  if (!parser.parseAll(value))
    return makeError(
        ErrorCode::InvalidArgument, where,
        "it is not JSON at byte " + std::to_string(parser.position()),
        "file.json", "the manual of the verb says what the file holds");
  return value;
}

const Json &Json::operator[](std::string_view name) const {
  static const Json null;
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == name)
      return elements[i];
  return null;
}

std::string quoted(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20)
      ((out += "\\u00") += digits[byte >> 4]) += digits[byte & 15];
    else
      out += c;
  }
  return out + "\"";
}

} // namespace azulejo::cli
