//===- ExportGraph.cpp - graph dialect to graph value ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/ImportGraph.h"
#include "ir/graph/GraphTypes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace azulejo;

namespace {

Error invalid(std::string where, std::string message, std::string rule) {
  return makeError(ErrorCode::InvalidGraph, std::move(where),
                   std::move(message), std::move(rule),
                   "write it as azulejo compile --emit graph prints a graph");
}

/// An input that is still to be made: its name, and how many ops precede it.
struct PendingInput {
  Value argument;
  std::string name;
  int64_t after = 0;
};

/// Walks one block and rebuilds it through the graph value's own checks.
class Exporter {
public:
  Status declareDims(ArrayRef<graph::DimSymbol> dims) {
    for (const graph::DimSymbol &symbol : dims)
      if (auto dim = graph.dim(symbol.name, symbol.min, symbol.max); !dim)
        return dim.error();
    return {};
  }

  Status addBody(Block &block, ArrayRef<PendingInput> inputs) {
    pending = inputs;
    int64_t count = 0;
    for (Operation &op : block.without_terminator()) {
      // Inputs are made in order: those whose time has come, and those that
      // the op reads.
      size_t needed = 0;
      for (auto [i, input] : llvm::enumerate(pending))
        if (input.after <= count ||
            llvm::is_contained(op.getOperands(), input.argument))
          needed = i + 1;
      if (Status status = makeInputs(needed); !status)
        return status;
      if (Status status = addOp(op); !status)
        return status;
      ++count;
    }
    return makeInputs(pending.size());
  }

  Status addOutput(const std::string &name, Value value) {
    auto it = ids.find(value);
    if (it == ids.end())
      return invalid("output '" + name + "'", "the value is not of this graph",
                     "graph.values");
    return graph.output(name, it->second);
  }

  graph::Graph take() { return std::move(graph); }

private:
  Status makeInputs(size_t count) {
    for (size_t i = 0; i < std::min(count, pending.size()); ++i) {
      const PendingInput &input = pending[i];
      Result<opset::TensorType> type =
          graphir::checkedOpset(input.argument.getType());
      if (!type) {
        Error error = type.error();
        error.where = "input '" + input.name + "'";
        return error;
      }
      Result<graph::ValueId> id = graph.input(input.name, *type);
      if (!id)
        return id.error();
      ids[input.argument] = *id;
    }
    pending = pending.drop_front(std::min(count, pending.size()));
    return {};
  }

  Status addOp(Operation &op) {
    std::string kind = graphir::kindOf(&op).str();
    if (!opset::findOp(kind))
      return invalid("op '" + op.getName().getStringRef().str() + "'",
                     "is not of the op set", "op.name");
    std::vector<graph::ValueId> operands;
    for (Value operand : op.getOperands()) {
      auto it = ids.find(operand);
      if (it == ids.end())
        return invalid("op '" + kind + "'",
                       "an operand is not a value of this graph",
                       "graph.values");
      operands.push_back(it->second);
    }
    Result<std::vector<graph::ValueId>> results =
        graph.append(kind, std::move(operands), graphir::attrsOf(&op),
                     graphir::labelOf(&op).str());
    if (!results)
      return results.error();
    if (results->size() != op.getNumResults())
      return invalid("op '" + kind + "'", "has another number of results",
                     kind + ".results");
    for (auto [id, result] : llvm::zip(*results, op.getResults()))
      ids[result] = id;
    return {};
  }

  graph::Graph graph;
  ArrayRef<PendingInput> pending;
  llvm::DenseMap<Value, graph::ValueId> ids;
};

} // namespace

std::vector<graph::DimSymbol> importer::dimsOf(func::FuncOp function) {
  std::vector<graph::DimSymbol> dims;
  if (auto list = function->getAttrOfType<ArrayAttr>(graphir::kDimsAttr))
    for (Attribute entry : list)
      if (auto dim = dyn_cast<graphir::DimAttr>(entry))
        dims.push_back({dim.getName().str(), dim.getMin(), dim.getMax()});
  return dims;
}

Result<graph::Graph> importer::exportGraph(func::FuncOp function) {
  std::string where = "function '" + function.getName().str() + "'";
  if (!llvm::hasSingleElement(function.getBody()))
    return invalid(where, "must have a body of one block", "graph.function");
  Block &block = function.getBody().front();
  auto exit =
      block.empty() ? func::ReturnOp() : dyn_cast<func::ReturnOp>(block.back());
  if (!exit)
    return invalid(where, "must end in func.return", "graph.function");

  Exporter exporter;
  if (Status status = exporter.declareDims(dimsOf(function)); !status)
    return status.error();
  SmallVector<PendingInput> inputs;
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    auto name = function.getArgAttrOfType<StringAttr>(i, graphir::kNameAttr);
    auto after = function.getArgAttrOfType<IntegerAttr>(i, graphir::kAfterAttr);
    if (!name)
      return invalid(where, "argument " + std::to_string(i) + " has no name",
                     "graph.names");
    inputs.push_back({argument, name.str(), after ? after.getInt() : 0});
  }
  if (Status status = exporter.addBody(block, inputs); !status)
    return status.error();
  for (auto [i, value] : llvm::enumerate(exit.getOperands())) {
    auto name = dyn_cast_or_null<StringAttr>(
        function.getResultAttr(i, graphir::kNameAttr));
    if (!name)
      return invalid(where, "result " + std::to_string(i) + " has no name",
                     "graph.names");
    if (Status status = exporter.addOutput(name.str(), value); !status)
      return status.error();
  }
  return exporter.take();
}

Result<graph::Graph> importer::exportRegion(graphir::FusedOp fused,
                                            ArrayRef<graph::DimSymbol> dims) {
  Block &block = fused.getBody().front();
  Exporter exporter;
  if (Status status = exporter.declareDims(dims); !status)
    return status.error();
  SmallVector<PendingInput> inputs;
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    inputs.push_back({argument, "in" + std::to_string(i)});
  if (Status status = exporter.addBody(block, inputs); !status)
    return status.error();
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (Status status = exporter.addOutput("out" + std::to_string(i), value);
        !status)
      return status.error();
  return exporter.take();
}
