//===- Tensors.h - the memory that a run works on ---------------*- C++ -*-===//
//
// One aligned buffer per binding: inputs from files or random, outputs filled
// with bytes that no right result has, so that an element nobody wrote shows.
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

/// What a program needs for one run.
struct Bindings {
  std::vector<Tensor> tensors; ///< inputs, then outputs
  std::vector<TensorView> views;
  std::unique_ptr<AlignedBytes> workspace;

  Workspace work() const { return {workspace->data(), workspace->size()}; }
};

/// `files` are NAME=PATH, where the path is a .npy or .safetensors file or raw
/// bytes in row-major order. Other inputs are random. More than 32 GiB in all
/// is refused.
Result<Bindings> makeBindings(const Executable &executable,
                              const std::vector<DimValue> &dims,
                              const std::vector<std::string> &files,
                              uint64_t seed, const Stream &stream);

/// The element bytes of a tensor in a file, once its dtype and shape have been
/// checked (TensorFile.cpp).
Result<std::string> readTensor(const std::string &path, const Tensor &like);
/// The tensor as a .npy file.
std::string npyOf(const Tensor &tensor);

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_TENSORS_H
