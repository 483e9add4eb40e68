//===- Graph.cpp - building and naming the graph value --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/graph/Graph.h"
#include "ir/opset/DimBounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace azulejo::graph {

// Sizes are kept below 2^47 so that byte offsets never overflow int64 for a
// sane rank; products are checked where a launch evaluates them.
static constexpr int64_t kMaxExtent = int64_t{1} << 47;
static constexpr size_t kMaxRank = 8;

static bool isIdentifier(const std::string &name) {
  auto isWord = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), isWord);
}

Result<Dim> Graph::dim(const std::string &name, int64_t min, int64_t max) {
  std::string where = "dimension '" + name + "'";
  if (!isIdentifier(name))
    return makeError(ErrorCode::InvalidGraph, where, "not a name", "dim.C1",
                     "use letters, digits and _, not starting with a digit");
  if (min < 0 || max < min || max > kMaxExtent)
    return makeError(ErrorCode::InvalidGraph, where,
                     "range " + std::to_string(min) + " to " +
                         std::to_string(max) + " is not usable",
                     "dim.C2", "0 <= min <= max <= 2^47");
  for (const DimSymbol &symbol : symbols)
    if (symbol.name == name) {
      if (symbol.min == min && symbol.max == max)
        return Dim::symbol(name);
      return makeError(ErrorCode::InvalidGraph, where,
                       "already declared with another range", "dim.C3",
                       "declare it once, or give the second one another name");
    }
  symbols.push_back({name, min, max});
  return Dim::symbol(name);
}

Status Graph::checkSymbols(const Shape &shape, const std::string &where) const {
  if (shape.size() > kMaxRank)
    return makeError(ErrorCode::InvalidGraph, where,
                     "rank " + std::to_string(shape.size()) + " exceeds " +
                         std::to_string(kMaxRank),
                     "graph.rank", "merge axes with reshape");
  if (Status status = opset::checkDimBounds(shape, where); !status)
    return status;
  __int128 total = 1;
  for (const Dim &dim : shape) {
    std::vector<std::string> names;
    dim.collectSymbols(names);
    for (const std::string &name : names)
      if (std::none_of(symbols.begin(), symbols.end(),
                       [&](const DimSymbol &s) { return s.name == name; }))
        return makeError(ErrorCode::InvalidGraph, where,
                         "dimension '" + name + "' is not declared",
                         "graph.dims", "declare it with Graph::dim first");
    if (std::optional<int64_t> size = dim.constant()) {
      if (*size < 0 || *size > kMaxExtent)
        return makeError(ErrorCode::InvalidGraph, where,
                         "size " + std::to_string(*size) + " is out of range",
                         "graph.size", "0 <= size <= 2^47");
      if (*size > 0)
        total = std::min<__int128>(total * *size, __int128{1} << 64);
    }
  }
  if (total > kMaxExtent)
    return makeError(
        ErrorCode::InvalidGraph, where,
        "the tensor " + opset::shapeStr(shape) + " has more than 2^47 elements",
        "graph.size", "use smaller dimensions; sizes must not be negative");
  return {};
}

Result<std::string> Graph::claimName(const std::string &name,
                                     const char *what) {
  std::string where = std::string(what) + " '" + name + "'";
  if (!isIdentifier(name))
    return makeError(ErrorCode::InvalidGraph, where, "not a name",
                     "graph.names",
                     "use letters, digits and _, not starting with a digit");
  bool taken = std::any_of(outputTable.begin(), outputTable.end(),
                           [&](const Output &o) { return o.name == name; });
  for (ValueId id : inputIds)
    taken |= valueTable[id].name == name;
  if (taken)
    return makeError(ErrorCode::InvalidGraph, where, "the name is taken",
                     "graph.names", "names of inputs and outputs are unique");
  return where;
}

Result<ValueId> Graph::input(const std::string &name, TensorType type) {
  Result<std::string> where = claimName(name, "input");
  if (!where)
    return where.error();
  if (Status status = checkSymbols(type.shape, *where); !status)
    return status.error();
  if (type.dtype == DType::F64)
    return makeError(ErrorCode::InvalidGraph, *where,
                     "f64 exists only in the reference evaluator",
                     "graph.dtype", "use f32");
  ValueId id = static_cast<ValueId>(valueTable.size());
  valueTable.push_back({std::move(type), name, -1});
  inputIds.push_back(id);
  return id;
}

