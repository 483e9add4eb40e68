//===- Graph.h - building a computation -------------------------*- C++ -*-===//
//
//   azulejo::Graph g;
//   auto S = g.dim("S", 1, 32768);
//   auto q = g.input("q", {B, S, 32, 128}, azulejo::bf16);
//   auto o = g.attention(q, k, v, {.mask = azulejo::causal()});
//   g.output("o", o);
//
// Building needs no checks: the first error is kept and comes back from
// status() and compile(), naming the op of the line that made it. The methods
// are the functions of Ops.h, which may be used instead.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_GRAPH_H
#define AZULEJO_GRAPH_H

#include "azulejo/Ops.h"

namespace azulejo {
inline namespace v0 {

class Graph {
public:
  Graph() : state(std::make_shared<detail::GraphState>()) {
    az_graph *raw = nullptr;
    if (Status status = detail::call(az_graph_create, &raw); !status)
      state->fail(status.error());
    state->graph.reset(raw);
  }
  explicit Graph(az_graph *owned)
      : state(std::make_shared<detail::GraphState>()) {
    state->graph.reset(owned);
  }
  Graph(Graph &&) = default;
  Graph &operator=(Graph &&) = default;
  Graph(const Graph &) = delete;

  /// A symbolic dimension with an inclusive range.
  Dim dim(const std::string &name, int64_t min, int64_t max) {
    if (!state->failure)
      note(detail::call(az_graph_dim, handle(), name.c_str(), min, max));
    return Dim(name);
  }
  Tensor input(const std::string &name, const Shape &shape, DType dtype) {
    std::vector<const char *> dims;
    for (const Dim &dim : shape)
      dims.push_back(dim.str().c_str());
    az_value value = -1;
    if (!state->failure)
      note(detail::call(az_graph_input, handle(), name.c_str(),
                        static_cast<int32_t>(dtype), dims.data(), dims.size(),
                        &value));
    return Tensor(state, value);
  }
  /// Marks a result of the graph.
  void output(const std::string &name, const Tensor &value) {
    if (state->failure)
      return;
    if (value.graphState() != state)
      return state->fail(
          makeError(ErrorCode::InvalidGraph, "output '" + name + "'",
                    "the value is not of this graph", "graph.values",
                    "give a value that this graph returned"));
    note(detail::call(az_graph_output, handle(), name.c_str(),
                      value.graphValue()));
  }
  /// The first error, or what compile() would refuse at once.
  Status status() const {
    if (state->failure)
      return *state->failure;
    return detail::call(az_graph_verify,
                        static_cast<const az_graph *>(handle()));
  }
  /// The identity of what is computed; names of inner values do not count.
  Result<std::string> digest() const {
    if (state->failure)
      return *state->failure;
    return detail::callForText(az_graph_digest,
                               static_cast<const az_graph *>(handle()));
  }
  az_graph *handle() const { return state->graph.get(); }

  Tensor constant(double value, DType dtype, const Shape &shape = {},
                  const Name &name = {}) {
    return make("constant",
                {{"value", value}, {"dtype", dtype}, {"shape", shape}}, name);
  }
  Tensor iota(const Shape &shape, int64_t axis, DType dtype = i64,
              const Name &name = {}) {
    return make("iota", {{"shape", shape}, {"axis", axis}, {"dtype", dtype}},
                name);
  }

  // The ops of Ops.h. An operand of another graph is an error of that op.
#define AZULEJO_METHOD(op)                                                     \
  template <typename... Args> Tensor op(const Tensor &x, Args &&...args) {     \
    return own(#op, azulejo::op(x, std::forward<Args>(args)...));              \
  }
  AZULEJO_METHOD(exp)
  AZULEJO_METHOD(exp2)
  AZULEJO_METHOD(log)
  AZULEJO_METHOD(sqrt)
  AZULEJO_METHOD(rsqrt)
  AZULEJO_METHOD(sin)
  AZULEJO_METHOD(cos)
  AZULEJO_METHOD(tanh)
  AZULEJO_METHOD(sigmoid)
  AZULEJO_METHOD(silu)
  AZULEJO_METHOD(geluErf)
  AZULEJO_METHOD(geluTanh)
  AZULEJO_METHOD(neg)
  AZULEJO_METHOD(abs)
  AZULEJO_METHOD(relu)
  AZULEJO_METHOD(logicalNot)
  AZULEJO_METHOD(add)
  AZULEJO_METHOD(sub)
  AZULEJO_METHOD(mul)
  AZULEJO_METHOD(div)
  AZULEJO_METHOD(pow)
  AZULEJO_METHOD(minimum)
  AZULEJO_METHOD(maximum)
  AZULEJO_METHOD(logicalAnd)
  AZULEJO_METHOD(logicalOr)
  AZULEJO_METHOD(compare)
  AZULEJO_METHOD(where)
  AZULEJO_METHOD(clamp)
  AZULEJO_METHOD(cast)
  AZULEJO_METHOD(broadcast)
  AZULEJO_METHOD(gather)
  AZULEJO_METHOD(cacheUpdate)
  AZULEJO_METHOD(rope)
#undef AZULEJO_METHOD

  // Those that take braced lists state their arguments.
  Tensor reduceSum(const Tensor &x, const Axes &axes, bool keepdims = false,
                   const Name &name = {}) {
    return own("reduce_sum", azulejo::reduceSum(x, axes, keepdims, name));
  }
  Tensor reduceMax(const Tensor &x, const Axes &axes, bool keepdims = false,
                   const Name &name = {}) {
    return own("reduce_max", azulejo::reduceMax(x, axes, keepdims, name));
  }
  Tensor reduceMean(const Tensor &x, const Axes &axes, bool keepdims = false,
                    const Name &name = {}) {
    return own("reduce_mean", azulejo::reduceMean(x, axes, keepdims, name));
  }
  Tensor softmax(const Tensor &x, int64_t axis = -1, const Name &name = {}) {
    return own("softmax", azulejo::softmax(x, axis, name));
  }
  Tensor layerNorm(const Tensor &x, const std::vector<Tensor> &parameters = {},
                   const NormOptions &options = {}) {
    return own("layer_norm", azulejo::layerNorm(x, parameters, options));
  }
  Tensor rmsNorm(const Tensor &x, const std::vector<Tensor> &parameters = {},
                 const NormOptions &options = {.eps = 1e-6}) {
    return own("rms_norm", azulejo::rmsNorm(x, parameters, options));
  }
  Tensor matmul(const Tensor &a, const Tensor &b,
                const MatmulOptions &options = {}) {
    return own("matmul", azulejo::matmul(a, b, options));
  }
  Tensor attention(const Tensor &q, const Tensor &k, const Tensor &v,
                   const AttentionOptions &options = {}) {
    return own("attention", azulejo::attention(q, k, v, options));
  }
  std::pair<Tensor, Tensor>
  attentionWithLse(const Tensor &q, const Tensor &k, const Tensor &v,
                   const AttentionOptions &options = {}) {
    auto both = azulejo::attentionWithLse(q, k, v, options);
    own("attention", both.first);
    return both;
  }
  Tensor reshape(const Tensor &x, const Shape &shape, const Name &name = {}) {
    return own("reshape", azulejo::reshape(x, shape, name));
  }
  Tensor transpose(const Tensor &x, const std::vector<int64_t> &perm,
                   const Name &name = {}) {
    return own("transpose", azulejo::transpose(x, perm, name));
  }
  Tensor slice(const Tensor &x, const std::vector<int64_t> &starts,
               const Shape &sizes, const std::vector<int64_t> &steps = {},
               const Name &name = {}) {
    return own("slice", azulejo::slice(x, starts, sizes, steps, name));
  }
  Tensor concat(const std::vector<Tensor> &parts, int64_t axis,
                const Name &name = {}) {
    return own("concat", azulejo::concat(parts, axis, name));
  }

  /// What its tensors share; for Trace.h.
  const std::shared_ptr<detail::GraphState> &shared() const { return state; }

private:
  void note(Status status) {
    if (!status)
      state->fail(status.error());
  }
  Tensor make(const char *kind, const std::vector<detail::Attribute> &attrs,
              const Name &name) {
    return detail::apply(kind, {}, attrs, name, 1, state)[0];
  }
  /// An op on tensors that are not of this graph is this graph's error.
  Tensor own(const char *kind, Tensor result) {
    if (result.graphState() == state)
      return result;
    Status status = result.status();
    state->fail(status || result.isTraced()
                    ? makeError(ErrorCode::InvalidGraph,
                                detail::opWhere(kind, {}),
                                "its operands are not values of this graph",
                                "graph.values",
                                "values belong to the graph that made them")
                    : status.error());
    return Tensor(state, -1);
  }
  std::shared_ptr<detail::GraphState> state;
};

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_GRAPH_H
