//===- DeviceQueue.h - a GPU for trials, with deadlines ---------*- C++ -*-===//
//
// A stream of a GPU on which candidates run. Nobody can stop a kernel that
// never ends, and every ordinary call of the driver would wait for it. So after
// a candidate was enqueued there is exactly one legal step: drain(), which asks
// an event whether it has happened and gives up at a deadline. From then on the
// queue is hung: it refuses everything, gives nothing back to the driver (that
// would wait, too), and only the end of this process frees the device.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_DEVICEQUEUE_H
#define AZULEJO_AUTOTUNE_MEASURE_DEVICEQUEUE_H

#include "runtime/Backend.h"
#include "runtime/cuda/CudaDevice.h"

#include <memory>
#include <mutex>
#include <vector>

namespace azulejo::measure {

/// Keeps, to the end of the process, an object whose own end would wait for a
/// device that does not answer any more.
template <typename T> void keepForGood(std::unique_ptr<T> object) {
  static std::mutex lock;
  static auto *kept = new std::vector<std::unique_ptr<T>>;
  std::lock_guard guard(lock);
  kept->push_back(std::move(object));
}

class DeviceQueue {
public:
  static Result<std::unique_ptr<DeviceQueue>>
  make(std::shared_ptr<runtime::cuda::CudaDevice> device);
  ~DeviceQueue();

  runtime::cuda::CudaDevice &device() const { return *gpu; }
  std::shared_ptr<runtime::cuda::CudaDevice> share() const { return gpu; }
  runtime::Queue queue() const { return {stream, nullptr}; }
  void *handle() const { return stream; }

  /// Waits until all that was enqueued is done, but no longer than `seconds`.
  /// Errors: Timeout (rule "device.timeout"), DeviceLost.
  Status drain(double seconds);
  /// Enqueues a copy within the device.
  Status copy(void *to, const void *from, int64_t bytes);

  /// A kernel did not end, or the context is lost: nothing more can be had of
  /// this process.
  bool isSpent() const { return hung || !gpu->alive(); }

private:
  explicit DeviceQueue(std::shared_ptr<runtime::cuda::CudaDevice> device)
      : gpu(std::move(device)) {}

  std::shared_ptr<runtime::cuda::CudaDevice> gpu;
  void *stream = nullptr, *event = nullptr;
  bool hung = false;
};

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_DEVICEQUEUE_H
