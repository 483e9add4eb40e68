//===- RandomGraph.h - random valid graphs with data ------------*- C++ -*-===//
//
// A graph, sizes for its symbols and data for its inputs, all a pure function
// of a tape: a list of numbers, each of which settles one choice (which op,
// which operand, which size, ...) as its remainder by the number of
// alternatives at hand. So every tape is a valid graph, and a tape with a piece
// cut out, or with a smaller number in it, is a simpler one: RapidCheck draws
// tapes and shrinks them (RandomTape.h), and knows nothing of graphs.
//
// The alternatives stand in such an order that 0 is the simplest. After the end
// of a tape every choice is 0, and no further op is begun. The elements of all
// tensors come from the first choice.
//
// The graphs are valid by construction and numerically tame, so that a
// disagreement with the oracle is a bug and not noise:
//  * magnitudes stay around one: whatever may grow is scaled back;
//  * log, sqrt, rsqrt, div and pow get arguments that are bounded away from
//    their poles (|x| + 1/2, |x| + 1);
//  * truth values and integers are only made from exact data (inputs), never
//    from rounded results, where one ulp would flip them;
//  * norms run over rows whose entries differ by construction.
// An output that went through f16 or bf16 on the way should be checked with
// CheckOptions::precision = narrowestFloat(graph, output).
//
// Sizes come from the neighbourhoods of powers of two (and 0), as constants or
// as symbols. At least kMinOps ops, unless the tape ends before; about half of
// the graphs hold attention.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_RANDOMGRAPH_H
#define AZULEJO_TESTS_CONFORMANCE_RANDOMGRAPH_H

#include "frontend/graph/Graph.h"
#include "ir/reference/HostTensor.h"

namespace azulejo::conformance {

using Tape = std::vector<uint32_t>;

struct RandomGraph {
  /// The choices that were read, each below its number of alternatives: this
  /// tape makes the same graph.
  Tape tape;
  /// Where in it the choice for or against attention stands, and where the
  /// steps begin that append ops; the last entry is the end of the last step.
  /// The first step only says how many ops there are to be.
  size_t attention = 0;
  std::vector<size_t> steps;

  graph::Graph graph;
  std::map<std::string, int64_t> dims;
  std::vector<reference::HostTensor> inputs; ///< in the order of graph.inputs()
  int64_t flops = 0; ///< of matmul and attention; at most kMaxFlops

  /// Constants are ops of a graph that do not count.
  int64_t opCount() const;
};

inline constexpr int64_t kMaxFlops = 200'000'000;
inline constexpr int64_t kMaxElements = 1'000'000; ///< per tensor
inline constexpr int64_t kMinOps = 8;

/// An error means that the generator made something invalid: its bug.
Result<RandomGraph> makeRandomGraph(const Tape &tape);

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_RANDOMGRAPH_H
