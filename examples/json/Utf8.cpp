//===- Utf8.cpp - characters of UTF-8 text --------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Utf8.h"

namespace json {

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

bool isUtf8(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size())
    if (!decodeUtf8(bytes, at))
      return false;
  return true;
}

} // namespace json
