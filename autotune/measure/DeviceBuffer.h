//===- DeviceBuffer.h - GPU memory between two redzones ---------*- C++ -*-===//
//
// GuardedBuffer.h for memory of a device: the same layout, poison and patterns,
// and the tensors of one run made of it. The host never sees the data: redzones
// are compared with their pattern by a kernel.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_DEVICEBUFFER_H
#define AZULEJO_AUTOTUNE_MEASURE_DEVICEBUFFER_H

#include "autotune/measure/DeviceChecks.h"
#include "autotune/measure/GuardedBuffer.h"
#include "runtime/Executable.h"

namespace azulejo::measure {

class DeviceBuffer {
public:
  /// The data is 256-byte aligned. Enqueues the filling of the redzones.
  static Result<DeviceBuffer> make(DeviceQueue &queue, int64_t bytes,
                                   int64_t redzoneBytes, unsigned char pattern);
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();

  char *data() const { return memory + redzone; }
  int64_t bytes() const { return size; }

  /// Enqueues filling the data with ones.
  Status poison();
  /// The offset from data() of the damaged byte nearest to the data. Damage is
  /// healed. The queue must be drained.
  Result<std::optional<int64_t>> takeDamage(DeviceChecks &checks);

private:
  explicit DeviceBuffer(DeviceQueue &queue) : queue(&queue) {}
  Status fillRedzones();

  DeviceQueue *queue;
  char *memory = nullptr;
  int64_t size = 0, redzone = 0;
  unsigned char pattern = kPoison;
};

/// One buffer per binding of a plan, for given sizes of its dimensions in plan
/// order: the device's form of TensorSet.
class DeviceTensors {
public:
  static Result<DeviceTensors> make(DeviceQueue &queue, const plan::Plan &plan,
                                    std::span<const int64_t> dims,
                                    int64_t redzoneBytes);

  size_t inputCount() const { return inputs; }
  size_t count() const { return buffers.size(); }
  DeviceBuffer &buffer(size_t binding) { return buffers[binding]; }
  const std::vector<int64_t> &shape(size_t binding) const {
    return shapes[binding];
  }
  DType dtype(size_t binding) const { return dtypes[binding]; }
  int64_t elements(size_t binding) const;
  int64_t bytes() const;

  Status poisonOutputs();
  /// "output 0: written 4 bytes past the end"
  Result<std::optional<std::string>> takeDamage(DeviceChecks &checks);
  /// Enqueues one run.
  Status run(const runtime::Executable &executable, DeviceBuffer &workspace,
             const runtime::Queue &queue);

private:
  DeviceTensors() = default;
  std::vector<DeviceBuffer> buffers;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<DType> dtypes;
  std::vector<az_tensor> tensors;
  size_t inputs = 0;
};

Result<DeviceBuffer> makeWorkspace(DeviceQueue &queue,
                                   const runtime::Executable &executable,
                                   std::span<const int64_t> dims,
                                   int64_t redzoneBytes);

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_DEVICEBUFFER_H
