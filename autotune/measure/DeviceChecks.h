//===- DeviceChecks.h - comparing where the data lies -----------*- C++ -*-===//
//
// Tensors of a tuned size are hundreds of megabytes, and dozens of candidates
// are verified: results, inputs and redzones are compared on the GPU. The
// kernels are PTX of our own, written by hand, so that nothing that is under
// test takes part; any GPU from compute capability 8.0 on runs them.
//
// A third kernel is a clock: one thread reads the counter of its multiprocessor
// against the global timer for some microseconds. Other than what the driver's
// management library reports, this is the clock at which kernels run.
//
// All calls wait. Nothing may be enqueued that was not drained.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_DEVICECHECKS_H
#define AZULEJO_AUTOTUNE_MEASURE_DEVICECHECKS_H

#include "autotune/measure/DeviceQueue.h"
#include "azulejo/DType.h"
#include "runtime/cuda/CudaBackend.h"

#include <optional>

namespace azulejo::measure {

struct ByteDifference {
  int64_t count = 0, first = 0, last = 0; ///< last: of a byte that differs
};

/// What two arrays of floats have in common and what not.
struct FloatComparison {
  int64_t beyond = 0;      ///< elements that differ by more than allowed
  int64_t firstBeyond = 0; ///< if there is one
  /// Sums over the elements whose expected value is finite.
  double squaredDifference = 0, squaredNorm = 0;
};

class DeviceChecks {
public:
  static Result<std::unique_ptr<DeviceChecks>> make(DeviceQueue &queue);
  ~DeviceChecks();

  /// Where `bytes` bytes at `a` differ from those at `b`.
  Result<std::optional<ByteDifference>>
  compareBytes(const void *a, const void *b, int64_t bytes);
  /// Where `bytes` bytes at `a` are not `pattern`.
  Result<std::optional<ByteDifference>>
  comparePattern(const void *a, unsigned char pattern, int64_t bytes);

  static bool comparesFloats(DType dtype) {
    return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
  }
  /// An element is beyond what is allowed if one of the two values is finite
  /// and the other is not, or if they differ by more than
  /// `limit` * max(|expected|, `typical`).
  Result<FloatComparison> compareFloats(DType dtype, const void *actual,
                                        const void *expected, int64_t count,
                                        double limit, double typical);

  /// Enqueues the clock kernel; readClock() gives its result after a drain.
  Status startClock();
  /// MHz; 0 where the timer did not advance.
  Result<double> readClock();

private:
  explicit DeviceChecks(DeviceQueue &queue)
      : queue(queue), backend(queue.share()) {}
  Status load();
  Status launch(const void *entry, std::span<const int64_t> args, int64_t grid,
                int64_t threads);
  /// Clears the result words, runs the kernel and reads them.
  Status evaluate(const void *entry, std::span<const int64_t> args,
                  int64_t items, std::span<int64_t> result);

  DeviceQueue &queue;
  runtime::cuda::CudaBackend backend;
  std::unique_ptr<runtime::LoadedImage> image;
  const void *bytesKernel = nullptr, *floatsKernel = nullptr,
             *clockKernel = nullptr;
  void *words = nullptr;      ///< results of the comparisons
  void *clockWords = nullptr; ///< cycles and nanoseconds
};

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_DEVICECHECKS_H
