//===- CudaDriver.h - as much of the CUDA driver as tests need --*- C++ -*-===//
//
// The driver's calls as they are, without the runtime's devices and backends
// above them, so that a mistake there cannot hide itself here. Declarations and
// loader are runtime/cuda's: a test program starts on any machine and can say
// why it does nothing there.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_CUDADRIVER_H
#define AZULEJO_TESTS_GPU_CUDADRIVER_H

#include "azulejo/DType.h"
#include "azulejo/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace azulejo::gputest {

using DevicePointer = unsigned long long;

/// A tensor as bulk copies see it, innermost axis first. Strides are in bytes
/// and begin with that of the second axis.
struct TensorMapRequest {
  DType dtype = DType::BF16;
  DevicePointer address = 0;
  std::vector<uint64_t> sizes, strides;
  std::vector<uint32_t> box;
  int64_t swizzle = 16; ///< bytes over which chunks are permuted; 16: none
};
using TensorMap = std::array<unsigned char, 128>;

class CudaDriver {
public:
  /// A device's primary context, current on this thread. Fails with DriverEnv
  /// where there is no driver or no such device.
  static Result<std::unique_ptr<CudaDriver>> open(int ordinal = 0);
  ~CudaDriver();

  const std::string &deviceName() const { return name; }
  /// Compute capability, 90 for 9.0.
  int capability() const { return major * 10 + minor; }

  Result<DevicePointer> allocate(size_t bytes);
  void free(DevicePointer pointer);
  Status upload(DevicePointer to, const void *from, size_t bytes);
  Status download(void *to, DevicePointer from, size_t bytes);
  Status synchronize();
  /// A stream of its own, which lives as long as the context.
  Result<void *> createStream();

  /// A function of a cubin or of PTX text; the module lives as long as *this.
  Result<void *> load(const std::string &image, const std::string &entry);
  Status launch(void *function, int64_t blocks, int64_t threads,
                std::vector<int64_t> &args);
  /// The same with all arguments in one block, tensor maps first, and with
  /// shared memory that is asked for.
  Status launch(void *function, int64_t blocks, int64_t threads,
                int64_t sharedBytes, std::vector<unsigned char> &arguments,
                size_t maps);
  Result<TensorMap> tensorMap(const TensorMapRequest &request);
  /// Milliseconds of `count` launches, back to back.
  Result<float> time(void *function, int64_t blocks, int64_t threads,
                     std::vector<int64_t> &args, int count);

private:
  CudaDriver() = default;
  Status check(int code, const std::string &what);

  struct Opened;
  std::unique_ptr<Opened> api;
  std::vector<void *> modules;
  std::string name;
  int device = 0, major = 0, minor = 0;
  bool retained = false;
};

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_CUDADRIVER_H
