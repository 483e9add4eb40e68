//===- Type.cpp - element types, symbolic dimensions ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Type.h"
#include "ir/opset/DimBounds.h"

#include <algorithm>
#include <cctype>

namespace azulejo::opset {

bool isInteger(DType dtype) { return !isFloat(dtype) && dtype != DType::I1; }

DType promote(DType a, DType b) {
  if (a == b)
    return a;
  if (isFloat(a) != isFloat(b))
    return isFloat(a) ? a : b;
  if (dtypeBytes(a) == dtypeBytes(b)) {
    // Same width, different kind: f16 with bf16 (or the two fp8s) needs the
    // next type that holds both; i1 with i8 is i8.
    if (isFloat(a))
      return DType::F32;
    return a == DType::I1 ? b : a;
  }
  return dtypeBytes(a) > dtypeBytes(b) ? a : b;
}

Dim::Dim(int64_t constant) {
  if (constant != 0)
    terms[{}] = constant;
}

Dim Dim::symbol(std::string name) {
  Dim dim;
  dim.terms[{std::move(name)}] = 1;
  return dim;
}

bool Dim::isConstant() const {
  return terms.empty() || (terms.size() == 1 && terms.begin()->first.empty());
}

std::optional<int64_t> Dim::constant() const {
  if (!isConstant())
    return std::nullopt;
  return terms.empty() ? 0 : terms.begin()->second;
}

std::optional<std::string> Dim::asSymbol() const {
  if (terms.size() != 1)
    return std::nullopt;
  const auto &[monomial, coefficient] = *terms.begin();
  if (monomial.size() != 1 || coefficient != 1)
    return std::nullopt;
  return monomial.front();
}

void Dim::collectSymbols(std::vector<std::string> &into) const {
  for (const auto &[monomial, coefficient] : terms)
    for (const std::string &name : monomial)
      if (std::find(into.begin(), into.end(), name) == into.end())
        into.push_back(name);
}

// Coefficients wrap on overflow (computed unsigned): a graph whose sizes do
// not fit int64 is refused where the dimension is evaluated or declared.
static int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
static int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

Dim Dim::operator+(const Dim &other) const {
  Dim sum = *this;
  for (const auto &[monomial, coefficient] : other.terms) {
    int64_t &slot = sum.terms[monomial];
    slot = wrapAdd(slot, coefficient);
    if (slot == 0)
      sum.terms.erase(monomial);
  }
  return sum;
}

Dim Dim::operator-(const Dim &other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim &other) const {
  Dim product;
  for (const auto &[ma, ca] : terms)
    for (const auto &[mb, cb] : other.terms) {
      Monomial merged;
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(),
                 std::back_inserter(merged));
      int64_t &slot = product.terms[merged];
      slot = wrapAdd(slot, wrapMul(ca, cb));
      if (slot == 0)
        product.terms.erase(merged);
    }
  return product;
}

std::optional<Dim> Dim::dividedBy(const Dim &other) const {
  if (other.terms.size() != 1)
    return *this == other && !terms.empty() ? std::optional<Dim>(Dim(1))
                                            : std::nullopt;
  const auto &[divisor, coefficient] = *other.terms.begin();
  Dim quotient;
  for (const auto &[monomial, c] : terms) {
    if (coefficient == -1 || c % coefficient != 0)
      return std::nullopt;
    Monomial rest;
    if (!std::includes(monomial.begin(), monomial.end(), divisor.begin(),
                       divisor.end()))
      return std::nullopt;
    std::set_difference(monomial.begin(), monomial.end(), divisor.begin(),
                        divisor.end(), std::back_inserter(rest));
    quotient.terms[rest] = c / coefficient;
  }
  return quotient;
}

std::optional<int64_t> Dim::evaluate(
    const std::function<std::optional<int64_t>(const std::string &)> &valueOf)
    const {
  int64_t total = 0;
  for (const auto &[monomial, coefficient] : terms) {
    int64_t product = coefficient;
    for (const std::string &name : monomial) {
      std::optional<int64_t> value = valueOf(name);
      if (!value || __builtin_mul_overflow(product, *value, &product))
        return std::nullopt;
    }
    if (__builtin_add_overflow(total, product, &total))
      return std::nullopt;
  }
  return total;
}

std::string Dim::str() const {
  if (terms.empty())
    return "0";
  std::string text;
  // Constants sort first in the map; people expect them last.
  auto append = [&](const Monomial &monomial, int64_t coefficient) {
    if (!text.empty())
      text += " + ";
    if (monomial.empty() || coefficient != 1) {
      text += std::to_string(coefficient);
      if (!monomial.empty())
        text += "*";
    }
    for (size_t i = 0; i < monomial.size(); ++i)
      text += (i ? "*" : "") + monomial[i];
  };
  for (const auto &[monomial, coefficient] : terms)
    if (!monomial.empty())
      append(monomial, coefficient);
  if (auto it = terms.find({}); it != terms.end())
    append({}, it->second);
  return text;
}

std::optional<Dim> Dim::parse(std::string_view text) {
  Dim total;
  size_t pos = 0;
  auto skip = [&] {
    while (pos < text.size() && text[pos] == ' ')
      ++pos;
  };
  auto factor = [&]() -> std::optional<Dim> {
    skip();
    size_t begin = pos;
    if (pos < text.size() && text[pos] == '-')
      ++pos;
    if (pos < text.size() &&
        std::isdigit(static_cast<unsigned char>(text[pos]))) {
      int64_t value = 0;
      for (; pos < text.size() &&
             std::isdigit(static_cast<unsigned char>(text[pos]));
           ++pos)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[pos] - '0', &value))
          return std::nullopt;
      return Dim(text[begin] == '-' ? -value : value);
    }
    if (begin != pos)
      return std::nullopt;
    auto isWord = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    while (pos < text.size() && isWord(text[pos]))
      ++pos;
    if (pos == begin)
      return std::nullopt;
    return Dim::symbol(std::string(text.substr(begin, pos - begin)));
  };
  while (true) {
    std::optional<Dim> product = factor();
    if (!product)
      return std::nullopt;
    for (skip(); pos < text.size() && text[pos] == '*'; skip()) {
      ++pos;
      std::optional<Dim> next = factor();
      if (!next)
        return std::nullopt;
      product = *product * *next;
      if (!product->terms.empty() &&
          product->terms.begin()->first.size() > kMaxFactors)
        return std::nullopt;
    }
    // In place: a sum of many equal terms stays short, but takes as many steps.
    for (const auto &[monomial, coefficient] : product->terms) {
      int64_t &slot = total.terms[monomial];
      slot = wrapAdd(slot, coefficient);
      if (slot == 0)
        total.terms.erase(monomial);
    }
    if (total.terms.size() > kMaxTerms)
      return std::nullopt;
    if (pos == text.size())
      return total;
    if (text[pos] != '+')
      return std::nullopt;
    ++pos;
  }
}

Dim elementCount(const Shape &shape) {
  Dim product(1);
  for (const Dim &dim : shape)
    product = product * dim;
  return product;
}

std::string shapeStr(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + shape[i].str();
  return text + "]";
}

std::optional<std::vector<int64_t>> staticShape(const Shape &shape) {
  std::vector<int64_t> sizes;
  for (const Dim &dim : shape) {
    std::optional<int64_t> value = dim.constant();
    if (!value)
      return std::nullopt;
    sizes.push_back(*value);
  }
  return sizes;
}

std::string TensorType::str() const {
  return std::string(dtypeName(dtype)) + shapeStr(shape);
}

} // namespace azulejo::opset
