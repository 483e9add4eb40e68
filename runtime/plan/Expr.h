//===- Expr.h - sizes that follow from dimensions ---------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_PLAN_EXPR_H
#define AZULEJO_RUNTIME_PLAN_EXPR_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace azulejo::plan {

/// A size in reverse Polish form over the plan's dimensions.
class Expr {
public:
  enum Code : int64_t {
    Const,
    DimRef,
    Add,
    Sub,
    Mul,
    CeilDiv,
    FloorDiv,
    Min,
    Max
  };
  Expr() : Expr(0) {}
  Expr(int64_t constant) : code{Const, constant} {}
  static Expr dim(int64_t index);
  static Expr combine(Code op, const Expr &a, const Expr &b);
  friend Expr operator+(const Expr &a, const Expr &b) {
    return combine(Add, a, b);
  }
  friend Expr operator*(const Expr &a, const Expr &b) {
    return combine(Mul, a, b);
  }
  friend Expr operator-(const Expr &a, const Expr &b) {
    return combine(Sub, a, b);
  }
  friend Expr ceilDiv(const Expr &a, const Expr &b) {
    return combine(CeilDiv, a, b);
  }
  friend Expr max(const Expr &a, const Expr &b) { return combine(Max, a, b); }
  friend Expr min(const Expr &a, const Expr &b) { return combine(Min, a, b); }

  /// False on overflow, on division by zero, on a dimension out of range, or
  /// when the code is malformed (a hostile plan); never reads out of bounds.
  bool evaluate(std::span<const int64_t> dims, int64_t &result) const;
  /// What evaluate() needs of the code, checked once for all values.
  bool isWellFormed(size_t dimCount) const;
  /// The dimension's index, when the expression is exactly one dimension.
  std::optional<int64_t> asDim() const;
  bool operator==(const Expr &) const = default;

  /// The raw code, for serialisation. Const and DimRef are followed by their
  /// immediate; the other operations stand alone and take two values.
  std::vector<int64_t> code;
};

} // namespace azulejo::plan

#endif // AZULEJO_RUNTIME_PLAN_EXPR_H
