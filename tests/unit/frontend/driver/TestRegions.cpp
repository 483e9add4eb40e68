//===- TestRegions.cpp - fused regions to tune in tests -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TestRegions.h"

#include <gtest/gtest.h>

namespace azulejo::test {

using graph::Dim;
using graph::DType;
using graph::Graph;
using graph::ValueId;

static ValueId input(Graph &graph, const std::string &name, opset::Shape shape,
                     DType dtype = DType::F32) {
  Result<ValueId> id = graph.input(name, {dtype, std::move(shape)});
  EXPECT_TRUE(id) << id.error().str();
  return id ? *id : 0;
}

static ValueId append(Graph &graph, const std::string &kind,
                      std::vector<ValueId> operands,
                      graph::AttrMap attrs = {}) {
  auto results = graph.append(kind, std::move(operands), std::move(attrs));
  EXPECT_TRUE(results) << results.error().str();
  return results ? results->front() : 0;
}

std::string onlyRegion(const Graph &graph, driver::Sizes typical) {
  driver::Session session;
  Result<driver::FusedGraph> fused =
      driver::fuseGraph(session, graph, target::hostTarget(), true, typical);
  EXPECT_TRUE(fused) << fused.error().str();
  if (!fused)
    return {};
  driver::RegionTable table = driver::regionsOf(*fused);
  EXPECT_EQ(table.texts.size(), 1u);
  return table.texts.empty() ? std::string() : table.texts.front();
}

std::string rowChainRegion(int64_t width, driver::Sizes typical) {
  Graph graph;
  Dim S = *graph.dim("S", 1, 4096);
  ValueId x = input(graph, "x", {S, Dim(width)});
  ValueId bias = input(graph, "bias", {Dim(width)});
  ValueId sum = append(graph, "add", {append(graph, "add", {x, x}), bias});
  ValueId y = append(graph, "softmax", {sum}, {{"axis", int64_t{-1}}});
  EXPECT_TRUE(graph.output("y", y));
  return onlyRegion(graph, std::move(typical));
}

std::string exactRowsRegion() {
  Graph graph;
  Dim S = *graph.dim("S", 1, 4096);
  ValueId x = input(graph, "x", {S, Dim(768)});
  ValueId bias = input(graph, "bias", {Dim(768)});
  ValueId sum = append(graph, "add", {append(graph, "add", {x, x}), bias});
  EXPECT_TRUE(graph.output("y", append(graph, "relu", {sum})));
  return onlyRegion(graph);
}

static ValueId castTo(Graph &graph, ValueId x, DType dtype) {
  return append(graph, "cast", {x}, {{"dtype", dtype}});
}

std::string rowSumsRegion() {
  Graph graph;
  Dim S = *graph.dim("S", 1, 4096);
  ValueId x = input(graph, "x", {S, Dim(1000)}, DType::BF16),
          y = input(graph, "y", {S, Dim(1000)}, DType::BF16);
  ValueId difference =
      append(graph, "sub",
             {castTo(graph, x, DType::F32), castTo(graph, y, DType::F32)});
  EXPECT_TRUE(
      graph.output("sums", append(graph, "reduce_sum", {difference},
                                  {{"axes", std::vector<int64_t>{1}}})));
  return onlyRegion(graph);
}

std::string pickedRowsRegion() {
  Graph graph;
  Dim S = *graph.dim("S", 1, 4096);
  ValueId table = input(graph, "table", {Dim(100), Dim(64)}, DType::F16);
  ValueId ids = input(graph, "ids", {S}, DType::I32);
  ValueId mask = input(graph, "mask", {S, Dim(64)}, DType::I1);
  ValueId x = input(graph, "x", {S, Dim(64)}, DType::F16);
  ValueId rows = append(graph, "gather", {table, ids});
  ValueId twice = append(graph, "add", {rows, rows});
  EXPECT_TRUE(graph.output("y", append(graph, "where", {mask, twice, x})));
  return onlyRegion(graph);
}

std::string residualRegion(DType dtype, int64_t batches, int64_t depth) {
  Graph graph;
  Dim M = *graph.dim("M", 1, 2048);
  auto shape = [&](int64_t columns) {
    opset::Shape rows{M, Dim(columns)};
    if (batches > 1)
      rows.insert(rows.begin(), Dim(batches));
    return rows;
  };
  ValueId x = input(graph, "x", shape(depth), dtype);
  ValueId w = input(graph, "w", {Dim(depth), Dim(160)}, dtype);
  ValueId residual = input(graph, "r", shape(160), dtype);
  ValueId sum =
      append(graph, "add", {append(graph, "matmul", {x, w}), residual});
  EXPECT_TRUE(graph.output("y", append(graph, "relu", {sum})));
  return onlyRegion(graph);
}

std::string squareRegion(DType dtype, int64_t size) {
  Graph graph;
  ValueId x = input(graph, "x", {Dim(size), Dim(size)}, dtype);
  ValueId w = input(graph, "w", {Dim(size), Dim(size)}, dtype);
  EXPECT_TRUE(graph.output("y", append(graph, "matmul", {x, w})));
  return onlyRegion(graph);
}

std::string roundedRegion(bool twice) {
  Graph graph;
  Dim M = *graph.dim("M", 1, 2048);
  ValueId x = input(graph, "x", {M, Dim(96)}, DType::BF16);
  ValueId w = input(graph, "w", {Dim(96), Dim(160)}, DType::BF16);
  ValueId y =
      append(graph, "matmul",
             {castTo(graph, x, DType::F32), castTo(graph, w, DType::F32)});
  if (twice)
    y = castTo(graph, castTo(graph, y, DType::F16), DType::F32);
  EXPECT_TRUE(graph.output("y", castTo(graph, y, DType::BF16)));
  return onlyRegion(graph);
}

std::string matmulRegion() {
  Graph graph;
  Dim M = *graph.dim("M", 1, 2048);
  ValueId x = input(graph, "x", {M, Dim(96)});
  ValueId w = input(graph, "w", {Dim(96), Dim(160)});
  ValueId bias = input(graph, "bias", {Dim(160)});
  ValueId sum = append(graph, "add", {append(graph, "matmul", {x, w}), bias});
  EXPECT_TRUE(graph.output("y", append(graph, "gelu_erf", {sum})));
  return onlyRegion(graph);
}

std::string halfMatmulRegion() {
  Graph graph;
  Dim M = *graph.dim("M", 1, 2048);
  ValueId x = input(graph, "x", {M, Dim(96)}, DType::F16);
  ValueId w = input(graph, "w", {Dim(96), Dim(160)}, DType::F16);
  EXPECT_TRUE(graph.output("y", append(graph, "matmul", {x, w})));
  return onlyRegion(graph);
}

std::string halfAttentionRegion() {
  Graph graph;
  Dim B = *graph.dim("B", 1, 4), S = *graph.dim("S", 1, 512);
  opset::Shape shape{B, Dim(4), S, Dim(64)};
  ValueId q = input(graph, "q", shape, DType::F16),
          k = input(graph, "k", shape, DType::F16),
          v = input(graph, "v", shape, DType::F16);
  EXPECT_TRUE(graph.output("y", append(graph, "attention", {q, k, v})));
  return onlyRegion(graph);
}

std::string decodeRegion(int64_t size, DType dtype, int64_t heads) {
  Graph graph;
  Dim K = *graph.dim("K", 0, 2048);
  opset::Shape keys{Dim(2), Dim(2), K, Dim(size)};
  ValueId q = input(graph, "q", {Dim(2), Dim(heads), Dim(1), Dim(size)}, dtype),
          k = input(graph, "k", keys, dtype),
          v = input(graph, "v", keys, dtype);
  EXPECT_TRUE(graph.output("y", append(graph, "attention", {q, k, v})));
  return onlyRegion(graph);
}

std::string fewRowsRegion(DType dtype) {
  Graph graph;
  Dim K = *graph.dim("K", 0, 4096);
  ValueId x = input(graph, "x", {Dim(3), K}, dtype);
  ValueId w = input(graph, "w", {K, Dim(160)}, DType::I8);
  ValueId scale = input(graph, "scale", {Dim(160)}, dtype);
  ValueId wide = append(graph, "cast", {w}, {{"dtype", dtype}});
  ValueId product = append(graph, "matmul", {x, wide});
  EXPECT_TRUE(graph.output("y", append(graph, "mul", {product, scale})));
  return onlyRegion(graph);
}

std::string attentionRegion() {
  Graph graph;
  Dim B = *graph.dim("B", 1, 4), S = *graph.dim("S", 1, 512);
  opset::Shape shape{B, Dim(4), S, Dim(32)};
  ValueId q = input(graph, "q", shape), k = input(graph, "k", shape),
          v = input(graph, "v", shape);
  EXPECT_TRUE(graph.output("y", append(graph, "attention", {q, k, v})));
  return onlyRegion(graph);
}

Status openIn(driver::CandidateRunner &runner, const std::string &region) {
  Result<driver::References> references = runner.makeReferences(region);
  return references ? runner.open(region, *references) : references.error();
}

} // namespace azulejo::test
