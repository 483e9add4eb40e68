//===- Harness.h - compile, run and check one graph -------------*- C++ -*-===//
//
// Compiles a graph value for a TestDevice through the C ABI, runs it there with
// redzones round every tensor and the workspace and with poisoned outputs, and
// checks each output against the float64 oracle with the 2x rule
// (ir/reference).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_HARNESS_H
#define AZULEJO_TESTS_CONFORMANCE_HARNESS_H

#include "frontend/api/Handles.h"
#include "frontend/graph/Graph.h"
#include "ir/reference/HostTensor.h"
#include "tests/conformance/TestDevice.h"

#include <functional>
#include <map>
#include <memory>
#include <span>

namespace azulejo::conformance {

using DimValues = std::map<std::string, int64_t>;

struct Options {
  bool fuse = true;
  bool expectNan = false;
  int threads = 2; ///< of a CPU
  /// Where to compile for and run; null is TestDevice::current().
  const TestDevice *device = nullptr;
  /// Schedules to use (az_compile_options::pin); empty: the defaults.
  std::string pin;
  /// As az_compile_options::debug_kernels; empty: as the environment says.
  std::string debugKernels;
  /// As az_compile_options::max_variants. 0: the default of a fused plan; one
  /// that is not fused has one schedule for all sizes, so that families for
  /// large sizes meet small ones.
  int variants = 0;
  /// Run on strided, misaligned copies of the inputs and outputs.
  bool strided = false;
  /// Strides of single inputs, in elements: views of larger buffers. An empty
  /// or missing entry leaves the choice to `strided`. What lies between the
  /// elements reads as NaN.
  std::vector<std::vector<int64_t>> inputStrides;
  /// Called just before every launch, to put other work beside it.
  std::function<Status()> beside;
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
  /// and a changed input are errors of code CandidateWrong.
  Result<std::vector<reference::HostTensor>>
  run(const DimValues &dims, std::span<const reference::HostTensor> inputs,
      const Options &options = {});

  /// Empty when every output agrees with the oracle; else what differs.
  ///
  /// The error of a plain evaluation is the yardstick, and over a handful of
  /// elements, or of values that many elements share, it may be small by luck.
  /// So a numeric failure of an output of fewer than kSmallSample different
  /// magnitudes is judged again on kDraws draws of data
  /// near the given one, all of them together, by the same rules.
  std::string check(const DimValues &dims,
                    std::span<const reference::HostTensor> inputs,
                    const Options &options = {});
  std::string check(const DimValues &dims,
                    std::span<const reference::HostTensor> inputs,
                    const Expected &expected, const Options &options);

  static constexpr int64_t kSmallSample = 32;
  static constexpr int kDraws = 16;

  /// Runs on tensors that lie where `place()` can reach them, with a guarded,
  /// poisoned workspace, and waits for the end.
  Status runOn(std::span<const az_tensor> tensors, int threads,
               const std::function<Status()> &beside = {}) const;
  /// Puts a run of a plan without a workspace on a stream, and does not wait.
  Status start(std::span<const az_tensor> tensors, void *stream) const;

  const plan::Plan &plan() const { return executable->plan; }
  const TestDevice &place() const { return *device; }

private:
  struct Destroy {
    void operator()(az_executable *one) const { az_executable_destroy(one); }
  };

  std::string checkPooled(size_t output, const DimValues &dims,
                          std::span<const reference::HostTensor> inputs,
                          const Options &options);

  graph::Graph graph;
  const TestDevice *device = nullptr;
  std::unique_ptr<az_executable, Destroy> executable;
};

/// Whether a compilation failed because the device lacks something, which is
/// no bug, but has to be counted and shown (Skips.h). The CPU lacks nothing.
bool isLackOf(const TestDevice &device, const Error &error);

/// Uniform in [low, high), dense; integers are floor-ed.
reference::HostTensor randomTensor(DType dtype, std::vector<int64_t> shape,
                                   uint64_t seed, double low = -1,
                                   double high = 1);

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_HARNESS_H
