//===- Tensor.h - values of a graph, or host data ---------------*- C++ -*-===//
//
// A Tensor is a cheap handle to one of two things:
//
//  - a value of a Graph (made by Graph::input and by ops on such tensors);
//  - host data (Tensor::of), on which ops run at once ("eager").
//
// The ops (Ops.h) take either, so one function written against tensors can be
// run eagerly and can be traced into a graph (Trace.h).
//
// A failed op gives a Tensor that carries the failure; ops on it do nothing.
// The first error of a graph is kept in the graph, so that building code needs
// no checks between the lines: compile() and Graph::status() report it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TENSOR_H
#define AZULEJO_TENSOR_H

#include "azulejo/DType.h"
#include "azulejo/Dim.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace azulejo {
inline namespace v0 {

inline constexpr DType f32 = DType::F32, f16 = DType::F16, bf16 = DType::BF16,
                       i1 = DType::I1, i8 = DType::I8, i32 = DType::I32,
                       i64 = DType::I64, f8e4m3 = DType::F8E4M3,
                       f8e5m2 = DType::F8E5M2;

namespace detail {

using GraphHandle = std::unique_ptr<az_graph, Free<az_graph_destroy>>;

/// What a Graph and its tensors share.
struct GraphState {
  GraphHandle graph;
  std::optional<Error> failure; ///< the first one
  void fail(Error error) {
    if (!failure)
      failure = std::move(error);
  }
};

/// Contiguous host data, or why there is none.
struct HostData {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  std::optional<Error> failure;
};

template <typename T> constexpr DType dtypeOf() {
  if constexpr (std::same_as<T, float>)
    return DType::F32;
  else if constexpr (std::same_as<T, int32_t>)
    return DType::I32;
  else if constexpr (std::same_as<T, int64_t>)
    return DType::I64;
  else
    static_assert(!sizeof(T), "use float, int32_t or int64_t, then cast");
}

} // namespace detail

class Tensor {
public:
  Tensor() = default;
  Tensor(std::shared_ptr<detail::GraphState> graph, az_value value)
      : graph(std::move(graph)), value(value) {}
  explicit Tensor(std::shared_ptr<detail::HostData> host)
      : host(std::move(host)) {}

  /// Host data of element type float, int32_t or int64_t, copied. Other types:
  /// cast(Tensor::of<float>(...), bf16).
  template <typename T>
  static Tensor of(std::vector<int64_t> shape, std::span<const T> values) {
    auto data = std::make_shared<detail::HostData>();
    data->dtype = detail::dtypeOf<T>();
    size_t count = 1;
    bool good = true;
    for (int64_t size : shape) {
      good &= size >= 0;
      count *= static_cast<size_t>(size);
    }
    if (!good || count != values.size())
      data->failure = makeError(
          ErrorCode::InvalidArgument, "Tensor::of",
          "the shape has " + std::to_string(count) + " elements, got " +
              std::to_string(values.size()),
          "tensor.count",
          "give as many values as the product of the sizes, none negative");
    data->shape = std::move(shape);
    data->bytes.resize(values.size_bytes());
    if (!values.empty())
      std::memcpy(data->bytes.data(), values.data(), values.size_bytes());
    return Tensor(std::move(data));
  }
  template <typename T>
  static Tensor of(std::vector<int64_t> shape, const std::vector<T> &values) {
    return of<T>(std::move(shape), std::span<const T>(values));
  }

  /// Whether it is a value of a graph.
  bool isTraced() const { return graph != nullptr; }
  /// The failure that this tensor, or its graph, carries.
  Status status() const {
    if (graph && graph->failure)
      return *graph->failure;
    if (host && host->failure)
      return *host->failure;
    if (!graph && !host)
      return makeError(
          ErrorCode::InvalidArgument, "tensor", "it is default-constructed",
          "tensor.empty",
          "make one with Tensor::of, or take one from an op or a graph");
    return {};
  }
  /// Both are meaningful only while status() is good.
  DType dtype() const {
    if (host)
      return host->dtype;
    int32_t dtype = 0;
    size_t rank = 0;
    typeOf(dtype, rank);
    return static_cast<DType>(dtype);
  }
  Shape shape() const {
    Shape sizes;
    if (host)
      sizes.assign(host->shape.begin(), host->shape.end());
    int32_t dtype = 0;
    size_t rank = 0;
    typeOf(dtype, rank);
    for (size_t axis = 0; axis < rank; ++axis)
      if (Result<std::string> dim = detail::callForText(
              az_graph_value_dim, graph->graph.get(), value, axis))
        sizes.push_back(Dim(*dim));
    return sizes;
  }
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }

  /// The elements as T, cast if need be. On a traced tensor this is an error,
  /// which the graph also keeps: a static graph cannot depend on data.
  template <typename T = float> Result<std::vector<T>> read() const;
  /// The only element.
  template <typename T = float> Result<T> item() const;
  /// Whether the only element is not zero; false on any failure.
  explicit operator bool() const {
    Result<float> only = item<float>();
    return only && *only != 0;
  }

  // For Ops.h and Trace.h.
  const std::shared_ptr<detail::GraphState> &graphState() const {
    return graph;
  }
  az_value graphValue() const { return value; }
  const std::shared_ptr<detail::HostData> &hostData() const { return host; }

private:
  void typeOf(int32_t &dtype, size_t &rank) const {
    if (graph && value >= 0)
      az_graph_value_type(graph->graph.get(), value, &dtype, &rank, nullptr);
  }
  std::shared_ptr<detail::GraphState> graph;
  az_value value = -1;
  std::shared_ptr<detail::HostData> host;
};

namespace detail {

/// One attribute of an op.
struct Attribute {
  std::string name;
  std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, Shape,
               DType>
      value;
};

/// Runs one op: appends it to the operands' graph (or to `into`), or computes
/// it at once on host data. Always returns `results` tensors; a failure is in
/// them. Defined in Apply.h.
inline std::vector<Tensor> apply(const char *kind,
                                 const std::vector<Tensor> &operands,
                                 const std::vector<Attribute> &attrs,
                                 const std::string &name, size_t results = 1,
                                 std::shared_ptr<GraphState> into = nullptr);

/// Checks that `x` holds host data and gives it as `dtype`. Apply.h.
inline Result<Tensor> hostAs(const Tensor &x, DType dtype);

} // namespace detail

template <typename T> Result<std::vector<T>> Tensor::read() const {
  Result<Tensor> data = detail::hostAs(*this, detail::dtypeOf<T>());
  if (!data)
    return data.error();
  std::vector<T> values(data->host->bytes.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), data->host->bytes.data(),
                values.size() * sizeof(T));
  return values;
}

template <typename T> Result<T> Tensor::item() const {
  Result<std::vector<T>> values = read<T>();
  if (!values)
    return values.error();
  if (values->size() != 1)
    return makeError(ErrorCode::InvalidArgument, "tensor",
                     "it has " + std::to_string(values->size()) + " elements",
                     "tensor.item", "item() reads a tensor of one element");
  return values->front();
}

} // namespace v0
} // namespace azulejo

// The definitions of apply and hostAs.
#include "azulejo/Apply.h"

#endif // AZULEJO_TENSOR_H
