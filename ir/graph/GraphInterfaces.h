//===- GraphInterfaces.h - how passes see graph ops -------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHINTERFACES_H
#define AZULEJO_IR_GRAPH_GRAPHINTERFACES_H

#include "ir/opset/Opset.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/OpDefinition.h"

namespace azulejo::graphir {

enum class ReductionKind { Sum, Max, Mean };

// What the interfaces' default methods call; passes use the interfaces.

/// The attribute "axes", sorted.
llvm::SmallVector<int64_t> reducedAxes(mlir::Operation *op);
mlir::TypedAttr reductionIdentity(ReductionKind kind, mlir::Type scalarType);
mlir::Value emitCombine(ReductionKind kind, mlir::OpBuilder &builder,
                        mlir::Location loc, mlir::Value lhs, mlir::Value rhs);
/// NumPy broadcasting of `operand` against result 0: axes align at the right,
/// an axis of size 1 under a larger one reads coordinate 0.
mlir::FailureOr<mlir::AffineMap>
broadcastMap(mlir::Operation *op, unsigned operand,
             llvm::SmallVectorImpl<opset::Dim> &symbols);

} // namespace azulejo::graphir

#include "ir/graph/GraphInterfaces.h.inc"

#endif // AZULEJO_IR_GRAPH_GRAPHINTERFACES_H
