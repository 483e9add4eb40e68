//===- Dim.h - sizes, known or symbolic -------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_DIM_H
#define AZULEJO_DIM_H

#include "azulejo/Handle.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

namespace azulejo {
inline namespace v0 {

/// A size: a number, or a polynomial over dimensions declared by Graph::dim.
class Dim {
public:
  template <std::integral T> Dim(T size) : text(std::to_string(size)) {}
  /// What str() gives: "128", "S", "2*S + 1".
  explicit Dim(std::string text) : text(std::move(text)) {}

  friend Dim operator+(const Dim &a, const Dim &b) { return join(a, '+', b); }
  friend Dim operator-(const Dim &a, const Dim &b) { return join(a, '-', b); }
  friend Dim operator*(const Dim &a, const Dim &b) { return join(a, '*', b); }
  bool operator==(const Dim &) const = default;
  const std::string &str() const { return text; }
  /// The number, when it is one.
  std::optional<int64_t> constant() const {
    if (text.empty() ||
        text.find_first_not_of("0123456789") != std::string::npos ||
        text.size() > 18)
      return std::nullopt;
    return std::stoll(text);
  }

private:
  static Dim join(const Dim &a, char op, const Dim &b) {
    // What cannot be combined keeps a text that every use of it refuses.
    Result<std::string> text =
        detail::callForText(az_dim_combine, a.text.c_str(), op, b.text.c_str());
    return Dim(text ? *text : "(" + a.text + " " + op + " " + b.text + ")");
  }
  std::string text;
};

using Shape = std::vector<Dim>;

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_DIM_H
