//===- Type.h - element types, symbolic dimensions, tensor types ----------===//
//
// The plain-C++ vocabulary of shapes that the graph value, the dialects, the
// reference evaluator and the runtime share.
//
// A dimension is a polynomial with integer coefficients over named symbols,
// kept in canonical form (a sorted map from monomial to coefficient). So `B*S`
// and `S*B` are one value, reshapes can be checked exactly ("B*S*384 elements
// on both sides"), and a launch can evaluate a dimension without any rule
// engine. Ranges of symbols live in the graph, not here.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_OPSET_TYPE_H
#define AZULEJO_IR_OPSET_TYPE_H

#include "azulejo/DType.h"
#include "azulejo/Error.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace azulejo::opset {

using azulejo::DType;
using azulejo::dtypeBytes;
using azulejo::dtypeName;
using azulejo::isFloat;
using azulejo::parseDType;

bool isInteger(DType dtype);

/// The type that an elementwise op gives for operands of two types: the wider
/// of one kind; a float wins over an integer; f16 with bf16 gives f32.
DType promote(DType a, DType b);

/// A dimension: sum of coefficient * product of symbols.
class Dim {
public:
  using Monomial = std::vector<std::string>; // sorted, repeats allowed
  Dim() = default;
  Dim(int64_t constant);
  static Dim symbol(std::string name);
  /// Parses what str() prints: "S", "2*S + 1", "B*S". Nullopt on anything else.
  static std::optional<Dim> parse(std::string_view text);

  bool isConstant() const;
  /// The value of a constant dimension.
  std::optional<int64_t> constant() const;
  bool isConstant(int64_t value) const { return constant() == value; }
  /// The name, when the dimension is exactly one symbol.
  std::optional<std::string> asSymbol() const;
  void collectSymbols(std::vector<std::string> &into) const;

  Dim operator+(const Dim &other) const;
  Dim operator-(const Dim &other) const;
  Dim operator*(const Dim &other) const;
  /// Exact quotient, or nullopt when `other` does not divide every term.
  std::optional<Dim> dividedBy(const Dim &other) const;
  bool operator==(const Dim &other) const = default;
  bool operator<(const Dim &other) const { return terms < other.terms; }

  /// The value for given symbol values; nullopt on an unknown symbol or on
  /// overflow of int64.
  std::optional<int64_t> evaluate(
      const std::function<std::optional<int64_t>(const std::string &)> &valueOf)
      const;
  std::string str() const;
  const std::map<Monomial, int64_t> &monomials() const { return terms; }

private:
  std::map<Monomial, int64_t> terms; // no zero coefficients
};

using Shape = std::vector<Dim>;

/// The product of all dimensions (1 for rank 0).
Dim elementCount(const Shape &shape);
std::string shapeStr(const Shape &shape);
/// The constants of a static shape; nullopt if any dimension is symbolic.
std::optional<std::vector<int64_t>> staticShape(const Shape &shape);

struct TensorType {
  DType dtype = DType::F32;
  Shape shape;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool operator==(const TensorType &) const = default;
  /// "f32[B, S, 384]"
  std::string str() const;
};

} // namespace azulejo::opset

#endif // AZULEJO_IR_OPSET_TYPE_H
