//===- AccessMaps.cpp - which element a value reads of another ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/AccessMaps.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace azulejo::graphir {

static AffineExpr opaqueDim(MLIRContext *context, unsigned &opaque) {
  return getAffineDimExpr(opaque++, context);
}

Coordinates operandCoordinates(Operation *op, unsigned operand,
                               ArrayRef<AffineExpr> coords,
                               SmallVectorImpl<opset::Dim> &symbols,
                               unsigned &opaque) {
  MLIRContext *context = op->getContext();
  if (auto indexing = dyn_cast<IndexingOpInterface>(op)) {
    if (FailureOr<AffineMap> map = indexing.operandMap(operand, symbols);
        succeeded(map)) {
      Coordinates result;
      for (AffineExpr expr : map->getResults())
        result.push_back(simplifyAffineExpr(expr.replaceDims(coords), opaque,
                                            symbols.size()));
      return result;
    }
  }
  auto rank = [&](unsigned i) {
    return cast<RankedTensorType>(op->getOperand(i).getType()).getRank();
  };
  if (auto gather = dyn_cast<GatherOp>(op)) {
    int64_t axis = gather.getAxis(), ids = rank(1);
    if (operand == 1)
      return Coordinates(coords.slice(axis, ids));
    Coordinates result(coords.take_front(axis));
    result.push_back(opaqueDim(context, opaque));
    result.append(coords.begin() + axis + ids, coords.end());
    return result;
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    Coordinates result(coords);
    result[concat.getAxis()] = opaqueDim(context, opaque);
    return result;
  }
  if (isa<RopeOp>(op) && operand == 0) {
    Coordinates result(coords);
    result.back() = opaqueDim(context, opaque);
    return result;
  }
  if (auto update = dyn_cast<CacheUpdateOp>(op); update && operand == 1) {
    Coordinates result(coords);
    result[update.getAxis()] = opaqueDim(context, opaque);
    return result;
  }
  if (isa<CacheUpdateOp>(op) && operand == 0)
    return Coordinates(coords);
  Coordinates result;
  for (int64_t i = 0; i < rank(operand); ++i)
    result.push_back(opaqueDim(context, opaque));
  return result;
}

namespace {
struct Walker {
  const DenseSet<Value> &stops;
  SmallVectorImpl<opset::Dim> &symbols;
  unsigned opaque;
  Accesses found;
  llvm::MapVector<Value, SmallVector<Coordinates, 1>> seen;

  void visit(Value value, ArrayRef<AffineExpr> coords) {
    SmallVector<Coordinates, 1> &visited = seen[value];
    if (llvm::is_contained(visited, Coordinates(coords)))
      return;
    // Opaque numbers are fresh on every path, so repeated looks through the
    // same op would never be recognised; a bound keeps this linear.
    if (visited.size() >= 16)
      return;
    visited.push_back(Coordinates(coords));
    if (stops.contains(value)) {
      found[value].push_back(Coordinates(coords));
      return;
    }
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      visit(op->getOperand(i),
            operandCoordinates(op, i, coords, symbols, opaque));
  }
};
} // namespace

Accesses accessesOf(Value root, const DenseSet<Value> &stops,
                    SmallVectorImpl<opset::Dim> &symbols) {
  Coordinates identity;
  unsigned rank = cast<RankedTensorType>(root.getType()).getRank();
  for (unsigned i = 0; i < rank; ++i)
    identity.push_back(getAffineDimExpr(i, root.getContext()));
  Walker walker{stops, symbols, rank, {}, {}};
  walker.visit(root, identity);
  return std::move(walker.found);
}

/// Which of the first `count` dimensions an expression uses.
static llvm::SmallBitVector dimsOf(AffineExpr expr, unsigned count) {
  llvm::SmallBitVector used(count);
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e); dim && dim.getPosition() < count)
      used.set(dim.getPosition());
  });
  return used;
}

/// d_i * c summed over several i: the terms with their constant factors.
static bool collectTerms(AffineExpr expr,
                         SmallVectorImpl<std::pair<unsigned, int64_t>> &terms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    terms.push_back({dim.getPosition(), 1});
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return collectTerms(binary.getLHS(), terms) &&
           collectTerms(binary.getRHS(), terms);
  if (expr.getKind() == AffineExprKind::Mul) {
    auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!dim || !factor)
      return false;
    terms.push_back({dim.getPosition(), factor.getValue()});
    return true;
  }
  return false;
}

