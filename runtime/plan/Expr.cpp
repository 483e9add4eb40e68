//===- Expr.cpp - building and evaluating launch expressions --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/plan/Expr.h"

#include <algorithm>

namespace azulejo::plan {

// Deep enough for any expression the compiler makes; sums and products that
// lean to the left need two slots.
static constexpr int kStackSlots = 64;

static bool divide(int64_t a, int64_t b, bool up, int64_t &result) {
  if (b == 0 || (b == -1 && a == INT64_MIN))
    return false;
  int64_t quotient = a / b, rest = a % b;
  bool exactNegative = (rest < 0) != (b < 0);
  if (rest != 0 && up != exactNegative)
    quotient += up ? 1 : -1;
  result = quotient;
  return true;
}

static bool applyCode(int64_t op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case Expr::Add:
    return !__builtin_add_overflow(a, b, &result);
  case Expr::Sub:
    return !__builtin_sub_overflow(a, b, &result);
  case Expr::Mul:
    return !__builtin_mul_overflow(a, b, &result);
  case Expr::CeilDiv:
    return divide(a, b, true, result);
  case Expr::FloorDiv:
    return divide(a, b, false, result);
  case Expr::Min:
    result = std::min(a, b);
    return true;
  case Expr::Max:
    result = std::max(a, b);
    return true;
  }
  return false;
}

Expr Expr::dim(int64_t index) {
  Expr expr;
  expr.code = {DimRef, index};
  return expr;
}

Expr Expr::combine(Code op, const Expr &a, const Expr &b) {
  auto constantOf = [](const Expr &e, int64_t &value) {
    if (e.code.size() != 2 || e.code[0] != Const)
      return false;
    value = e.code[1];
    return true;
  };
  int64_t x = 0, y = 0, folded = 0;
  bool isX = constantOf(a, x), isY = constantOf(b, y);
  if (isX && isY && applyCode(op, x, y, folded))
    return Expr(folded);
  // Only identities that hold for every value, so that an expression that
  // would overflow still does.
  if (isY && ((y == 0 && (op == Add || op == Sub)) ||
              (y == 1 && (op == Mul || op == CeilDiv || op == FloorDiv))))
    return a;
  if (isX && ((x == 0 && op == Add) || (x == 1 && op == Mul)))
    return b;
  Expr expr;
  expr.code = a.code;
  expr.code.insert(expr.code.end(), b.code.begin(), b.code.end());
  expr.code.push_back(op);
  return expr;
}

bool Expr::evaluate(std::span<const int64_t> dims, int64_t &result) const {
  // Most sizes are a number or a dimension.
  if (code.size() == 2 && code[0] == Const) {
    result = code[1];
    return true;
  }
  if (code.size() == 2 && code[0] == DimRef && code[1] >= 0 &&
      static_cast<size_t>(code[1]) < dims.size()) {
    result = dims[static_cast<size_t>(code[1])];
    return true;
  }
  int64_t stack[kStackSlots];
  int depth = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    int64_t op = code[i];
    if (op == Const || op == DimRef) {
      if (++i == code.size() || depth == kStackSlots)
        return false;
      int64_t immediate = code[i];
      if (op == DimRef) {
        if (immediate < 0 || static_cast<size_t>(immediate) >= dims.size())
          return false;
        immediate = dims[static_cast<size_t>(immediate)];
      }
      stack[depth++] = immediate;
      continue;
    }
    if (depth < 2 ||
        !applyCode(op, stack[depth - 2], stack[depth - 1], stack[depth - 2]))
      return false;
    --depth;
  }
  if (depth != 1)
    return false;
  result = stack[0];
  return true;
}

bool Expr::isWellFormed(size_t dimCount) const {
  int depth = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    int64_t op = code[i];
    if (op == Const || op == DimRef) {
      if (++i == code.size() || ++depth > kStackSlots)
        return false;
      if (op == DimRef &&
          (code[i] < 0 || static_cast<size_t>(code[i]) >= dimCount))
        return false;
      continue;
    }
    if (op < Add || op > Max || depth < 2)
      return false;
    --depth;
  }
  return depth == 1;
}

std::optional<int64_t> Expr::asDim() const {
  if (code.size() == 2 && code[0] == DimRef)
    return code[1];
  return std::nullopt;
}

} // namespace azulejo::plan
