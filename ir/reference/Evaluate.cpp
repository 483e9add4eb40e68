//===- Evaluate.cpp - running a graph op by op ----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Evaluate.h"
#include "ir/reference/Families.h"
#include "ir/reference/Float.h"

#include <type_traits>

namespace azulejo::reference {

using graph::Graph;
using opset::OpClass;
using Dims = std::map<std::string, int64_t>;

// Bounds memory, so that no graph can take the machine down.
static constexpr int64_t kMaxElements = int64_t{1} << 28;

Result<std::vector<int64_t>> concreteShape(const graph::Shape &shape,
                                           const Dims &dims,
                                           const std::string &where) {
  auto valueOf = [&](const std::string &name) -> std::optional<int64_t> {
    auto it = dims.find(name);
    return it == dims.end() ? std::nullopt : std::optional(it->second);
  };
  std::vector<int64_t> sizes;
  for (const graph::Dim &dim : shape) {
    std::optional<int64_t> size = dim.evaluate(valueOf);
    if (!size || *size < 0)
      return makeError(ErrorCode::InvalidArgument, where,
                       "dimension " + dim.str() +
                           " has no non-negative value for these sizes",
                       "reference.dims",
                       "choose sizes for which it is zero or more");
    sizes.push_back(*size);
  }
  return sizes;
}

static Status checkDims(const Graph &graph, const Dims &dims) {
  for (const graph::DimSymbol &symbol : graph.dims()) {
    auto it = dims.find(symbol.name);
    std::string where = "dimension '" + symbol.name + "'";
    if (it == dims.end())
      return makeError(ErrorCode::InvalidArgument, where, "it has no value",
                       "reference.dims", "give a size for every dimension");
    if (it->second < symbol.min || it->second > symbol.max)
      return makeError(
          ErrorCode::InvalidArgument, where,
          "value " + std::to_string(it->second) + " is outside its range " +
              std::to_string(symbol.min) + " to " + std::to_string(symbol.max),
          "reference.dims", "stay in the range of its declaration");
  }
  return {};
}

/// The concrete shapes of all values, or the first reason why there are none.
static Result<std::vector<std::vector<int64_t>>>
concreteShapes(const Graph &graph, const Dims &dims) {
  std::vector<std::vector<int64_t>> shapes;
  for (const graph::Value &value : graph.values()) {
    std::string where = "tensor '" + value.name + "'";
    auto shape = concreteShape(value.type.shape, dims, where);
    if (!shape)
      return shape.error();
    int64_t count = 1;
    bool empty = false;
    for (int64_t size : *shape)
      empty |= size == 0;
    for (int64_t size : *shape)
      if (!empty &&
          (__builtin_mul_overflow(count, size, &count) || count > kMaxElements))
        return makeError(ErrorCode::ResourceLimit, where,
                         "more than 2^28 elements", "reference.size",
                         "evaluate smaller sizes");
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

static Status checkInputs(const Graph &graph,
                          const std::vector<std::vector<int64_t>> &shapes,
                          std::span<const HostTensor> inputs) {
  if (inputs.size() != graph.inputs().size())
    return makeError(ErrorCode::InvalidArgument, "evaluate",
                     "the graph has " + std::to_string(graph.inputs().size()) +
                         " inputs, got " + std::to_string(inputs.size()),
                     "reference.inputs",
                     "give one tensor per input, in their order");
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph::ValueId id = graph.inputs()[i];
    std::string where = "input '" + graph.name(id) + "'";
    if (inputs[i].dtype != graph.type(id).dtype ||
        inputs[i].shape != shapes[id])
      return makeError(ErrorCode::InvalidArgument, where,
                       "its dtype or shape is not " + graph.type(id).str() +
                           " for these sizes",
                       "reference.inputs", "give a tensor of that type");
    if (Status status = inputs[i].validate(where); !status)
      return status;
  }
  return {};
}

template <typename T> static Tensor<T> import(const HostTensor &from) {
  Tensor<T> to{from.dtype, from.shape, {}, {}};
  to.allocate();
  int64_t count = to.elements();
  for (int64_t i = 0; i < count; ++i) {
    if (to.isFloating())
      to.floats[i] = static_cast<T>(from.flat(i));
    else
      to.ints[i] =
          from.dtype == DType::I1 ? from.flatInt(i) != 0 : from.flatInt(i);
  }
  return to;
}

template <typename T> static HostTensor toHost(const Tensor<T> &from) {
  bool oracleFloat = from.isFloating() && std::is_same_v<T, double>;
  HostTensor to =
      HostTensor::dense(oracleFloat ? DType::F64 : from.dtype, from.shape);
  int64_t count = from.elements();
  for (int64_t i = 0; i < count; ++i) {
    if (from.isFloating())
      to.setFlat(i, from.floats[i]);
    else
      to.setFlatInt(i, from.ints[i]);
  }
  return to;
}

template <typename T> static void runOp(Call<T> &call) {
  const std::string &kind = call.op.kind;
  switch (opset::findOp(kind)->opClass) {
  case OpClass::Elementwise:
    return evaluateElementwise(call);
  case OpClass::Reduction:
  case OpClass::Normalise:
    return evaluateRow(call);
  case OpClass::Contraction:
    return evaluateMatmul(call);
  case OpClass::Attention:
    return evaluateAttention(call);
  case OpClass::Layout:
    // The op set files rope under Layout, because passes treat it so; what it
    // computes is a map over rows.
    return kind == "rope" ? evaluateRow(call) : evaluateLayout(call);
  case OpClass::Generate:
  case OpClass::Update:
    return evaluateLayout(call);
  }
}

template <typename T>
static std::vector<HostTensor>
run(const Graph &graph, const std::vector<std::vector<int64_t>> &shapes,
    std::span<const HostTensor> inputs) {
  std::vector<Tensor<T>> values(graph.values().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    values[graph.inputs()[i]] = import<T>(inputs[i]);
  for (const graph::Op &op : graph.ops()) {
    Call<T> call{op, {}, {}};
    for (graph::ValueId id : op.operands)
      call.in.push_back(&values[id]);
    for (graph::ValueId id : op.results) {
      call.out.push_back({graph.type(id).dtype, shapes[id], {}, {}});
      call.out.back().allocate();
    }
    runOp(call);
    for (size_t i = 0; i < op.results.size(); ++i) {
      // The plain run stores every result in its own dtype.
      if (std::is_same_v<T, float>)
        for (T &x : call.out[i].floats)
          x = static_cast<T>(roundTo(call.out[i].dtype, x));
      values[op.results[i]] = std::move(call.out[i]);
    }
  }
  std::vector<HostTensor> results;
  for (const graph::Output &output : graph.outputs())
    results.push_back(toHost(values[output.value]));
  return results;
}

Result<std::vector<HostTensor>> evaluate(const Graph &graph, const Dims &dims,
                                         std::span<const HostTensor> inputs,
                                         Mode mode) {
  if (Status status = checkDims(graph, dims); !status)
    return status.error();
  auto shapes = concreteShapes(graph, dims);
  if (!shapes)
    return shapes.error();
  if (Status status = checkInputs(graph, *shapes, inputs); !status)
    return status.error();
  return mode == Mode::Oracle ? run<double>(graph, *shapes, inputs)
                              : run<float>(graph, *shapes, inputs);
}

} // namespace azulejo::reference
