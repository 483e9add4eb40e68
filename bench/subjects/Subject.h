//===- Subject.h - a graph, its data, and the right answer ------*- C++ -*-===//
//
// What the cases measure: a graph built with the public API, random inputs,
// outputs, and a check that evaluates sampled elements in double. The check
// shares no code with the library.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_BENCH_SUBJECTS_SUBJECT_H
#define AZULEJO_BENCH_SUBJECTS_SUBJECT_H

#include "azulejo/Executable.h"
#include "azulejo/Graph.h"
#include "bench/subjects/ErrorTally.h"

#include <deque>
#include <functional>
#include <memory>

namespace azulejo::bench {

/// Owns the memory of its tensors; pointers and views stay valid while it
/// lives. It is made and passed as a unique_ptr.
class Subject {
public:
  Subject() = default;
  Subject(const Subject &) = delete;

  /// An input of the graph, filled with uniform values from [-1, 1).
  Tensor input(const std::string &name, const std::vector<int64_t> &shape,
               DType dtype = DType::F32);
  /// An output of the graph, poisoned.
  void output(const std::string &name, const Tensor &value,
              const std::vector<int64_t> &shape, DType dtype = DType::F32);

  /// Memory of a binding: inputs in order, then outputs.
  void *data(size_t binding) const { return bindings[binding].data; }
  const float *floats(size_t binding) const {
    return static_cast<const float *>(bindings[binding].data);
  }
  /// Fills the outputs with NaN.
  void poison() const;

  Graph graph;
  std::vector<TensorView> bindings;
  double bytes = 0; ///< that any implementation must move
  double flops = 0;
  std::function<Verdict()> check;

private:
  void *allocate(const std::vector<int64_t> &shape, DType dtype);

  struct Release {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::deque<std::vector<int64_t>> shapes;
  std::vector<std::unique_ptr<void, Release>> storage;
  std::vector<std::pair<void *, size_t>> outputs;
};

float fromBf16(uint16_t bits);
uint16_t toBf16(float value);

/// a [m, k] times b [k, n], or [n, k] when transposed.
std::unique_ptr<Subject> matmulSubject(int64_t m, int64_t n, int64_t k,
                                       bool transposeB, DType dtype);

struct AttentionShape {
  int64_t batch = 1, heads = 12, length = 1024, headSize = 64;
  bool causal = false;
};
std::unique_ptr<Subject> attentionSubject(const AttentionShape &shape);

/// Chains over the rows of [rows, columns] f32.
enum class RowChain {
  ResidualRmsNorm, ///< x + residual, and its RMSNorm; both are outputs
  LayerNorm,       ///< with weight and bias
  Softmax,
  LayerNormSwiGlu, ///< residual + silu(gate) * LayerNorm(x)
};
const char *rowChainName(RowChain chain);
std::unique_ptr<Subject> rowSubject(RowChain chain, int64_t rows,
                                    int64_t columns);

} // namespace azulejo::bench

#endif // AZULEJO_BENCH_SUBJECTS_SUBJECT_H
