//===- GraphTest.cpp - building the graph value ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/graph/Graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::graph;
using testing::HasSubstr;

namespace {

template <typename T>
void expectRule(const Result<T> &result, const char *rule, const char *where) {
  ASSERT_FALSE(result) << "expected " << rule;
  EXPECT_EQ(result.error().code, ErrorCode::InvalidGraph);
  EXPECT_EQ(result.error().rule, rule) << result.error().str();
  EXPECT_THAT(result.error().where, HasSubstr(where));
}

TEST(Graph, KeepsOpsInTheOrderOfTheirMaking) {
  Graph g;
  Dim s = *g.dim("S", 1, 4096);
  ValueId x = *g.input("x", {DType::F16, {s, 384}});
  ValueId w = *g.input("w", {DType::F16, {384, 8}});
  ValueId y = (*g.append("matmul", {x, w}, {}, "proj"))[0];
  ValueId z = (*g.append("silu", {y}))[0];
  ASSERT_TRUE(g.output("z", z));
  EXPECT_TRUE(g.verify());
  ASSERT_EQ(g.ops().size(), 2u);
  EXPECT_EQ(g.ops()[0].kind, "matmul");
  EXPECT_EQ(g.ops()[1].operands, std::vector<ValueId>{y});
  EXPECT_EQ(g.type(z).str(), "f16[S, 8]");
  EXPECT_EQ(g.values()[z].producer, 1);
  EXPECT_EQ(g.values()[x].producer, -1);
  EXPECT_EQ(g.name(y), "proj");
  EXPECT_EQ(g.inputs(), (std::vector<ValueId>{x, w}));
}

TEST(Graph, AttentionTakesItsScaleFromTheHeadSize) {
  Graph g;
  ValueId q = *g.input("q", {DType::F32, {1, 4, 128, 64}});
  ValueId o = (*g.append("attention", {q, q, q}))[0];
  EXPECT_EQ(g.type(o), g.type(q));
  EXPECT_DOUBLE_EQ(std::get<double>(g.ops()[0].attrs.at("scale")), 0.125);
  EXPECT_EQ(std::get<std::string>(g.ops()[0].attrs.at("layout")), "bhsd");
}

TEST(Graph, SecondResultsHaveNamesOfTheirOwn) {
  Graph g;
  ValueId q = *g.input("q", {DType::F32, {1, 4, 128, 64}});
  auto results = *g.append("attention", {q, q, q}, {{"lse", true}}, "att");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(g.name(results[0]), "att");
  EXPECT_EQ(g.name(results[1]), "att_1");
}

TEST(Graph, DimensionRules) {
  Graph g;
  for (const char *name : {"", "2S", "S-1", "B*S", "a b"})
    expectRule(g.dim(name, 1, 2), "dim.C1", "dimension");
  expectRule(g.dim("S", -1, 2), "dim.C2", "'S'");
  expectRule(g.dim("S", 3, 2), "dim.C2", "'S'");
  expectRule(g.dim("S", 0, (int64_t{1} << 47) + 1), "dim.C2", "'S'");
  ASSERT_TRUE(g.dim("S", 1, 2));
  EXPECT_TRUE(g.dim("S", 1, 2));
  expectRule(g.dim("S", 1, 3), "dim.C3", "'S'");
  EXPECT_EQ(g.dims().size(), 1u);
}

TEST(Graph, InputRules) {
  Graph g;
  Dim stranger = Dim::symbol("T");
  expectRule(g.input("x", {DType::F32, {stranger}}), "graph.dims", "'x'");
  expectRule(g.input("x", {DType::F32, Shape(9, Dim(1))}), "graph.rank", "'x'");
  expectRule(g.input("x", {DType::F32, {-1}}), "graph.size", "'x'");
  expectRule(g.input("x", {DType::F32, {int64_t{1} << 24, int64_t{1} << 24}}),
             "graph.size", "'x'");
  expectRule(g.input("x", {DType::F64, {1}}), "graph.dtype", "'x'");
  expectRule(g.input("", {DType::F32, {1}}), "graph.names", "input");
  ASSERT_TRUE(g.input("x", {DType::F32, {0, int64_t{1} << 47}}));
  expectRule(g.input("x", {DType::F32, {1}}), "graph.names", "'x'");
  EXPECT_EQ(g.inputs().size(), 1u);
}

// Eight sums of fifty symbols have more products than memory has bytes.
TEST(Graph, DimensionsAreBounded) {
  Graph g;
  Dim sum, power(1);
  for (int i = 0; i < 50; ++i)
    sum = sum + *g.dim("S" + std::to_string(i), 1, 2);
  for (int i = 0; i < 33; ++i)
    power = power * Dim::symbol("S0");
  ASSERT_TRUE(g.input("x", {DType::F32, {sum, sum, 2}}));
  expectRule(g.input("y", {DType::F32, Shape(8, sum)}), "graph.terms", "'y'");
  expectRule(g.input("y", {DType::F32, {power}}), "graph.terms", "'y'");
  expectRule(g.append("reshape", {0}, {{"shape", Shape(8, sum)}}),
             "graph.terms", "reshape");
  EXPECT_TRUE(g.append("reshape", {0}, {{"shape", Shape{2, sum, sum}}}));
}

TEST(Graph, AppendRules) {
  Graph g;
  ValueId x = *g.input("x", {DType::F32, {8}});
  for (ValueId bad : {-1, 1, 1 << 20})
    expectRule(g.append("neg", {bad}, {}, "n"), "graph.values", "'n'");
  expectRule(g.append("negate", {x}), "op.name", "negate");
  expectRule(g.append("broadcast", {x}, {{"shape", Shape{Dim::symbol("T"), 8}}},
                      "wide"),
             "graph.dims", "'wide'");
  // A refused op leaves the graph as it was.
  EXPECT_TRUE(g.ops().empty());
  EXPECT_EQ(g.values().size(), 1u);
}

TEST(Graph, OutputRules) {
  Graph g;
  expectRule(g.verify(), "graph.outputs", "graph");
  ValueId x = *g.input("x", {DType::F32, {8}});
  expectRule(g.output("y", 5), "graph.values", "'y'");
  expectRule(g.output("x", x), "graph.names", "'x'");
  expectRule(g.output("not a name", x), "graph.names", "output");
  EXPECT_TRUE(g.output("y", x));
  EXPECT_TRUE(g.output("z", x));
  expectRule(g.output("y", x), "graph.names", "'y'");
  EXPECT_TRUE(g.verify());
}

} // namespace
