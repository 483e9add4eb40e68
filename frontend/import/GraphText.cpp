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

/// The rule of what is no text of the dialect: syntax, unknown ops, attributes
/// that are missing or not where they belong.
static constexpr char kMlirRule[] = "text.mlir";

/// Takes the rule's label, "[matmul.C3]", off the end of a diagnostic: an error
/// keeps it apart from the message, and prints it behind the message.
static std::string takeRule(StringRef &message) {
  size_t open = message.rfind(" [");
  if (open == StringRef::npos || !message.ends_with("]"))
    return kMlirRule;
  StringRef label = message.substr(open + 2).drop_back();
  if (!label.contains('.') || label.find_first_of(" ,\"'") != StringRef::npos)
    return kMlirRule;
  message = message.take_front(open);
  return label.str();
}

/// The error that a diagnostic tells of. The dialect's own diagnostics end in
/// a rule and a hint (graphir::diagnosticText); those of MLIR's parser have
/// neither.
static Error errorOf(std::string place, StringRef diagnostic) {
  auto [message, hint] = diagnostic.split("; hint: ");
  if (hint.empty())
    hint = "the text is MLIR of the graph dialect; docs/ops.md lists its ops";
  std::string rule = takeRule(message);
  return makeError(ErrorCode::InvalidGraph, std::move(place), message.str(),
                   std::move(rule), hint.str());
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
