//===- Utf8.h - characters of UTF-8 text ------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_JSON_UTF8_H
#define AZULEJO_EXAMPLES_JSON_UTF8_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace json {

/// Decodes the character that starts at `at` (inside `text`) and moves `at`
/// past it. Malformed input (overlong, surrogate, cut off, above U+10FFFF)
/// gives nullopt and moves `at` by one byte.
std::optional<char32_t> decodeUtf8(std::string_view text, size_t &at);

void appendUtf8(char32_t c, std::string &into);

/// Whether every character of the text is well formed.
bool isUtf8(std::string_view text);

} // namespace json

#endif // AZULEJO_EXAMPLES_JSON_UTF8_H
