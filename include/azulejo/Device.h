//===- Device.h - where kernels run, and on which threads -------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_DEVICE_H
#define AZULEJO_DEVICE_H

#include "azulejo/Handle.h"

#include <cstdint>

namespace azulejo {
inline namespace v0 {

/// A device: this machine's CPU ("cpu") or one of its GPUs ("cuda", "cuda:1"),
/// or one to compile for, which need not be present ("cpu-avx2", "h200").
class Device {
public:
  explicit Device(az_device *owned) : device(owned) {}
  /// An empty name means AZULEJO_DEVICE, else "cpu".
  static Result<Device> open(const std::string &name = {}) {
    az_device *raw = nullptr;
    if (Status status =
            detail::call(az_device_open, detail::orNull(name), &raw);
        !status)
      return status.error();
    return Device(raw);
  }
  std::string name() const { return az_device_name(handle()); }
  /// Its facts, as JSON.
  Result<std::string> describe() const {
    return detail::callForText(az_device_describe, handle());
  }
  /// Waits for all work of a stream (null: the default one), and reports what
  /// went wrong in it.
  Status synchronize(void *stream = nullptr) const {
    return detail::call(az_device_synchronize, handle(), stream);
  }
  const az_device *handle() const { return device.get(); }

private:
  std::unique_ptr<az_device, detail::Free<az_device_destroy>> device;
};

/// All devices that azulejo knows, as JSON.
inline Result<std::string> devices() { return detail::callForText(az_devices); }

/// Threads that kernels on a CPU share. Without one, executables use a pool of
/// the process.
class ThreadPool {
public:
  /// 0 threads: AZULEJO_NUM_THREADS, else all CPUs this process may use. One
  /// thread runs everything on the caller.
  static Result<ThreadPool> create(int32_t threads = 0) {
    az_pool *raw = nullptr;
    if (Status status = detail::call(az_pool_create, threads, &raw); !status)
      return status.error();
    return ThreadPool(raw);
  }
  /// The host's own threads; see az_parallel_for for the contract.
  static Result<ThreadPool> host(az_parallel_for parallelFor, void *user,
                                 int32_t workers) {
    az_pool *raw = nullptr;
    if (Status status =
            detail::call(az_pool_create_host, parallelFor, user, workers, &raw);
        !status)
      return status.error();
    return ThreadPool(raw);
  }
  int32_t workers() const { return az_pool_workers(handle()); }
  az_pool *handle() const { return pool.get(); }

private:
  explicit ThreadPool(az_pool *raw) : pool(raw) {}
  std::unique_ptr<az_pool, detail::Free<az_pool_destroy>> pool;
};

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_DEVICE_H
