//===- ImportGraph.cpp - graph value to graph dialect ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/ImportGraph.h"
#include "ir/graph/GraphTypes.h"

using namespace mlir;
using namespace azulejo;
using graphir::fromOpset;

void importer::loadGraphDialects(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, graphir::GraphDialect>();
}

static ArrayAttr dimsAttr(Builder &builder, const graph::Graph &graph) {
  SmallVector<Attribute> dims;
  for (const graph::DimSymbol &symbol : graph.dims())
    dims.push_back(graphir::DimAttr::get(builder.getContext(), symbol.name,
                                         symbol.min, symbol.max));
  return builder.getArrayAttr(dims);
}

/// How many ops came before an input. Inputs are numbered with the results of
/// ops, so this is what a round trip needs to give every value its number.
static int64_t opsBefore(const graph::Graph &graph, graph::ValueId input) {
  int64_t count = 0;
  for (const graph::Op &op : graph.ops())
    count += !op.results.empty() && op.results.front() < input;
  return count;
}

static func::FuncOp declareFunction(OpBuilder &builder, Location loc,
                                    const graph::Graph &graph, StringRef name) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> inputs, outputs;
  for (graph::ValueId id : graph.inputs())
    inputs.push_back(fromOpset(context, graph.type(id)));
  for (const graph::Output &output : graph.outputs())
    outputs.push_back(fromOpset(context, graph.type(output.value)));
  auto function = func::FuncOp::create(
      builder, loc, name, builder.getFunctionType(inputs, outputs));
  if (!graph.dims().empty())
    function->setAttr(graphir::kDimsAttr, dimsAttr(builder, graph));
  for (auto [i, id] : llvm::enumerate(graph.inputs())) {
    function.setArgAttr(i, graphir::kNameAttr,
                        builder.getStringAttr(graph.name(id)));
    if (int64_t before = opsBefore(graph, id))
      function.setArgAttr(i, graphir::kAfterAttr,
                          builder.getI64IntegerAttr(before));
  }
  for (auto [i, output] : llvm::enumerate(graph.outputs()))
    function.setResultAttr(i, graphir::kNameAttr,
                           builder.getStringAttr(output.name));
  return function;
}

OwningOpRef<ModuleOp> importer::importGraph(MLIRContext &context,
                                            const graph::Graph &graph,
                                            StringRef name) {
  loadGraphDialects(context);
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  func::FuncOp function = declareFunction(builder, loc, graph, name);
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);

  std::vector<Value> values(graph.values().size());
  for (auto [i, id] : llvm::enumerate(graph.inputs()))
    values[id] = block->getArgument(i);
  for (const graph::Op &op : graph.ops()) {
    StringRef label = op.name.empty() ? StringRef(op.kind) : op.name;
    OperationState state(NameLoc::get(builder.getStringAttr(label)),
                         "graph." + op.kind);
    for (graph::ValueId id : op.operands)
      state.operands.push_back(values[id]);
    for (graph::ValueId id : op.results)
      state.addTypes(fromOpset(&context, graph.type(id)));
    state.addAttributes(graphir::toAttributes(&context, op.attrs));
    if (!op.name.empty())
      state.addAttribute(graphir::kLabelAttr, builder.getStringAttr(op.name));
    Operation *created = builder.create(state);
    for (auto [id, result] : llvm::zip(op.results, created->getResults()))
      values[id] = result;
  }
  SmallVector<Value> outputs;
  for (const graph::Output &output : graph.outputs())
    outputs.push_back(values[output.value]);
  func::ReturnOp::create(builder, loc, outputs);
  return module;
}
