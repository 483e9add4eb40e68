//===- TensorSet.h - the tensors of one run, guarded ------------*- C++ -*-===//
//
// One buffer per binding of an executable, for given sizes of its dimensions.
// Never the user's memory: an in-place kernel that is run a hundred times
// would change it a hundred times.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_TENSORSET_H
#define AZULEJO_AUTOTUNE_MEASURE_TENSORSET_H

#include "autotune/measure/GuardedBuffer.h"
#include "runtime/Executable.h"

namespace azulejo::measure {

/// The sizes of a binding and, in `bytes`, of all its elements.
Result<std::vector<int64_t>> bindingShape(const plan::Buffer &buffer,
                                          std::span<const int64_t> dims,
                                          int64_t &bytes);

/// "output 0: written 4 bytes past the end", for damage at `offset` from the
/// start of a binding of `bytes` bytes.
std::string describeDamage(size_t binding, size_t inputs, int64_t offset,
                           int64_t bytes);

class TensorSet {
public:
  /// `dims` are in plan order.
  static Result<TensorSet> make(const plan::Plan &plan,
                                std::span<const int64_t> dims,
                                int64_t redzoneBytes);

  size_t inputCount() const { return inputs; }
  size_t count() const { return buffers.size(); }
  GuardedBuffer &buffer(size_t binding) { return buffers[binding]; }
  const std::vector<int64_t> &shape(size_t binding) const {
    return shapes[binding];
  }
  DType dtype(size_t binding) const { return dtypes[binding]; }
  int64_t bytes() const;

  void poisonOutputs();
  /// "output 0: byte 4096, 0 bytes past the end"; healed by the call.
  std::optional<std::string> takeDamage();

  /// Runs once. `workspace` is large enough.
  Status run(const runtime::Executable &executable, GuardedBuffer &workspace,
             const runtime::Queue &queue);

private:
  TensorSet() = default;
  std::vector<GuardedBuffer> buffers;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<DType> dtypes;
  std::vector<az_tensor> tensors;
  size_t inputs = 0;
};

/// Workspace for runs of an executable at these sizes.
Result<GuardedBuffer> makeWorkspace(const runtime::Executable &executable,
                                    std::span<const int64_t> dims,
                                    const runtime::Queue &queue,
                                    int64_t redzoneBytes);

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_TENSORSET_H
