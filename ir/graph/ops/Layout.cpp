//===- Layout.cpp - where data movement reads its elements ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

FailureOr<AffineMap>
TransposeOp::operandMap(unsigned, SmallVectorImpl<opset::Dim> &symbols) {
  ArrayRef<int64_t> perm = getPerm();
  SmallVector<AffineExpr> exprs(perm.size());
  for (auto [i, axis] : llvm::enumerate(perm))
    exprs[axis] = getAffineDimExpr(i, getContext());
  return AffineMap::get(perm.size(), symbols.size(), exprs, getContext());
}

FailureOr<AffineMap> SliceOp::operandMap(unsigned,
                                         SmallVectorImpl<opset::Dim> &symbols) {
  SmallVector<AffineExpr> exprs;
  for (auto [i, start, step] : llvm::enumerate(getStarts(), getSteps()))
    exprs.push_back(getAffineDimExpr(i, getContext()) * step + start);
  return AffineMap::get(exprs.size(), symbols.size(), exprs, getContext());
}

namespace {

/// Builds a reshape's map group by group. A group is a run of result axes and
/// a run of operand axes with equally many elements; only within a group are
/// coordinates made linear and taken apart again, so axes that pass through
/// unchanged stay plain, whatever their size.
class ReshapeMap {
public:
  ReshapeMap(const opset::Shape &result, const opset::Shape &source,
             SmallVectorImpl<opset::Dim> &symbols, MLIRContext *context)
      : result(result), source(source), symbols(symbols), context(context),
        exprs(source.size(), getAffineConstantExpr(0, context)) {}

  AffineMap build() {
    // Without elements there are no coordinates to map.
    if (!opset::elementCount(result).isConstant(0))
      matchGroups();
    return AffineMap::get(result.size(), symbols.size(), exprs, context);
  }

private:
  void matchGroups() {
    size_t i = 0, j = 0; // next axis of the result, of the source
    while (i < result.size() || j < source.size()) {
      // Axes of size 1 hold only coordinate 0 and join no group.
      if (i < result.size() && result[i].isConstant(1)) {
        ++i;
      } else if (j < source.size() && source[j].isConstant(1)) {
        ++j;
      } else {
        auto [rows, columns] = smallestGroup(i, j);
        mapGroup(i, i + rows, j, j + columns);
        i += rows;
        j += columns;
      }
    }
  }

  static opset::Dim product(const opset::Shape &shape, size_t begin,
                            size_t end) {
    return opset::elementCount(
        opset::Shape(shape.begin() + begin, shape.begin() + end));
  }

  /// How many result and source axes from (i, j) on make the smallest group;
  /// all the rest, if nothing smaller is equal.
  std::pair<size_t, size_t> smallestGroup(size_t i, size_t j) const {
    size_t rows = result.size() - i, columns = source.size() - j;
    for (size_t total = 2; total < rows + columns; ++total)
      for (size_t a = 1; a < total && a <= rows; ++a)
        if (total - a <= columns &&
            product(result, i, i + a) == product(source, j, j + total - a))
          return {a, total - a};
    return {rows, columns};
  }

  AffineExpr sizeExpr(const opset::Dim &size) {
    if (std::optional<int64_t> value = size.constant())
      return getAffineConstantExpr(*value, context);
    auto *it = llvm::find(symbols, size);
    size_t index = it - symbols.begin();
    if (it == symbols.end())
      symbols.push_back(size);
    return getAffineSymbolExpr(index, context);
  }

  void mapGroup(size_t i, size_t iEnd, size_t j, size_t jEnd) {
    AffineExpr linear = getAffineConstantExpr(0, context);
    for (size_t axis = i; axis < iEnd; ++axis) {
      AffineExpr d = getAffineDimExpr(axis, context);
      linear = axis + 1 == iEnd
                   ? linear + d
                   : linear + d * sizeExpr(product(result, axis + 1, iEnd));
    }
    for (size_t axis = j; axis < jEnd; ++axis) {
      AffineExpr expr = linear;
      if (axis + 1 < jEnd)
        expr = expr.floorDiv(sizeExpr(product(source, axis + 1, jEnd)));
      // The outermost coordinate of a group cannot exceed its axis.
      if (axis > j)
        expr = expr % sizeExpr(source[axis]);
      exprs[axis] = expr;
    }
  }

  const opset::Shape &result, &source;
  SmallVectorImpl<opset::Dim> &symbols;
  MLIRContext *context;
  SmallVector<AffineExpr> exprs;
};

} // namespace

FailureOr<AffineMap>
ReshapeOp::operandMap(unsigned, SmallVectorImpl<opset::Dim> &symbols) {
  opset::Shape result =
      toOpset(cast<RankedTensorType>(getResult().getType())).shape;
  opset::Shape source =
      toOpset(cast<RankedTensorType>(getInput().getType())).shape;
  return ReshapeMap(result, source, symbols, getContext()).build();
}
