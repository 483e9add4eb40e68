//===- Harness.h - compile, run and check one graph -------------*- C++ -*-===//
//
// Compiles a graph value through the compiler library's one door, runs the plan
// on the CPU with redzones round every output and poisoned outputs, and checks
// each output against the float64 oracle with the 2x rule (ir/reference).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_HARNESS_H
#define AZULEJO_TESTS_CONFORMANCE_HARNESS_H

#include "frontend/graph/Graph.h"
#include "ir/reference/HostTensor.h"
#include "runtime/Executable.h"

#include <memory>

namespace azulejo::conformance {

using DimValues = std::map<std::string, int64_t>;

struct Options {
  bool fuse = true;
  bool expectNan = false;
  int threads = 2;
  /// Run on strided, misaligned copies of the inputs and outputs.
  bool strided = false;
  /// Strides of single inputs, in elements: views of larger buffers. An empty
  /// or missing entry leaves the choice to `strided`. What lies between the
  /// elements reads as NaN.
  std::vector<std::vector<int64_t>> inputStrides;
  /// Hold each row of the last axis to the bound as well (attention).
  bool perRow = false;
};

/// What the outputs of a graph ought to be; one evaluation serves every way of
/// compiling and running the graph.
struct Expected {
  std::vector<reference::HostTensor> oracle, plain;
};
Result<Expected> expectedOf(const graph::Graph &graph, const DimValues &dims,
                            std::span<const reference::HostTensor> inputs);

/// A compiled graph that can be checked at many sizes.
class Subject {
public:
  static Result<std::unique_ptr<Subject>> compile(const graph::Graph &graph,
                                                  const Options &options = {});

  /// Runs with these inputs; gives the outputs or an error. A touched redzone
  /// is an error of code CandidateWrong.
  Result<std::vector<reference::HostTensor>>
  run(const DimValues &dims, std::span<const reference::HostTensor> inputs,
      const Options &options = {});

  /// Empty when every output agrees with the oracle; else what differs.
  ///
  /// The error of a plain evaluation is the yardstick, and over a handful of
  /// elements it may be small by luck. So a numeric failure of an output of
  /// fewer than kSmallSample elements is judged again on kDraws draws of data
  /// near the given one, all of them together, by the same rules.
  std::string check(const DimValues &dims,
                    std::span<const reference::HostTensor> inputs,
                    const Options &options = {});
  std::string check(const DimValues &dims,
                    std::span<const reference::HostTensor> inputs,
                    const Expected &expected, const Options &options);

  static constexpr int64_t kSmallSample = 32;
  static constexpr int kDraws = 16;

  const plan::Plan &plan() const { return executable->plan(); }
  const runtime::Executable &runnable() const { return *executable; }

private:
  std::string checkPooled(size_t output, const DimValues &dims,
                          std::span<const reference::HostTensor> inputs,
                          const Options &options);

  graph::Graph graph;
  std::unique_ptr<runtime::Executable> executable;
};

/// Uniform in [low, high), dense; integers are floor-ed.
reference::HostTensor randomTensor(DType dtype, std::vector<int64_t> shape,
                                   uint64_t seed, double low = -1,
                                   double high = 1);

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_HARNESS_H
