//===- GraphFuzz.cpp - random programs against the graph value ------------===//
//
// The input is a program of Graph calls with hostile arguments. Whatever comes:
// no crash, every refusal is a complete Error, a refused call leaves no trace,
// and the canonical text depends on the calls alone.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/graph/Graph.h"

#include <cstdlib>
#include <cstring>

using namespace azulejo;
using namespace azulejo::graph;

static void require(bool promise) {
  if (!promise)
    std::abort();
}

namespace {
/// Reads values off the input; zeros once it is used up.
class Source {
public:
  Source(const uint8_t *data, size_t size) : next(data), end(data + size) {}

  bool empty() const { return next == end; }
  uint8_t byte() { return empty() ? 0 : *next++; }
  int64_t below(int64_t bound) { return byte() % bound; }

  int64_t word() {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i)
      bits = bits << 8 | byte();
    return static_cast<int64_t>(bits);
  }

  double real() {
    int64_t bits = word();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  /// Mostly small numbers, sometimes any.
  int64_t integer() {
    uint8_t kind = byte();
    return kind < 240 ? kind % 9 - 1 : word();
  }

  Dim dim() {
    static const char *names[] = {"B", "S", "T"};
    Dim dim(integer());
    for (int64_t i = below(3); i > 0; --i)
      dim = byte() % 2 ? dim * Dim::symbol(names[below(3)])
                       : dim + Dim::symbol(names[below(3)]);
    return dim;
  }

  Shape shape() {
    Shape shape;
    for (int64_t i = below(6); i > 0; --i)
      shape.push_back(dim());
    return shape;
  }

  std::string text() {
    std::string text;
    for (int64_t i = below(12); i > 0; --i)
      text += static_cast<char>(byte());
    return text;
  }

  DType dtype() { return static_cast<DType>(below(kDTypeCount)); }

private:
  const uint8_t *next, *end;
};
} // namespace

static Attr attribute(Source &source, const opset::AttrSpec &spec) {
  // One time in sixteen the kind is wrong on purpose.
  auto kind = source.below(16) == 0
                  ? static_cast<opset::AttrKind>(source.below(7))
                  : spec.kind;
  switch (kind) {
  case opset::AttrKind::Int:
    return source.integer();
  case opset::AttrKind::Float:
    return source.real();
  case opset::AttrKind::Bool:
    return source.byte() % 2 == 0;
  case opset::AttrKind::String:
    if (spec.allowed.empty() || source.below(8) == 0)
      return source.text();
    return spec.allowed[source.below(spec.allowed.size())];
  case opset::AttrKind::Ints: {
    std::vector<int64_t> list;
    for (int64_t i = source.below(6); i > 0; --i)
      list.push_back(source.integer());
    return list;
  }
  case opset::AttrKind::Shape:
    return source.shape();
  case opset::AttrKind::DType:
    return source.dtype();
  }
  return false;
}

template <typename T> static void checkError(const Result<T> &result) {
  if (result)
    return;
  require(result.error().code == ErrorCode::InvalidGraph);
  require(!result.error().message.empty() && !result.error().where.empty() &&
          !result.error().rule.empty());
}

static void appendOne(Source &source, Graph &graph) {
  std::span<const opset::OpSpec> ops = opset::allOps();
  const opset::OpSpec &spec = ops[source.below(ops.size())];
  int64_t count = spec.minOperands;
  if (source.below(4) == 0)
    count += source.below(4);
  std::vector<ValueId> operands;
  for (int64_t i = 0; i < count; ++i)
    operands.push_back(static_cast<ValueId>(source.byte()) % 24 - 1);
  AttrMap attrs;
  for (const opset::AttrSpec &attr : spec.attrs)
    if (!attr.defaultValue || source.below(2) == 0)
      attrs[attr.name] = attribute(source, attr);
  size_t before = graph.values().size();
  auto results = graph.append(spec.name, operands, attrs);
  checkError(results);
  require(graph.values().size() == before + (results ? results->size() : 0));
  if (results)
    require(graph.ops().back().attrs.size() == spec.attrs.size());
}

static Graph build(const uint8_t *data, size_t size) {
  Source source(data, size);
  Graph graph;
  require(graph.dim("B", 1, 64).ok() && graph.dim("S", 0, 4096).ok());
  for (int calls = 0; !source.empty() && calls < 64; ++calls) {
    switch (source.below(8)) {
    case 0:
      checkError(graph.dim(source.text(), source.integer(), source.integer()));
      break;
    case 1:
    case 2: {
      std::string name = "x" + std::to_string(source.below(16));
      checkError(graph.input(name, {source.dtype(), source.shape()}));
      break;
    }
    case 3:
      checkError(graph.output("y" + std::to_string(source.below(16)),
                              static_cast<ValueId>(source.integer())));
      break;
    default:
      appendOne(source, graph);
    }
  }
  checkError(graph.verify());
  return graph;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Graph first = build(data, size), second = build(data, size);
  require(first.canonical() == second.canonical());
  Graph copy = first;
  require(copy.canonical() == first.canonical());
  return 0;
}
