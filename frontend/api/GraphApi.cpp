//===- GraphApi.cpp - building graphs through the C ABI -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Handles.h"

#include "runtime/plan/Plan.h"

using namespace azulejo;
using namespace azulejo::api;
using opset::Attr;
using opset::Dim;

// A caller's count above this is a mistake, not a graph.
static constexpr size_t kMaxCount = 1 << 16;

static Result<opset::Shape> shapeOf(const char *const *dims, size_t count,
                                    const std::string &where) {
  if (count > kMaxCount || (count > 0 && !dims))
    return makeError(ErrorCode::InvalidArgument, where,
                     "the list of sizes is null or endless", "api.argument",
                     "give an array of sizes and its length");
  opset::Shape shape;
  for (size_t i = 0; i < count; ++i) {
    std::optional<Dim> dim = dims[i] ? Dim::parse(dims[i]) : std::nullopt;
    if (!dim)
      return makeError(ErrorCode::InvalidGraph, where,
                       "axis " + std::to_string(i) + ": '" +
                           (dims[i] ? dims[i] : "") + "' is not a size",
                       "graph.size",
                       "use a number, a dimension, or sums and products");
    shape.push_back(std::move(*dim));
  }
  return shape;
}

static Result<DType> dtypeOf(int64_t dtype, const std::string &where) {
  if (dtype >= 0 && dtype < kDTypeCount)
    return static_cast<DType>(dtype);
  return makeError(ErrorCode::InvalidArgument, where,
                   std::to_string(dtype) + " is not an element type",
                   "graph.dtype",
                   "use a constant of azulejo/c/graph.h, as in AZ_F32");
}

static Result<Attr> attrOf(const az_attr &attr, const std::string &where) {
  std::string name = std::string("attribute '") + attr.name + "'";
  auto fail = [&](const char *message) {
    return makeError(
        ErrorCode::InvalidArgument, where, name + message, "api.argument",
        "the kind of an attribute says which of its fields is read");
  };
  switch (attr.kind) {
  case AZ_ATTR_INT:
    return Attr(attr.i);
  case AZ_ATTR_FLOAT:
    return Attr(attr.f);
  case AZ_ATTR_BOOL:
    return Attr(attr.i != 0);
  case AZ_ATTR_STRING:
    if (!attr.s)
      return fail(" is a null text");
    return Attr(std::string(attr.s));
  case AZ_ATTR_INTS:
    if (attr.count > kMaxCount || (attr.count > 0 && !attr.ints))
      return fail(" is a null or endless list");
    return Attr(std::vector<int64_t>(attr.ints, attr.ints + attr.count));
  case AZ_ATTR_SHAPE: {
    Result<opset::Shape> shape = shapeOf(attr.dims, attr.count, where);
    if (!shape)
      return shape.error();
    return Attr(*std::move(shape));
  }
  case AZ_ATTR_DTYPE: {
    Result<DType> dtype = dtypeOf(attr.i, where);
    if (!dtype)
      return dtype.error();
    return Attr(*dtype);
  }
  }
  return fail(" has an unknown kind");
}

static Result<opset::AttrMap> attrsOf(const az_attr *attrs, size_t count,
                                      const std::string &where) {
  opset::AttrMap map;
  if (count == 0)
    return map;
  if (!attrs || count > kMaxCount)
    return makeError(ErrorCode::InvalidArgument, where,
                     "the list of attributes is null or endless",
                     "api.argument",
                     "give an array of attributes and its length");
  size_t step = attrs[0].size;
  if (step < sizeof(az_attr))
    return makeError(ErrorCode::InvalidArgument, where,
                     "az_attr::size is " + std::to_string(step), "api.argument",
                     "set it to sizeof(az_attr)");
  for (size_t i = 0; i < count; ++i) {
    const auto &attr = *reinterpret_cast<const az_attr *>(
        reinterpret_cast<const char *>(attrs) + i * step);
    if (!attr.name)
      return makeError(ErrorCode::InvalidArgument, where,
                       "an attribute's name is null", "api.argument",
                       "name it as docs/ops.md does");
    Result<Attr> value = attrOf(attr, where);
    if (!value)
      return value.error();
    if (!map.emplace(attr.name, *std::move(value)).second)
      return makeError(ErrorCode::InvalidArgument, where,
                       std::string("attribute '") + attr.name +
                           "' is given twice",
                       "api.argument", "keep one of the two");
  }
  return map;
}

az_status az_dim_combine(const char *a, char op, const char *b,
                         az_string **result, az_error **error) {
  return guarded("az_dim_combine", error, [&]() -> Status {
    if (!a || !b || !result)
      return invalidCall("az_dim_combine", "an argument is null");
    std::optional<Dim> x = Dim::parse(a), y = Dim::parse(b);
    if (!x || !y)
      return invalidCall("az_dim_combine",
                         std::string("'") + (x ? b : a) + "' is not a size");
    if (op != '+' && op != '-' && op != '*')
      return invalidCall("az_dim_combine", "the operation is not +, - or *");
    return give((op == '+'   ? *x + *y
                 : op == '-' ? *x - *y
                             : *x * *y)
                    .str(),
                result);
  });
}

