//===- RandomGraph.h - random valid graphs with data ------------*- C++ -*-===//
//
// A graph, sizes for its symbols and data for its inputs, all a pure function
// of a seed (own generator, own distributions: the same on every machine).
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
// as symbols. At least 8 ops; about half of the graphs hold attention.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_RANDOMGRAPH_H
#define AZULEJO_TESTS_CONFORMANCE_RANDOMGRAPH_H

#include "frontend/graph/Graph.h"
#include "ir/reference/HostTensor.h"

namespace azulejo::conformance {

struct RandomGraph {
  uint64_t seed = 0;
  graph::Graph graph;
  std::map<std::string, int64_t> dims;
  std::vector<reference::HostTensor> inputs; ///< in the order of graph.inputs()
  int64_t flops = 0; ///< of matmul and attention; at most kMaxFlops
};

inline constexpr int64_t kMaxFlops = 200'000'000;
inline constexpr int64_t kMaxElements = 1'000'000; ///< per tensor

/// An error means that the generator made something invalid: its bug.
Result<RandomGraph> makeRandomGraph(uint64_t seed);

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_RANDOMGRAPH_H
