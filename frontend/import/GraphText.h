//===- GraphText.h - graphs as text -----------------------------*- C++ -*-===//
//
// The text of a graph is its function in the graph dialect, so that files
// given to the tools, emitted stages and test inputs are one format.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_IMPORT_GRAPHTEXT_H
#define AZULEJO_FRONTEND_IMPORT_GRAPHTEXT_H

#include "frontend/graph/Graph.h"

#include "llvm/ADT/StringRef.h"

namespace azulejo::importer {

/// Parses a module that holds exactly one function. Every malformed text gives
/// Error{InvalidGraph} whose `where` is "line L:C" when the place is known.
Result<graph::Graph> parseGraphText(llvm::StringRef text);

/// The text of a graph, in a function called "main".
std::string printGraph(const graph::Graph &graph);

} // namespace azulejo::importer

#endif // AZULEJO_FRONTEND_IMPORT_GRAPHTEXT_H