az_status az_graph_create(az_graph **graph, az_error **error) {
  return guarded("az_graph_create", error, [&]() -> Status {
    if (!graph)
      return invalidCall("az_graph_create", "graph is null");
    *graph = new az_graph;
    return {};
  });
}

az_status az_graph_clone(const az_graph *graph, az_graph **copy,
                         az_error **error) {
  return guarded("az_graph_clone", error, [&]() -> Status {
    if (!graph || !copy)
      return invalidCall("az_graph_clone", "an argument is null");
    *copy = new az_graph(*graph);
    return {};
  });
}

void az_graph_destroy(az_graph *graph) { delete graph; }

az_status az_graph_dim(az_graph *graph, const char *name, int64_t min,
                       int64_t max, az_error **error) {
  return guarded("az_graph_dim", error, [&]() -> Status {
    if (!graph || !name)
      return invalidCall("az_graph_dim", "an argument is null");
    Result<Dim> dim = graph->graph.dim(name, min, max);
    return dim ? Status() : Status(dim.error());
  });
}

az_status az_graph_input(az_graph *graph, const char *name, int32_t dtype,
                         const char *const *shape, size_t rank, az_value *value,
                         az_error **error) {
  return guarded("az_graph_input", error, [&]() -> Status {
    if (!graph || !name || !value)
      return invalidCall("az_graph_input", "an argument is null");
    std::string where = std::string("input '") + name + "'";
    Result<DType> type = dtypeOf(dtype, where);
    if (!type)
      return type.error();
    Result<opset::Shape> sizes = shapeOf(shape, rank, where);
    if (!sizes)
      return sizes.error();
    Result<graph::ValueId> id =
        graph->graph.input(name, {*type, *std::move(sizes)});
    if (!id)
      return id.error();
    *value = *id;
    return {};
  });
}

az_status az_graph_op(az_graph *graph, const char *kind,
                      const az_value *operands, size_t operand_count,
                      const az_attr *attrs, size_t attr_count, const char *name,
                      az_value *results, size_t capacity, size_t *count,
                      az_error **error) {
  return guarded("az_graph_op", error, [&]() -> Status {
    if (!graph || !kind)
      return invalidCall("az_graph_op", "an argument is null");
    if (operand_count > kMaxCount || (operand_count > 0 && !operands) ||
        (capacity > 0 && !results))
      return invalidCall("az_graph_op", "a list is null or endless");
    std::string label = name ? name : "";
    std::string where = "op '" + (label.empty() ? kind : label) + "'";
    Result<opset::AttrMap> map = attrsOf(attrs, attr_count, where);
    if (!map)
      return map.error();
    std::vector<graph::ValueId> ids(operands, operands + operand_count);
    Result<std::vector<graph::ValueId>> made =
        graph->graph.append(kind, std::move(ids), *std::move(map), label);
    if (!made)
      return made.error();
    for (size_t i = 0; i < made->size() && i < capacity; ++i)
      results[i] = (*made)[i];
    if (count)
      *count = made->size();
    return {};
  });
}

az_status az_graph_output(az_graph *graph, const char *name, az_value value,
                          az_error **error) {
  return guarded("az_graph_output", error, [&]() -> Status {
    if (!graph || !name)
      return invalidCall("az_graph_output", "an argument is null");
    return graph->graph.output(name, value);
  });
}

az_status az_graph_verify(const az_graph *graph, az_error **error) {
  return guarded("az_graph_verify", error, [&]() -> Status {
    if (!graph)
      return invalidCall("az_graph_verify", "graph is null");
    return graph->graph.verify();
  });
}

static Result<const graph::Value *> valueOf(const az_graph *graph,
                                            az_value value, const char *where) {
  if (!graph || value < 0 ||
      static_cast<size_t>(value) >= graph->graph.values().size())
    return invalidCall(where, "there is no such value");
  return &graph->graph.values()[value];
}

az_status az_graph_value_type(const az_graph *graph, az_value value,
                              int32_t *dtype, size_t *rank, az_error **error) {
  return guarded("az_graph_value_type", error, [&]() -> Status {
    Result<const graph::Value *> v =
        valueOf(graph, value, "az_graph_value_type");
    if (!v)
      return v.error();
    if (dtype)
      *dtype = static_cast<int32_t>((*v)->type.dtype);
    if (rank)
      *rank = (*v)->type.shape.size();
    return {};
  });
}

az_status az_graph_value_dim(const az_graph *graph, az_value value, size_t axis,
                             az_string **dim, az_error **error) {
  return guarded("az_graph_value_dim", error, [&]() -> Status {
    Result<const graph::Value *> v =
        valueOf(graph, value, "az_graph_value_dim");
    if (!v)
      return v.error();
    if (!dim || axis >= (*v)->type.shape.size())
      return invalidCall("az_graph_value_dim", "there is no such axis");
    return give((*v)->type.shape[axis].str(), dim);
  });
}

az_status az_graph_digest(const az_graph *graph, az_string **digest,
                          az_error **error) {
  return guarded("az_graph_digest", error, [&]() -> Status {
    if (!graph || !digest)
      return invalidCall("az_graph_digest", "an argument is null");
    return give(plan::digestOf(graph->graph.canonical()), digest);
  });
}

const char *az_op_kind(size_t index) {
  std::span<const opset::OpSpec> ops = opset::allOps();
  return index < ops.size() ? ops[index].name.c_str() : nullptr;
}
