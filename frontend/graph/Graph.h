//===- Graph.h - the graph value --------------------------------*- C++ -*-===//
//
// What the API builds and tracing captures: plain C++, cheap to copy, hashable
// and free of MLIR, so that a warmed cache is hit without ever creating a
// compiler. Ops are kept in the order in which they were appended, which is a
// topological order; values are dense integers.
//
// Every append runs the op's rules at once (ir/opset), so an error names the
// line of the user's program that made it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_GRAPH_GRAPH_H
#define AZULEJO_FRONTEND_GRAPH_GRAPH_H

#include "ir/opset/Opset.h"

namespace azulejo::graph {

using opset::Attr;
using opset::AttrMap;
using opset::Dim;
using opset::DType;
using opset::Shape;
using opset::TensorType;

using ValueId = int32_t;

struct DimSymbol {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
  bool operator==(const DimSymbol &) const = default;
};

struct Value {
  TensorType type;
  std::string name;
  int32_t producer = -1; ///< index into ops(), or -1 for a graph input
};

struct Op {
  std::string kind;
  std::string name; ///< the user's label, for diagnostics only
  std::vector<ValueId> operands;
  AttrMap attrs; ///< complete: defaults are filled in
  std::vector<ValueId> results;
};

struct Output {
  std::string name;
  ValueId value;
};

class Graph {
public:
  /// Declares a symbolic dimension with an inclusive range. The same name with
  /// the same range may be declared again.
  Result<Dim> dim(const std::string &name, int64_t min, int64_t max);

  /// A graph input. Names are unique among inputs and outputs; every symbol in
  /// the shape must have been declared.
  Result<ValueId> input(const std::string &name, TensorType type);

  /// Appends an op and returns its results. Attributes that are left out take
  /// the op's defaults; attention without a scale gets 1 / sqrt(head size).
  Result<std::vector<ValueId>> append(const std::string &kind,
                                      std::vector<ValueId> operands,
                                      AttrMap attrs = {},
                                      const std::string &name = {});

  /// Marks a value as an output. A value may be marked more than once.
  Status output(const std::string &name, ValueId value);

  /// What must hold before a graph is compiled: at least one output.
  Status verify() const;

  const std::vector<DimSymbol> &dims() const { return symbols; }
  const std::vector<Value> &values() const { return valueTable; }
  const std::vector<ValueId> &inputs() const { return inputIds; }
  const std::vector<Op> &ops() const { return opTable; }
  const std::vector<Output> &outputs() const { return outputTable; }
  const TensorType &type(ValueId id) const { return valueTable[id].type; }
  const std::string &name(ValueId id) const { return valueTable[id].name; }

  /// An injective text of what the graph computes: symbols with ranges, inputs,
  /// ops with attributes, outputs. Labels of inner ops and values are left out,
  /// so renaming them keeps the cache key. Floats are written as bit patterns.
  std::string canonical() const;

private:
  Status checkSymbols(const Shape &shape, const std::string &where) const;
  Result<std::string> claimName(const std::string &name, const char *what);

  std::vector<DimSymbol> symbols;
  std::vector<Value> valueTable;
  std::vector<ValueId> inputIds;
  std::vector<Op> opTable;
  std::vector<Output> outputTable;
};

} // namespace azulejo::graph

#endif // AZULEJO_FRONTEND_GRAPH_GRAPH_H