/// (d floordiv c) mod m, d floordiv c, d mod m or d: gives c, and m or 0.
static bool matchDigit(AffineExpr expr, unsigned dim, int64_t &divisor,
                       int64_t &modulus) {
  divisor = 1;
  modulus = 0;
  if (expr.getKind() == AffineExprKind::Mod) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto m = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!m)
      return false;
    modulus = m.getValue();
    expr = binary.getLHS();
  }
  if (expr.getKind() == AffineExprKind::FloorDiv) {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto c = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!c)
      return false;
    divisor = c.getValue();
    expr = binary.getLHS();
  }
  auto last = dyn_cast<AffineDimExpr>(expr);
  return last && last.getPosition() == dim;
}

std::optional<SmallVector<AffineExpr>>
invertCoordinates(ArrayRef<AffineExpr> exprs, ArrayRef<opset::Dim> extents,
                  SmallVectorImpl<opset::Dim> &symbols) {
  unsigned count = extents.size();
  MLIRContext *context = exprs.empty() ? nullptr : exprs[0].getContext();
  if (!context)
    return std::nullopt;
  SmallVector<AffineExpr> inverse(count);
  SmallVector<llvm::SmallBitVector> uses;
  for (AffineExpr expr : exprs)
    uses.push_back(dimsOf(expr, count));
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<unsigned> users;
    for (auto [k, used] : llvm::enumerate(uses))
      if (used.test(i))
        users.push_back(k);
    if (users.empty()) {
      if (!extents[i].isConstant(1))
        return std::nullopt;
      inverse[i] = getAffineConstantExpr(0, context);
      continue;
    }
    SmallVector<std::pair<unsigned, int64_t>> terms;
    if (users.size() == 1 && collectTerms(exprs[users[0]], terms)) {
      // A mixed-radix sum: each factor is the product of the smaller digits'
      // extents.
      AffineExpr coordinate = getAffineDimExpr(users[0], context);
      llvm::sort(terms, [](auto &a, auto &b) { return a.second < b.second; });
      int64_t expected = 1;
      for (auto [position, term] : llvm::enumerate(terms)) {
        auto [dim, factor] = term;
        if (factor != expected || dim >= count)
          return std::nullopt;
        bool last = position + 1 == terms.size();
        std::optional<int64_t> extent = extents[dim].constant();
        if (!last && !extent)
          return std::nullopt;
        if (dim == i) {
          inverse[i] = coordinate.floorDiv(factor);
          if (!last)
            inverse[i] = inverse[i] % *extent;
        }
        expected *= extent.value_or(1);
      }
      if (!inverse[i])
        return std::nullopt;
      continue;
    }
    // Digits of one dimension, spread over several coordinates.
    SmallVector<std::tuple<int64_t, int64_t, unsigned>> digits;
    for (unsigned k : users) {
      int64_t divisor, modulus;
      if (uses[k].count() != 1 || !matchDigit(exprs[k], i, divisor, modulus))
        return std::nullopt;
      digits.push_back({divisor, modulus, k});
    }
    llvm::sort(digits);
    AffineExpr sum = getAffineConstantExpr(0, context);
    int64_t expected = 1;
    for (auto [position, digit] : llvm::enumerate(digits)) {
      auto [divisor, modulus, k] = digit;
      bool last = position + 1 == digits.size();
      if (divisor != expected || (last ? modulus != 0 : modulus == 0))
        return std::nullopt;
      sum = sum + getAffineDimExpr(k, context) * divisor;
      expected = divisor * std::max<int64_t>(modulus, 1);
    }
    inverse[i] = sum;
  }
  // Every coordinate must matter, or be a constant 0 of an axis of size 1.
  for (auto [k, expr] : llvm::enumerate(exprs))
    if (uses[k].none() && expr != getAffineConstantExpr(0, context))
      return std::nullopt;
  return inverse;
}

} // namespace azulejo::graphir
