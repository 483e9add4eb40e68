//===- DeviceQueue.cpp - a GPU for trials, with deadlines -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/DeviceQueue.h"

#include "autotune/measure/Disturbance.h"

#include <cstdio>
#include <unistd.h>

namespace azulejo::measure {

using namespace runtime::cuda;

Result<std::unique_ptr<DeviceQueue>>
DeviceQueue::make(std::shared_ptr<CudaDevice> device) {
  std::unique_ptr<DeviceQueue> queue(new DeviceQueue(std::move(device)));
  Result<void *> stream = queue->gpu->makeStream();
  if (!stream)
    return stream.error();
  queue->stream = *stream;
  Result<void *> event = queue->gpu->makeEvent();
  if (!event)
    return event.error();
  queue->event = *event;
  return queue;
}

DeviceQueue::~DeviceQueue() {
  if (isSpent())
    return;
  gpu->freeEvent(event);
  gpu->freeStream(stream);
}

static Error hungError(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "a kernel did not end within %.3g s",
                seconds);
  return makeError(
      ErrorCode::Timeout, "device", text, "device.timeout",
      "the schedule is left out; pin another one if no tuner ran it");
}

Status DeviceQueue::drain(double seconds) {
  if (hung)
    return hungError(seconds);
  if (Status status = gpu->record(event, stream); !status)
    return status;
  int64_t start = nowNs(), end = start + static_cast<int64_t>(seconds * 1e9);
  for (;;) {
    ContextScope scope(gpu->api(), gpu->retained());
    Code code = scope.entered();
    if (code == 0)
      code = gpu->api().eventQuery(static_cast<EventHandle>(event));
    if (code != kErrorNotReady)
      return gpu->check(code, "running the kernel");
    int64_t now = nowNs();
    if (now > end) {
      hung = true;
      return hungError(seconds);
    }
    // Asking costs a core; what takes long need not be seen at once.
    if (now - start > 2'000'000)
      usleep(50);
  }
}

Status DeviceQueue::copy(void *to, const void *from, int64_t bytes) {
  if (bytes == 0)
    return {};
  ContextScope scope(gpu->api(), gpu->retained());
  if (Code code = scope.entered())
    return gpu->failed(code, "its context cannot be used");
  auto address = [](const void *memory) {
    return static_cast<Address>(reinterpret_cast<uintptr_t>(memory));
  };
  return gpu->check(gpu->api().memcpyDtoDAsync(
                        address(to), address(from), static_cast<size_t>(bytes),
                        static_cast<StreamHandle>(stream)),
                    "a copy within it");
}

} // namespace azulejo::measure
