//===- Apply.h - one op, into a graph or at once ----------------*- C++ -*-===//
//
// The single step that every op of Ops.h goes through. On values of a graph it
// appends an op. On host data it compiles a graph of that one op for the CPU
// (once per op, types and attributes; later calls find it in a table) and runs
// it. Host data inside a trace is refused rather than baked in as a constant.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_APPLY_H
#define AZULEJO_APPLY_H

#include "azulejo/Tensor.h"

#include <map>
#include <mutex>
#include <new>

namespace azulejo {
inline namespace v0 {

/// How matmul and attention may treat f32 operands.
enum class Precision {
  ieee, ///< as they are
  tf32, ///< rounded to 10 bits of mantissa where a device is faster so
};

namespace detail {

inline std::string precisionText(Precision precision) {
  return precision == Precision::tf32 ? "tf32" : "ieee";
}

/// Attributes as the C ABI takes them; keeps what the pointers point to.
class AttributeList {
public:
  explicit AttributeList(const std::vector<Attribute> &attrs) {
    dims.reserve(attrs.size());
    for (const Attribute &attr : attrs) {
      az_attr c{};
      c.size = sizeof(az_attr);
      c.name = attr.name.c_str();
      c.kind = static_cast<int32_t>(attr.value.index());
      if (auto *i = std::get_if<int64_t>(&attr.value)) {
        c.i = *i;
      } else if (auto *f = std::get_if<double>(&attr.value)) {
        c.f = *f;
      } else if (auto *b = std::get_if<bool>(&attr.value)) {
        c.i = *b;
      } else if (auto *s = std::get_if<std::string>(&attr.value)) {
        c.s = s->c_str();
      } else if (auto *ints = std::get_if<std::vector<int64_t>>(&attr.value)) {
        c.ints = ints->data();
        c.count = ints->size();
      } else if (auto *shape = std::get_if<Shape>(&attr.value)) {
        dims.emplace_back();
        for (const Dim &dim : *shape)
          dims.back().push_back(dim.str().c_str());
        c.dims = dims.back().data();
        c.count = dims.back().size();
      } else {
        c.i = static_cast<int64_t>(std::get<DType>(attr.value));
      }
      list.push_back(c);
    }
  }
  const az_attr *data() const { return list.data(); }
  size_t size() const { return list.size(); }

private:
  std::vector<az_attr> list;
  std::vector<std::vector<const char *>> dims;
};

inline std::string opWhere(const char *kind, const std::string &name) {
  return "op '" + (name.empty() ? std::string(kind) : name) + "'";
}

/// Tensors that carry a failure.
inline std::vector<Tensor> failedHost(Error error, size_t results) {
  auto data = std::make_shared<HostData>();
  data->failure = std::move(error);
  return std::vector<Tensor>(results, Tensor(data));
}

inline std::vector<Tensor> appendOp(std::shared_ptr<GraphState> graph,
                                    const char *kind,
                                    const std::vector<Tensor> &operands,
                                    const std::vector<Attribute> &attrs,
                                    const std::string &name, size_t results) {
  std::vector<az_value> ids, made(results, -1);
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string which = "operand " + std::to_string(i);
    if (operands[i].hostData())
      graph->fail(makeError(
          ErrorCode::InvalidGraph, opWhere(kind, name),
          which + " is host data, the other operands are values of a graph",
          "trace.capture", "make it an input of the traced function"));
    else if (operands[i].graphState() != graph)
      graph->fail(makeError(ErrorCode::InvalidGraph, opWhere(kind, name),
                            which + " is not a value of this graph",
                            "graph.values",
                            "values belong to the graph that made them"));
    ids.push_back(operands[i].graphValue());
  }
  if (!graph->failure) {
    AttributeList list(attrs);
    size_t count = 0;
    if (Status status = call(az_graph_op, graph->graph.get(), kind, ids.data(),
                             ids.size(), list.data(), list.size(), name.c_str(),
                             made.data(), made.size(), &count);
        !status)
      graph->fail(status.error());
  }
  std::vector<Tensor> tensors;
  for (az_value value : made)
    tensors.emplace_back(graph, value);
  return tensors;
}

/// A compiled one-op graph.
struct EagerOp {
  std::unique_ptr<az_executable, Free<az_executable_destroy>> executable;
  std::vector<HostData> results; ///< types of the results, without bytes
};

/// The text that identifies an op on operands of given types.
inline std::string eagerKey(const char *kind,
                            const std::vector<Tensor> &operands,
                            const std::vector<Attribute> &attrs,
                            size_t results) {
  std::string key = kind + ("/" + std::to_string(results));
  for (const Tensor &operand : operands) {
    key += '|' + std::string(dtypeName(operand.hostData()->dtype));
    for (int64_t size : operand.hostData()->shape)
      key += ',' + std::to_string(size);
  }
  for (const Attribute &attr : attrs) {
    key += '|' + attr.name + std::to_string(attr.value.index()) + '=';
    if (auto *f = std::get_if<double>(&attr.value)) {
      uint64_t bits = 0;
      std::memcpy(&bits, f, sizeof(bits));
      key += std::to_string(bits);
    } else if (auto *s = std::get_if<std::string>(&attr.value)) {
      key += *s;
    } else if (auto *ints = std::get_if<std::vector<int64_t>>(&attr.value)) {
      for (int64_t i : *ints)
        key += std::to_string(i) + ',';
    } else if (auto *shape = std::get_if<Shape>(&attr.value)) {
      for (const Dim &dim : *shape)
        key += dim.str() + ',';
    } else {
      std::visit(
          [&](const auto &v) {
            if constexpr (std::integral<std::decay_t<decltype(v)>> ||
                          std::same_as<std::decay_t<decltype(v)>, DType>)
              key += std::to_string(static_cast<int64_t>(v));
          },
          attr.value);
    }
  }
  return key;
}

} // namespace detail
} // namespace v0
} // namespace azulejo

#include "azulejo/Eager.h"

#endif // AZULEJO_APPLY_H
