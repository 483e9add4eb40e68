//===- RoundTripTest.cpp - graph value to text and back -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/import/GraphText.h"
#include "frontend/import/ImportGraph.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace azulejo;
using graph::AttrMap;
using graph::Dim;
using graph::DType;
using graph::Graph;
using graph::Shape;
using graph::ValueId;

namespace {

/// Text and back gives the same canonical form, twice.
void expectRoundTrip(const Graph &graph) {
  std::string text = importer::printGraph(graph);
  Result<Graph> back = importer::parseGraphText(text);
  ASSERT_TRUE(back) << back.error().str() << "\n" << text;
  EXPECT_EQ(back->canonical(), graph.canonical()) << text;
  EXPECT_EQ(importer::printGraph(*back), text);
}

ValueId append(Graph &graph, const std::string &kind,
               std::vector<ValueId> operands, AttrMap attrs = {},
               const std::string &name = {}) {
  auto results =
      graph.append(kind, std::move(operands), std::move(attrs), name);
  EXPECT_TRUE(results) << results.error().str();
  return results ? results->front() : 0;
}

TEST(RoundTrip, EveryOp) {
  struct Case {
    std::string kind;
    std::vector<graph::TensorType> operands;
    AttrMap attrs;
  };
  Dim B = Dim::symbol("B"), S = Dim::symbol("S");
  std::map<std::string, Case> cases;
  auto add = [&](Case c) { cases[c.kind] = c; };
  for (const opset::OpSpec &spec : opset::allOps())
    if (spec.opClass == opset::OpClass::Elementwise)
      add({spec.name,
           std::vector<graph::TensorType>(spec.minOperands,
                                          {DType::BF16, {B, S}}),
           {}});
  for (const char *logical : {"and", "or", "not"})
    for (graph::TensorType &type : cases[logical].operands)
      type.dtype = DType::I1;
  cases["where"].operands[0].dtype = DType::I1;
  cases["cast"].attrs = {{"dtype", DType::F8E5M2}};
  cases["compare"].attrs = {{"predicate", std::string("ge")}};
  cases["clamp"].attrs = {{"low", -HUGE_VAL}, {"high", 0.1}};
  graph::TensorType row{DType::F32, {B, S, 64}}, weight{DType::F16, {64}};
  for (const char *reduce : {"reduce_sum", "reduce_max", "reduce_mean"})
    add({reduce, {row}, {{"axes", std::vector<int64_t>{2, 0}}}});
  add({"softmax", {row}, {}});
  add({"layer_norm", {row, weight, weight}, {{"eps", 1.0 / 3}}});
  add({"rms_norm", {row, weight}, {}});
  graph::TensorType table{DType::F32, {S, 32}};
  add({"rope", {row, table, table}, {}});
  add({"matmul", {row, {DType::BF16, {128, 64}}}, {{"transpose_b", true}}});
  graph::TensorType q{DType::F16, {B, 4, S, 64}};
  add({"attention",
       {q, q, q, {DType::I1, {S, S}}},
       {{"roles", std::string("mask")}, {"lse", true}}});
  add({"constant", {}, {{"value", std::nan("")}, {"dtype", DType::F16}}});
  add({"iota", {}, {{"shape", Shape{S, 4}}, {"axis", int64_t{0}}}});
  add({"broadcast", {weight}, {{"shape", Shape{B, S, 64}}}});
  add({"reshape", {row}, {{"shape", Shape{B * S, 8, 8}}}});
  add({"transpose", {row}, {{"perm", std::vector<int64_t>{2, 1, 0}}}});
  add({"slice",
       {row},
       {{"starts", std::vector<int64_t>{0, 0, 1}},
        {"sizes", Shape{B, S, 31}},
        {"steps", std::vector<int64_t>{1, 1, 2}}}});
  add({"concat", {row, row, row}, {{"axis", int64_t{1}}}});
  add({"gather", {weight, {DType::I32, {B}}}, {}});
  add({"cache_update",
       {row, {DType::F32, {B, 1, 64}}, {DType::I64, {}}},
       {{"axis", int64_t{1}}}});

  // The precision is left out of texts only where it is the default.
  Graph precise;
  graph::TensorType square{DType::F32, {1, 1, 8, 8}};
  AttrMap tf32{{"precision", std::string("tf32")}};
  std::vector<ValueId> x{*precise.input("x", square)};
  for (const char *kind : {"matmul", "attention"})
    for (const AttrMap &attrs : {tf32, AttrMap()}) {
      std::vector<ValueId> operands(kind == std::string("matmul") ? 2 : 3,
                                    x[0]);
      auto results = precise.append(kind, operands, attrs);
      ASSERT_TRUE(results) << results.error().str();
      ASSERT_TRUE(precise.output("out" + std::to_string(results->front()),
                                 results->front()));
    }
  expectRoundTrip(precise);

  for (const opset::OpSpec &spec : opset::allOps()) {
    SCOPED_TRACE(spec.name);
    ASSERT_TRUE(cases.count(spec.name)) << "no case for this op";
    const Case &c = cases[spec.name];
    Graph graph;
    ASSERT_TRUE(graph.dim("B", 0, 7));
    ASSERT_TRUE(graph.dim("S", 1, int64_t{1} << 40));
    std::vector<ValueId> operands;
    for (const graph::TensorType &type : c.operands)
      operands.push_back(
          *graph.input("in" + std::to_string(operands.size()), type));
    auto results = graph.append(spec.name, operands, c.attrs, "the_label");
    ASSERT_TRUE(results) << results.error().str();
    for (ValueId id : *results)
      ASSERT_TRUE(graph.output("out" + std::to_string(id), id));
    expectRoundTrip(graph);
  }
}

TEST(RoundTrip, InputsBetweenOpsKeepTheirNumbers) {
  Graph graph;
  ValueId a = *graph.input("a", {DType::F32, {4}});
  ValueId x = append(graph, "exp", {a});
  ValueId b = *graph.input("b", {DType::F32, {4}});
  ValueId y = append(graph, "add", {x, b}, {}, "sum");
  ValueId c = *graph.input("c", {DType::F32, {4}});
  ASSERT_TRUE(graph.output("y", y));
  ASSERT_TRUE(graph.output("again", y));
  ASSERT_TRUE(graph.output("copy", c));
  expectRoundTrip(graph);
}

TEST(RoundTrip, LabelsSurviveAndDoNotEnterTheKey) {
  Graph graph;
  ValueId a = *graph.input("a", {DType::F32, {4}});
  ValueId x = append(graph, "exp", {a}, {}, "a \"quoted\"\nlabel");
  ASSERT_TRUE(graph.output("y", x));
  Result<Graph> back = importer::parseGraphText(importer::printGraph(graph));
  ASSERT_TRUE(back) << back.error().str();
  EXPECT_EQ(back->ops()[0].name, graph.ops()[0].name);
}

TEST(RoundTrip, ImportedModulesVerify) {
  mlir::MLIRContext context;
  Graph graph;
  Dim S = *graph.dim("S", 1, 8);
  ValueId a = *graph.input("a", {DType::F32, {S + Dim(1), 4}});
  ASSERT_TRUE(graph.output("y", append(graph, "exp", {a})));
  auto module = importer::importGraph(context, graph, "g");
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
}

TEST(RoundTrip, FusedRegionsExport) {
  mlir::MLIRContext context;
  importer::loadGraphDialects(context);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
    func.func @f(%x: tensor<?xf32, #graph.dims<"S">>, %c: tensor<f32>) {
      %0 = graph.fused "RowChain" (%x, %c)
          : (tensor<?xf32, #graph.dims<"S">>, tensor<f32>)
          -> tensor<?xf32, #graph.dims<"S">> {
      ^bb0(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<f32>):
        %1 = graph.mul %a, %b
            : (tensor<?xf32, #graph.dims<"S">>, tensor<f32>)
            -> tensor<?xf32, #graph.dims<"S">>
        graph.yield %1 : tensor<?xf32, #graph.dims<"S">>
      }
      return
    })mlir",
                                              mlir::ParserConfig(&context));
  ASSERT_TRUE(module);
  graphir::FusedOp fused;
  module->walk([&](graphir::FusedOp op) { fused = op; });
  graph::DimSymbol dims[] = {{"S", 1, 8}};
  Result<Graph> graph = importer::exportRegion(fused, dims);
  ASSERT_TRUE(graph) << graph.error().str();

  Graph expected;
  Dim S = *expected.dim("S", 1, 8);
  ValueId a = *expected.input("in0", {DType::F32, {S}});
  ValueId b = *expected.input("in1", {DType::F32, {}});
  ASSERT_TRUE(expected.output("out0", append(expected, "mul", {a, b})));
  EXPECT_EQ(graph->canonical(), expected.canonical());

  // Without the symbol's range the region is no graph.
  EXPECT_FALSE(importer::exportRegion(fused, {}));
}

} // namespace
