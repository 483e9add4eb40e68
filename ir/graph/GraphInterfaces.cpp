//===- GraphInterfaces.cpp - default methods of the interfaces ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphInterfaces.h"
#include "ir/graph/GraphTypes.h"
#include "ir/graph/ScalarEmitter.h"

#include <limits>

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

#include "ir/graph/GraphInterfaces.cpp.inc"

SmallVector<int64_t> graphir::reducedAxes(Operation *op) {
  SmallVector<int64_t> axes;
  if (auto attr = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    axes.assign(attr.asArrayRef().begin(), attr.asArrayRef().end());
  llvm::sort(axes);
  return axes;
}

TypedAttr graphir::reductionIdentity(ReductionKind kind, Type scalarType) {
  bool isMax = kind == ReductionKind::Max;
  if (auto type = dyn_cast<FloatType>(scalarType))
    return FloatAttr::get(type, isMax ? -std::numeric_limits<double>::infinity()
                                      : 0.0);
  unsigned width = scalarType.getIntOrFloatBitWidth();
  return IntegerAttr::get(scalarType, isMax ? APInt::getSignedMinValue(width)
                                            : APInt::getZero(width));
}

Value graphir::emitCombine(ReductionKind kind, OpBuilder &builder, Location loc,
                           Value lhs, Value rhs) {
  ScalarEmitter s(builder, loc);
  return kind == ReductionKind::Max ? s.max(lhs, rhs) : s.add(lhs, rhs);
}

FailureOr<AffineMap>
graphir::broadcastMap(Operation *op, unsigned operand,
                      SmallVectorImpl<opset::Dim> &symbols) {
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto source = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
  if (!result || !source || source.getRank() > result.getRank())
    return failure();
  MLIRContext *context = op->getContext();
  unsigned lead = result.getRank() - source.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < source.getRank(); ++i)
    // An axis of size 1 has only coordinate 0, stretched or not.
    exprs.push_back(source.getDimSize(i) == 1
                        ? getAffineConstantExpr(0, context)
                        : getAffineDimExpr(lead + i, context));
  return AffineMap::get(result.getRank(), symbols.size(), exprs, context);
}
