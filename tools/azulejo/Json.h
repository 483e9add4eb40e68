//===- Json.h - reading the library's JSON ----------------------*- C++ -*-===//
//
// The C ABI hands facts over as JSON, and a safetensors file begins with some.
// This reads exactly RFC 8259 within fixed limits; it is not a writer (Report.h
// is).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TOOLS_AZULEJO_JSON_H
#define AZULEJO_TOOLS_AZULEJO_JSON_H

#include "azulejo/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace azulejo::cli {

/// One value. Accessors of the wrong kind give an empty answer, so that a
/// reader of many optional fields stays short.
class Json {
public:
  enum Kind { Null, Bool, Number, Text, Array, Object };

  /// `where` names the text in errors.
  static Result<Json> parse(std::string_view text, const std::string &where);

  Kind kind() const { return theKind; }
  bool isNull() const { return theKind == Null; }
  bool truth() const { return theKind == Bool && number != 0; }
  /// Numbers written as integers that fit are exact.
  int64_t integer() const { return integral; }
  double real() const { return theKind == Number ? number : 0; }
  const std::string &text() const { return string; }
  /// Elements of an array; values of an object.
  const std::vector<Json> &items() const { return elements; }
  /// Parallel to items(), for an object.
  const std::vector<std::string> &names() const { return keys; }
  /// A member of an object; a null value if there is none.
  const Json &operator[](std::string_view name) const;

private:
  friend class JsonParser;
  Kind theKind = Null;
  double number = 0;
  int64_t integral = 0;
  std::string string;
  std::vector<Json> elements;
  std::vector<std::string> keys;
};

/// The text as a JSON string, quotes included.
std::string quoted(std::string_view text);

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_JSON_H
