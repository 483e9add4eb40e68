//===- Trace.h - a function on tensors becomes a graph ----------*- C++ -*-===//
//
//   auto block = [](Tensor x, Tensor w) { return silu(matmul(x, w)); };
//   Tensor y = block(Tensor::of<float>(...), Tensor::of<float>(...));  // runs
//   Result<Graph> g = trace(block, TensorSpec{"x", {S, 64}, bf16}, ...);
//
// Tracing calls the function once on values of a new graph. Reading an element
// (item, read, a tensor as a condition) has no answer then; it is an error of
// the trace, since the graph would freeze one branch.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TRACE_H
#define AZULEJO_TRACE_H

#include "azulejo/Graph.h"

#include <array>
#include <tuple>

namespace azulejo {
inline namespace v0 {

/// An input of a traced function. Symbolic sizes are declared by `dims`.
struct TensorSpec {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  struct Range {
    std::string name;
    int64_t min = 0, max = 0;
  };
  std::vector<Range> dims = {};
};

namespace detail {

inline Tensor traceInput(Graph &graph, const TensorSpec &spec, size_t) {
  for (const TensorSpec::Range &range : spec.dims)
    graph.dim(range.name, range.min, range.max);
  return graph.input(spec.name, spec.shape, spec.dtype);
}
/// A host tensor stands for its type; its data is not looked at.
inline Tensor traceInput(Graph &graph, const Tensor &like, size_t index) {
  if (Status status = like.status(); !status)
    graph.shared()->fail(status.error());
  return graph.input("in" + std::to_string(index), like.shape(), like.dtype());
}

inline void traceOutput(Graph &graph, const Tensor &result, size_t &index) {
  graph.output("out" + std::to_string(index++), result);
}
inline void traceOutput(Graph &graph, const std::vector<Tensor> &results,
                        size_t &index) {
  for (const Tensor &result : results)
    traceOutput(graph, result, index);
}
template <typename A, typename B>
void traceOutput(Graph &graph, const std::pair<A, B> &results, size_t &index) {
  traceOutput(graph, results.first, index);
  traceOutput(graph, results.second, index);
}
template <typename... Results>
void traceOutput(Graph &graph, const std::tuple<Results...> &results,
                 size_t &index) {
  std::apply([&](const auto &...r) { (traceOutput(graph, r, index), ...); },
             results);
}

} // namespace detail

/// Traces `function` on inputs given as TensorSpecs or as host Tensors. The
/// outputs are called out0, out1, ... The function may return a Tensor, a
/// pair, a tuple or a vector of Tensors.
template <typename Fn, typename... Inputs>
Result<Graph> trace(Fn &&function, const Inputs &...inputs) {
  Graph graph;
  size_t index = 0;
  // Braces fix the order of evaluation, hence the order of the inputs.
  std::array<Tensor, sizeof...(Inputs)> values{
      detail::traceInput(graph, inputs, index++)...};
  auto results = std::apply(function, values);
  size_t outputs = 0;
  detail::traceOutput(graph, results, outputs);
  if (Status status = graph.status(); !status)
    return status.error();
  return graph;
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_TRACE_H
