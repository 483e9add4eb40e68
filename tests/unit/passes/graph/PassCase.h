//===- PassCase.h - does a graph mean the same after a pass? ----*- C++ -*-===//
//
// Runs a pass over a graph value's function and evaluates both graphs with the
// reference evaluator on the same inputs, in f64. So a rewrite is held to what
// its ops mean and not to what they look like.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_PASSES_GRAPH_PASSCASE_H
#define AZULEJO_TESTS_UNIT_PASSES_GRAPH_PASSCASE_H

#include "frontend/import/ImportGraph.h"
#include "ir/reference/Evaluate.h"
#include "passes/graph/Graph.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace azulejo::graphpasses {

using graph::AttrMap;
using graph::Dim;
using graph::Shape;
using graph::ValueId;
using reference::HostTensor;

inline constexpr double kInf = std::numeric_limits<double>::infinity();

struct PassCase {
  graph::Graph graph;
  std::vector<HostTensor> inputs;
  std::map<std::string, int64_t> dims;
  std::mt19937 random{7};

  Dim dim(const std::string &name, int64_t value) {
    auto declared = graph.dim(name, 0, 4096);
    EXPECT_TRUE(declared.ok());
    dims[name] = value;
    return declared ? *declared : Dim(1);
  }
  /// An input whose elements come from `next`; normal numbers without one.
  ValueId input(DType dtype, const Shape &shape,
                std::function<double()> next = {}) {
    std::string name = "in" + std::to_string(inputs.size());
    auto id = graph.input(name, {dtype, shape});
    EXPECT_TRUE(id.ok()) << (id ? "" : id.error().str());
    auto sizes = reference::concreteShape(shape, dims, name);
    EXPECT_TRUE(sizes.ok());
    HostTensor tensor = HostTensor::dense(dtype, *sizes);
    std::normal_distribution<double> normal;
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i) {
      double value = next ? next() : normal(random);
      if (isFloat(dtype))
        tensor.setFlat(i, value);
      else
        tensor.setFlatInt(i, static_cast<int64_t>(value));
    }
    inputs.push_back(std::move(tensor));
    return *id;
  }
  std::vector<ValueId> ops(const std::string &kind,
                           std::vector<ValueId> operands, AttrMap attrs = {}) {
    auto ids = graph.append(kind, std::move(operands), std::move(attrs));
    EXPECT_TRUE(ids.ok()) << kind << ": " << (ids ? "" : ids.error().str());
    return ids ? *ids : std::vector<ValueId>{0, 0};
  }
  ValueId op(const std::string &kind, std::vector<ValueId> operands,
             AttrMap attrs = {}) {
    return ops(kind, std::move(operands), std::move(attrs))[0];
  }
  void output(ValueId id) {
    auto status =
        graph.output("out" + std::to_string(graph.outputs().size()), id);
    EXPECT_TRUE(status.ok());
  }

  /// The graph after `passes` ran over it.
  graph::Graph
  rewritten(const std::function<void(mlir::OpPassManager &)> &passes) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    importer::loadGraphDialects(context);
    auto module = importer::importGraph(context, graph, "main");
    mlir::PassManager manager(&context);
    passes(manager.nest<mlir::func::FuncOp>());
    EXPECT_TRUE(mlir::succeeded(manager.run(*module)));
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    auto result = importer::exportGraph(function);
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().str());
    return result ? *result : graph;
  }

  /// Both graphs give the same within `tolerance` (relative to 1 + |value|);
  /// NaN and infinities match exactly.
  void expectSameMeaning(const graph::Graph &other, double tolerance) {
    auto want = evaluate(graph, dims, inputs, reference::Mode::Oracle);
    auto got = evaluate(other, dims, inputs, reference::Mode::Oracle);
    ASSERT_TRUE(want.ok()) << want.error().str();
    ASSERT_TRUE(got.ok()) << got.error().str();
    ASSERT_EQ(got->size(), want->size());
    for (size_t i = 0; i < want->size(); ++i) {
      ASSERT_EQ((*got)[i].shape, (*want)[i].shape);
      for (int64_t j = 0, n = (*want)[i].elements(); j < n; ++j) {
        double a = (*got)[i].flat(j), b = (*want)[i].flat(j);
        if (std::isnan(b) || std::isinf(b))
          ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b)
              << "output " << i << ", element " << j << ": " << a;
        else
          ASSERT_NEAR(a, b, tolerance * (1 + std::abs(b)))
              << "output " << i << ", element " << j;
      }
    }
  }
};

inline std::set<std::string> kindsOf(const graph::Graph &graph) {
  std::set<std::string> kinds;
  for (const graph::Op &op : graph.ops())
    kinds.insert(op.kind);
  return kinds;
}

} // namespace azulejo::graphpasses

#endif // AZULEJO_TESTS_UNIT_PASSES_GRAPH_PASSCASE_H
