//===- Json.h - a small strict JSON reader ----------------------*- C++ -*-===//
//
// Reads the JSON that the examples meet: a safetensors header, a model's
// config.json, a list of sentences, explain data. Input is hostile until proven
// otherwise, so the reader takes exactly RFC 8259 and nothing more: no
// comments, no trailing commas, no NaN, no leading zeros, valid UTF-8 only,
// paired surrogates only, and no name twice in one object. Depth and the
// number of values are limited, so memory and stack stay bounded by the caller.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_JSON_JSON_H
#define AZULEJO_EXAMPLES_JSON_JSON_H

#include "azulejo/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace json {

class Value;
struct Member;

using Array = std::vector<Value>;
/// Members keep the order of the text; names are unique.
using Object = std::vector<Member>;

/// One JSON value. Numbers that are written without fraction or exponent and
/// fit are kept as 64-bit integers, because offsets beyond 2^53 must not pass
/// through a double.
class Value {
public:
  Value() = default;
  Value(bool value) : data(value) {}
  Value(int64_t value) : data(value) {}
  Value(uint64_t value) : data(value) {}
  Value(double value) : data(value) {}
  Value(std::string value) : data(std::move(value)) {}
  Value(Array value) : data(std::make_unique<Array>(std::move(value))) {}
  Value(Object value);
  Value(Value &&) noexcept;
  Value &operator=(Value &&) noexcept;
  ~Value();

  bool isNull() const { return data.index() == 0; }
  const bool *boolean() const { return std::get_if<bool>(&data); }
  const std::string *string() const { return std::get_if<std::string>(&data); }
  const Array *array() const;
  const Object *object() const;
  /// An integer that is zero or positive and was written as one.
  std::optional<uint64_t> unsignedInteger() const;
  /// Any number.
  std::optional<double> number() const;
  /// The member of an object, or nullptr (also when this is no object).
  const Value *member(std::string_view name) const;

private:
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string,
               std::unique_ptr<Array>, std::unique_ptr<Object>>
      data;
};

struct Member {
  std::string name;
  Value value;
};

/// What a text may cost. The defaults suit files of a few megabytes.
struct Limits {
  int depth = 16;
  size_t values = 4'000'000;
};

/// Parses one value that fills the whole text; white space may surround it.
/// `where` names the text in errors, which give the byte offset.
azulejo::Result<Value> parse(std::string_view text, const std::string &where,
                             const Limits &limits = {});

} // namespace json

#endif // AZULEJO_EXAMPLES_JSON_JSON_H