Result<std::vector<ValueId>> Graph::append(const std::string &kind,
                                           std::vector<ValueId> operands,
                                           AttrMap attrs,
                                           const std::string &name) {
  std::vector<TensorType> types;
  std::vector<std::string> names;
  for (ValueId id : operands) {
    if (id < 0 || id >= static_cast<ValueId>(valueTable.size()))
      return makeError(
          ErrorCode::InvalidGraph, "op '" + (name.empty() ? kind : name) + "'",
          "operand " + std::to_string(id) + " is not a value of this graph",
          "graph.values",
          "values belong to the graph that made "
          "them");
    types.push_back(valueTable[id].type);
    names.push_back(valueTable[id].name);
  }
  if (kind == "attention" && !attrs.count("scale")) {
    // Operands that give no head size are refused by the op's own rules.
    std::optional<int64_t> d;
    if (!types.empty() && types[0].rank() == 4)
      d = types[0].shape[3].constant();
    attrs["scale"] =
        d && *d > 0 ? 1.0 / std::sqrt(static_cast<double>(*d)) : 1.0;
  }
  opset::InferResult inferred = opset::inferOp(kind, name, types, names, attrs);
  if (!inferred)
    return inferred.error();
  std::string where = "op '" + (name.empty() ? kind : name) + "'";
  for (const TensorType &type : *inferred)
    if (Status status = checkSymbols(type.shape, where); !status)
      return status.error();
  Op op{kind, name, std::move(operands), std::move(attrs), {}};
  for (size_t i = 0; i < inferred->size(); ++i) {
    op.results.push_back(static_cast<ValueId>(valueTable.size()));
    std::string label =
        name.empty() ? kind + std::to_string(opTable.size()) : name;
    valueTable.push_back({(*inferred)[i],
                          i ? label + "_" + std::to_string(i) : label,
                          static_cast<int32_t>(opTable.size())});
  }
  std::vector<ValueId> results = op.results;
  opTable.push_back(std::move(op));
  return results;
}

Status Graph::output(const std::string &name, ValueId value) {
  if (value < 0 || value >= static_cast<ValueId>(valueTable.size()))
    return makeError(ErrorCode::InvalidGraph, "output '" + name + "'",
                     "the value is not of this graph", "graph.values",
                     "give a value that this graph returned");
  Result<std::string> where = claimName(name, "output");
  if (!where)
    return where.error();
  outputTable.push_back({name, value});
  return {};
}

Status Graph::verify() const {
  if (outputTable.empty())
    return makeError(ErrorCode::InvalidGraph, "graph", "it has no output",
                     "graph.outputs", "mark a value with Graph::output");
  return {};
}

// Each field is written with its length or a closing mark, so that no two
// graphs share a text.
static void put(std::string &out, std::string_view text) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

static void putShape(std::string &out, const Shape &shape) {
  out += '[';
  for (const Dim &dim : shape)
    put(out, dim.str());
  out += ']';
}

static void putType(std::string &out, const TensorType &type) {
  put(out, opset::dtypeName(type.dtype));
  putShape(out, type.shape);
}

static void putAttr(std::string &out, const Attr &attr) {
  out += std::to_string(attr.index());
  if (auto *i = std::get_if<int64_t>(&attr))
    put(out, std::to_string(*i));
  else if (auto *d = std::get_if<double>(&attr))
    put(out, std::to_string(std::bit_cast<uint64_t>(*d)));
  else if (auto *b = std::get_if<bool>(&attr))
    put(out, *b ? "1" : "0");
  else if (auto *s = std::get_if<std::string>(&attr))
    put(out, *s);
  else if (auto *list = std::get_if<std::vector<int64_t>>(&attr)) {
    out += '(';
    for (int64_t i : *list)
      put(out, std::to_string(i));
    out += ')';
  } else if (auto *shape = std::get_if<Shape>(&attr))
    putShape(out, *shape);
  else
    put(out, opset::dtypeName(std::get<DType>(attr)));
}

std::string Graph::canonical() const {
  std::string out = "azulejo-graph-1\n";
  for (const DimSymbol &symbol : symbols) {
    out += "dim ";
    put(out, symbol.name);
    put(out, std::to_string(symbol.min));
    put(out, std::to_string(symbol.max));
    out += '\n';
  }
  for (ValueId id : inputIds) {
    out += "in ";
    put(out, valueTable[id].name);
    put(out, std::to_string(id));
    putType(out, valueTable[id].type);
    out += '\n';
  }
  for (const Op &op : opTable) {
    out += "op ";
    put(out, op.kind);
    for (ValueId id : op.operands)
      put(out, std::to_string(id));
    out += ';';
    for (const auto &[name, attr] : op.attrs) {
      put(out, name);
      putAttr(out, attr);
    }
    out += ';';
    for (ValueId id : op.results)
      put(out, std::to_string(id));
    out += '\n';
  }
  for (const Output &output : outputTable) {
    out += "out ";
    put(out, output.name);
    put(out, std::to_string(output.value));
    out += '\n';
  }
  return out;
}

} // namespace azulejo::graph
