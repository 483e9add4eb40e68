//===- CudaDevice.h - one GPU and its primary context -----------*- C++ -*-===//
//
// The primary context is the one that CUDA's runtime API and the frameworks on
// it use, so their memory and streams are ours as well. It is retained on the
// first use that needs one, not when the device is looked at, and given back
// with the last user of the device.
//
// A context that a kernel has broken (an illegal address, a trap) answers every
// later call with an error, and nothing but the end of the process cures it.
// The device remembers: after the first such code all of its functions return
// DeviceLost without asking the driver, and the object is kept to the end of
// the process, so that opening the device again finds it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CUDA_CUDADEVICE_H
#define AZULEJO_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/Device.h"
#include "runtime/cuda/Driver.h"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace azulejo::runtime::cuda {

/// What the driver says of a device; needs no context. Zero: it does not say.
struct DeviceFacts {
  std::string name, pciBusId;
  int major = 0, minor = 0; ///< compute capability
  int64_t units = 0, sharedPerBlock = 0, registersPerUnit = 0, l2Bytes = 0;
  int64_t memoryBytes = 0;
  double memoryGBs = 0, clockMhz = 0;
  int computeMode = 0;
  bool pageableMemory = false; ///< kernels can read any host memory
};

class CudaDevice : public Device,
                   public std::enable_shared_from_this<CudaDevice> {
public:
  /// How many devices the driver shows to this process.
  static Result<int> count(const Driver &driver);
  /// One object per ordinal and driver as long as anybody holds it.
  static Result<std::shared_ptr<CudaDevice>>
  open(std::shared_ptr<const Driver> driver, int ordinal);
  ~CudaDevice() override;

  const Driver &driver() const { return *owner; }
  const CudaApi &api() const { return owner->api(); }
  const DeviceFacts &facts() const { return described; }
  int ordinal() const { return number; }
  /// "cuda:0"
  const std::string &name() const { return label; }

  /// The primary context, retained on the first call.
  Result<Context> context();
  /// The context if it was retained already, else null. Takes no lock.
  Context retained() const { return primary.load(std::memory_order_acquire); }

  /// Turns a code into a Status, and remembers a loss.
  Status check(Code code, const char *doing) {
    return code == 0 ? Status() : failed(code, doing);
  }
  Status failed(Code code, const std::string &doing);
  /// An error if the device was lost.
  Status alive() const {
    return lost.load(std::memory_order_relaxed) == 0 ? Status() : lossError();
  }

  /// Bytes that are free, and in all.
  Result<std::pair<size_t, size_t>> memory();

  Result<void *> allocate(size_t bytes) override;
  void free(void *memory) override;
  Status upload(void *to, const void *from, size_t bytes,
                void *stream) override;
  Status download(void *to, const void *from, size_t bytes,
                  void *stream) override;
  Status fill(void *to, unsigned char byte, size_t bytes,
              void *stream) override;
  Result<void *> makeStream() override;
  void freeStream(void *stream) override;
  Status synchronize(void *stream) override;
  Result<void *> makeEvent() override;
  void freeEvent(void *event) override;
  Status record(void *event, void *stream) override;
  Status wait(void *event) override;
  Result<double> elapsedUs(void *from, void *to) override;
  Status beginCapture(void *stream) override;
  Result<void *> endCapture(void *stream) override;
  Status replay(void *recording, void *stream) override;
  void freeRecording(void *recording) override;

private:
  CudaDevice(std::shared_ptr<const Driver> driver, int ordinal)
      : owner(std::move(driver)), number(ordinal),
        label("cuda:" + std::to_string(ordinal)) {}
  Status describe();
  void keep();
  Error lossError() const;
  /// Calls the driver with the context current; retains it if need be.
  template <typename Fn> Status inContext(const char *doing, Fn &&call);

  std::shared_ptr<const Driver> owner;
  int number;
  std::string label;
  DeviceId id = 0;
  DeviceFacts described;
  std::mutex retaining;
  std::atomic<Context> primary{nullptr};
  std::atomic<Code> lost{0};
};

/// Makes a context current on this thread for a scope. A thread may come with
/// none or with another one, and gets it back. When the context is current
/// already, which is how frameworks call us, nothing changes.
class ContextScope {
public:
  ContextScope(const CudaApi &api, Context context) : api(api) {
    Context current = nullptr;
    code = api.ctxGetCurrent(&current);
    if (code == 0 && current != context) {
      code = api.ctxPushCurrent(context);
      pushed = code == 0;
    }
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  ~ContextScope() {
    Context popped = nullptr;
    if (pushed)
      api.ctxPopCurrent(&popped);
  }
  Code entered() const { return code; }

private:
  const CudaApi &api;
  Code code = 0;
  bool pushed = false;
};

} // namespace azulejo::runtime::cuda

#endif // AZULEJO_RUNTIME_CUDA_CUDADEVICE_H
