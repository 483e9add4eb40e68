//===- HostTensor.h - a tensor in host memory -------------------*- C++ -*-===//
//
// Data for the examples: aligned bytes with a shape and an element type, filled
// from a seed, and read back as floats whatever the element type is.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MEASURE_HOSTTENSOR_H
#define AZULEJO_EXAMPLES_MEASURE_HOSTTENSOR_H

#include "azulejo/Executable.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace measure {

/// Memory aligned for any kernel. It is not touched, so it costs nothing until
/// somebody writes to it.
class AlignedBytes {
public:
  static constexpr size_t alignment = 64;
  explicit AlignedBytes(size_t bytes)
      : memory(std::aligned_alloc(alignment,
                                  (bytes + alignment) / alignment * alignment)),
        count(bytes) {}
  void *data() const { return memory.get(); }
  size_t size() const { return count; }

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> memory;
  size_t count;
};

class HostTensor {
public:
  /// Zeros.
  HostTensor(azulejo::DType dtype, std::vector<int64_t> shape);
  /// Normally distributed numbers; the same seed gives the same numbers.
  static HostTensor random(azulejo::DType dtype, std::vector<int64_t> shape,
                           uint64_t seed, float scale = 1);
  static HostTensor of(std::vector<int64_t> shape,
                       const std::vector<float> &values);
  static HostTensor of(std::vector<int64_t> shape,
                       const std::vector<int32_t> &values);

  /// Element `index` in row-major order; F32, BF16 or I32.
  float at(int64_t index) const;
  void set(int64_t index, float value);
  int64_t elementCount() const { return elements; }
  const std::vector<int64_t> &shape() const { return sizes; }
  azulejo::TensorView view() const { return {storage.data(), type, sizes}; }

private:
  azulejo::DType type;
  std::vector<int64_t> sizes;
  int64_t elements;
  AlignedBytes storage;
};

/// The 2-norm of a - b over the 2-norm of b; NaN where either holds one.
double relativeError(const HostTensor &a, const HostTensor &b);

} // namespace measure

#endif // AZULEJO_EXAMPLES_MEASURE_HOSTTENSOR_H
