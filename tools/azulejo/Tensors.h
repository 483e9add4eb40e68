//===- Tensors.h - the memory that a run works on ---------------*- C++ -*-===//
//
// One aligned buffer per binding: inputs from files or random, outputs filled
// with bytes that no right result has, so that an element nobody wrote shows.
// For a GPU each has a twin in the device's memory.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TOOLS_AZULEJO_TENSORS_H
#define AZULEJO_TOOLS_AZULEJO_TENSORS_H

#include "tools/azulejo/Program.h"

namespace azulejo::cli {

/// 64-byte aligned memory.
class AlignedBytes {
public:
  explicit AlignedBytes(size_t bytes);
  char *data() const { return start; }
  size_t size() const { return length; }

private:
  std::unique_ptr<char[]> storage;
  char *start;
  size_t length;
};

struct Tensor {
  std::string name;
  bool isOutput = false;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  AlignedBytes bytes;

  TensorView view() const { return {bytes.data(), dtype, shape}; }
};

/// Where a program runs, and the queue for it.
struct Place {
  Device device;
  DeviceStream lane;
  bool isGpu = false;

  static Result<Place> of(const Executable &executable);
  Stream stream(const ThreadPool &pool) const {
    return {lane.handle(), &pool, true};
  }
};

/// What a program needs for one run.
struct Bindings {
  std::vector<Tensor> tensors;   ///< inputs, then outputs, on the host
  std::vector<Buffer> twins;     ///< GPU: the same on the device
  std::vector<TensorView> views; ///< of what a run works on
  std::vector<TensorView> hostViews;
  std::optional<Buffer> workspace;

  Workspace work() const { return {workspace->data(), workspace->size()}; }
  /// Waits for the run, and brings the outputs to the host.
  Status fetch(const Place &place);
};

/// `files` are NAME=PATH, where the path is a .npy or .safetensors file or raw
/// bytes in row-major order. Other inputs are random. More than 32 GiB in all
/// is refused.
Result<Bindings> makeBindings(const Executable &executable,
                              const std::vector<DimValue> &dims,
                              const std::vector<std::string> &files,
                              uint64_t seed, const Place &place,
                              const ThreadPool &pool);

/// The element bytes of a tensor in a file, once its dtype and shape have been
/// checked (TensorFile.cpp).
Result<std::string> readTensor(const std::string &path, const Tensor &like);
/// The tensor as a .npy file.
std::string npyOf(const Tensor &tensor);

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_TENSORS_H
