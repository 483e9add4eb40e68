//===- Sketch.h - writing graphs in conformance tests -----------*- C++ -*-===//
//
// A graph under construction together with the data of its inputs. What is
// refused fails the running test at once and gives value 0, so that a test
// reads as the formula that it checks.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_SKETCH_H
#define AZULEJO_TESTS_CONFORMANCE_SKETCH_H

#include "tests/conformance/Harness.h"

#include <functional>
#include <string>
#include <vector>

namespace azulejo::conformance {

using graph::AttrMap;
using graph::Dim;
using graph::Shape;
using graph::ValueId;
using reference::HostTensor;
using Ints = std::vector<int64_t>;

/// Makes the data of one input: its dtype, its concrete shape, a seed.
using Fill = std::function<HostTensor(DType, Ints, uint64_t)>;

/// Uniform in [low, high).
Fill uniform(double low = -1, double high = 1);
/// Multiples of `step` in [-limit, limit]: sums of a few thousand are exact.
Fill grid(double step, double limit);
/// The given values, repeated in row-major order.
Fill values(std::vector<double> list);
/// The element's number along `axis`.
Fill ramp(int64_t axis);

class Sketch {
public:
  Dim dim(const std::string &name, int64_t min = 0, int64_t max = 4096);
  ValueId input(DType dtype, const Shape &shape, Fill fill = uniform(),
                const std::string &name = {});
  ValueId op(const std::string &kind, std::vector<ValueId> operands,
             AttrMap attrs = {}, const std::string &label = {});
  /// All results of an op that may have two.
  std::vector<ValueId> ops(const std::string &kind,
                           std::vector<ValueId> operands, AttrMap attrs = {},
                           const std::string &label = {});
  ValueId constant(double value, DType dtype);
  void output(ValueId id, const std::string &name = {});

  const graph::Graph &graph() const { return made; }
  /// Data for all inputs at these sizes.
  std::vector<HostTensor> data(const DimValues &dims, uint64_t seed = 1) const;
  /// Ends the running test as skipped where the device has no code for it.
  Result<std::unique_ptr<Subject>> compile(const Options &options = {}) const;

private:
  graph::Graph made;
  std::vector<Fill> fills;
};

/// What a plan launches where its sizes are greatest: of variants the last.
std::vector<plan::Launch> launchesAtMost(const plan::Plan &plan);

/// What a plan launches: families and ops, for messages.
std::string kernelsOf(const plan::Plan &plan);

/// Compiles, runs at the given sizes and gives the outputs; failures fail the
/// test and give no tensors.
std::vector<HostTensor> outputsOf(const Sketch &sketch,
                                  const DimValues &dims = {},
                                  const Options &options = {});

/// The elements of a tensor in row-major order.
std::vector<double> elementsOf(const HostTensor &tensor);

/// Compiles fused and unfused, and checks both at every size against the
/// oracle, on dense and on strided, misaligned tensors.
void checkEverywhere(const Sketch &sketch, const std::vector<DimValues> &sizes,
                     Options options = {});
/// The same for the fused plan only.
void checkFused(const Sketch &sketch, const std::vector<DimValues> &sizes,
                Options options = {});

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_SKETCH_H
