//===- GraphText.cpp - graphs as text -------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/GraphText.h"
#include "frontend/import/ImportGraph.h"
#include "frontend/import/TextBounds.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace azulejo;

/// "line 3:7" for a place in the text; empty when there is none.
static std::string placeOf(Location loc) {
  std::string place;
  loc->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    place = "line " + std::to_string(file.getLine()) + ":" +
            std::to_string(file.getColumn());
    return WalkResult::interrupt();
  });
  return place;
}

/// A rule label at the end of a diagnostic, "[matmul.C3]", or nothing.
static std::string ruleOf(StringRef message) {
  StringRef rest = message;
  while (true) {
    size_t open = rest.find('[');
    size_t close = open == StringRef::npos ? open : rest.find(']', open);
    if (close == StringRef::npos)
      return {};
    StringRef inner = rest.slice(open + 1, close);
    if (inner.contains('.') && !inner.contains(' '))
      return inner.str();
    rest = rest.substr(open + 1);
  }
}

/// The error that a diagnostic tells of. The dialect's own diagnostics end in
/// a hint (graphir::diagnosticText); those of MLIR's parser have none.
static Error errorOf(std::string place, StringRef diagnostic) {
  auto [message, hint] = diagnostic.split("; hint: ");
  if (hint.empty())
    hint = "the text is MLIR of the graph dialect; docs/ops.md lists its ops";
  return makeError(ErrorCode::InvalidGraph, std::move(place), message.str(),
                   ruleOf(message), hint.str());
}

Result<graph::Graph> importer::parseGraphText(StringRef text) {
  if (Status status = checkTextBounds(text); !status)
    return status.error();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadGraphDialects(context);
  std::optional<Error> first;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (!first && diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      first = errorOf(placeOf(diagnostic.getLocation()), diagnostic.str());
    }
    return success();
  });
  // MLIR's lexer stops at a zero, which a piece of a larger text need not have.
  std::string terminated = text.str();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(terminated, ParserConfig(&context), "graph");
  if (first)
    return *first;
  if (!module)
    return makeError(ErrorCode::InvalidGraph, "graph text", "is no module",
                     "text.module",
                     "give one func.func in a module, as azulejo compile "
                     "--emit graph prints it");
  auto functions = module->getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(module->getBody()->getOperations()) ||
      functions.empty())
    return makeError(ErrorCode::InvalidGraph, "graph text",
                     "must hold exactly one function", "text.module",
                     "put everything into one func.func");
  Result<graph::Graph> graph = exportGraph(*functions.begin());
  if (!graph) {
    Error error = graph.error();
    std::string place = placeOf((*functions.begin()).getLoc());
    error.where = place.empty() ? error.where : place + ": " + error.where;
    return error;
  }
  return graph;
}

std::string importer::printGraph(const graph::Graph &graph) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = importGraph(context, graph, "main");
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return text;
}
