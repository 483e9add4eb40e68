//===- CpuDevice.cpp - host memory as a device has it ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cpu/CpuDevice.h"

#include <chrono>
#include <cstring>
#include <new>
#include <string>

namespace azulejo::runtime {

using Clock = std::chrono::steady_clock;

namespace {
struct Stamp {
  Clock::time_point at;
  bool recorded = false;
};
constexpr std::align_val_t kAlign{64};
} // namespace

static Status checkStream(void *stream) {
  if (!stream)
    return {};
  return makeError(ErrorCode::InvalidArgument, "device 'cpu'",
                   "a stream is given, and a CPU has none", "run.stream",
                   "pass no stream");
}

static Error noCapture() {
  return makeError(ErrorCode::Unsupported, "device 'cpu'",
                   "runs on a CPU cannot be recorded", "device.capture",
                   "call run again instead");
}

Result<void *> CpuDevice::allocate(size_t bytes) {
  if (void *memory = ::operator new(bytes ? bytes : 1, kAlign, std::nothrow))
    return memory;
  return makeError(ErrorCode::OutOfMemory, "device 'cpu'",
                   "an allocation of " + std::to_string(bytes) + " bytes",
                   "device.memory", "free memory, or use smaller sizes");
}

void CpuDevice::free(void *memory) { ::operator delete(memory, kAlign); }

Status CpuDevice::upload(void *to, const void *from, size_t bytes,
                         void *stream) {
  if (bytes)
    std::memcpy(to, from, bytes);
  return checkStream(stream);
}

Status CpuDevice::download(void *to, const void *from, size_t bytes,
                           void *stream) {
  return upload(to, from, bytes, stream);
}

Status CpuDevice::fill(void *to, unsigned char byte, size_t bytes,
                       void *stream) {
  if (bytes)
    std::memset(to, byte, bytes);
  return checkStream(stream);
}

Status CpuDevice::synchronize(void *stream) { return checkStream(stream); }

Result<void *> CpuDevice::makeEvent() { return static_cast<void *>(new Stamp); }

void CpuDevice::freeEvent(void *event) { delete static_cast<Stamp *>(event); }

Status CpuDevice::record(void *event, void *stream) {
  *static_cast<Stamp *>(event) = {Clock::now(), true};
  return checkStream(stream);
}

Result<double> CpuDevice::elapsedUs(void *from, void *to) {
  const auto &a = *static_cast<Stamp *>(from), &b = *static_cast<Stamp *>(to);
  if (!a.recorded || !b.recorded)
    return makeError(ErrorCode::InvalidArgument, "device 'cpu'",
                     "an event was never recorded", "device.event",
                     "record both events first");
  return std::chrono::duration<double, std::micro>(b.at - a.at).count();
}

Status CpuDevice::beginCapture(void *stream) { return noCapture(); }
Result<void *> CpuDevice::endCapture(void *stream) { return noCapture(); }
Status CpuDevice::replay(void *recording, void *stream) { return noCapture(); }

} // namespace azulejo::runtime
