//===- ImportGraph.h - between the graph value and the dialect --*- C++ -*-===//
//
// Both directions are generic over the op set: an op's kind, operands and
// attributes carry over by name, so a new op needs nothing here. Exporting
// what was imported gives a graph with the same canonical text.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_IMPORT_IMPORTGRAPH_H
#define AZULEJO_FRONTEND_IMPORT_IMPORTGRAPH_H

#include "frontend/graph/Graph.h"
#include "ir/graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace azulejo::importer {

/// Loads the dialects that imported graphs use into a context.
void loadGraphDialects(mlir::MLIRContext &context);

/// A module with one function of this name. Its arguments and results carry
/// the names of inputs and outputs, and the function the symbols' ranges. A
/// graph value is valid by construction, so this cannot fail.
mlir::OwningOpRef<mlir::ModuleOp> importGraph(mlir::MLIRContext &context,
                                              const graph::Graph &graph,
                                              llvm::StringRef name);

/// The graph that a function states. Refuses a body that holds anything but
/// graph ops and the return.
Result<graph::Graph> exportGraph(mlir::func::FuncOp function);

/// The graph of a fused region's body, over the given symbols. Inputs are
/// called in0, in1, ..., outputs out0, out1, ...
Result<graph::Graph> exportRegion(graphir::FusedOp fused,
                                  llvm::ArrayRef<graph::DimSymbol> dims);

/// The symbols that a function declares, in order.
std::vector<graph::DimSymbol> dimsOf(mlir::func::FuncOp function);

} // namespace azulejo::importer

#endif // AZULEJO_FRONTEND_IMPORT_IMPORTGRAPH_H
