//===- GraphDialect.h - the graph dialect and its attributes ----*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHDIALECT_H
#define AZULEJO_IR_GRAPH_GRAPHDIALECT_H

#include "ir/opset/Opset.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/TensorEncoding.h"

#include "ir/graph/GraphDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/graph/GraphAttrs.h.inc"

namespace azulejo::graphir {

// Names of the attributes that frame a graph in a function, and of the label.
inline constexpr llvm::StringLiteral kDimsAttr = "graph.dims";
/// On a function: the sizes that some dimensions mostly have, {S = 4096}.
inline constexpr llvm::StringLiteral kTypicalAttr = "graph.typical";
/// On a function: what dimensions, or products of them, are at most in every
/// run of this code, {T = 64} or {"B*S" = 64}, where that is less than their
/// ranges say.
inline constexpr llvm::StringLiteral kMostAttr = "graph.most";
inline constexpr llvm::StringLiteral kNameAttr = "graph.name";
/// On a function argument: how many ops the graph value had before this input
/// was made; absent for 0. It keeps value numbers stable over a round trip.
inline constexpr llvm::StringLiteral kAfterAttr = "graph.after";
inline constexpr llvm::StringLiteral kLabelAttr = "label";

} // namespace azulejo::graphir

#endif // AZULEJO_IR_GRAPH_GRAPHDIALECT_H
