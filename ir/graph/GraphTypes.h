//===- GraphTypes.h - between the op set and MLIR ---------------*- C++ -*-===//
//
// The two vocabularies correspond one to one: opset::DType and element types,
// opset::TensorType and ranked tensors (with a #graph.dims encoding when a
// dimension is symbolic), opset::Attr and attributes. Passes make ops through
// createGraphOp, which infers the result types.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHTYPES_H
#define AZULEJO_IR_GRAPH_GRAPHTYPES_H

#include "ir/opset/Opset.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace azulejo::graphir {

/// Nullopt for a type that no DType stands for. f64 is known, so that rules
/// can refuse it, but no tensor may hold it.
std::optional<opset::DType> toDType(mlir::Type element);
mlir::Type fromDType(mlir::MLIRContext *context, opset::DType dtype);

/// The type in which scalar bodies see an element: f32 for every float, i32
/// for i8, and i1, i32, i64 as they are.
mlir::Type computeType(mlir::Type element);

/// The op set's view of a tensor type, or why there is none: not a ranked
/// tensor, an unknown element type, a `?` without #graph.dims, a size or rank
/// beyond the graph's limits.
Result<opset::TensorType> checkedOpset(mlir::Type type);
/// The same for types of verified graph IR, where it cannot fail.
opset::TensorType toOpset(mlir::RankedTensorType type);
/// Sizes must lie in 0 .. 2^47, as the graph value guarantees.
mlir::RankedTensorType fromOpset(mlir::MLIRContext *context,
                                 const opset::TensorType &type);
/// Rank and size limits of the graph value, as an error about `where`.
Status checkExtents(const opset::TensorType &type, const std::string &where);

/// Nullopt when the attribute is of no kind that the op set has, or not of
/// this one.
std::optional<opset::Attr> toOpset(mlir::Attribute attr, opset::AttrKind kind);
mlir::Attribute toAttribute(mlir::MLIRContext *context,
                            const opset::Attr &attr);
mlir::NamedAttrList toAttributes(mlir::MLIRContext *context,
                                 const opset::AttrMap &attrs);
/// The op-set attributes of a graph op; discardable ones are left out.
opset::AttrMap attrsOf(mlir::Operation *op);

/// The op set's name of a graph op ("matmul"), empty for any other op.
llvm::StringRef kindOf(mlir::Operation *op);
/// The user's label, or empty.
llvm::StringRef labelOf(mlir::Operation *op);

/// Makes graph.<kind> with inferred result types. On a broken rule it reports
/// the error at `loc` and returns null.
mlir::Operation *createGraphOp(mlir::OpBuilder &builder, mlir::Location loc,
                               llvm::StringRef kind, mlir::ValueRange operands,
                               opset::AttrMap attrs,
                               llvm::StringRef label = {});

/// An Error as the text of a diagnostic: where, message, [rule], hint.
std::string diagnosticText(const Error &error);

} // namespace azulejo::graphir

#endif // AZULEJO_IR_GRAPH_GRAPHTYPES_H
