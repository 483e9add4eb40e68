//===- TestDevice.cpp - where a conformance run takes place ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/TestDevice.h"

#include "frontend/api/Handles.h"
#include "tests/gpu/CudaDriver.h"

#include <cstdlib>
#include <utility>

namespace azulejo::conformance {

static Error taken(az_error *error) {
  Error copy = error->error;
  az_error_destroy(error);
  return copy;
}

Result<const TestDevice *> TestDevice::open(const std::string &name) {
  std::unique_ptr<TestDevice> made(new TestDevice);
  az_error *error = nullptr;
  if (az_device_open(name.c_str(), &made->device, &error) != AZ_OK)
    return taken(error);
  made->label = az_device_name(made->device);
  made->gpu = made->device->target.kind == target::Kind::Gpu;
  if (made->device->gpu) {
    Result<std::unique_ptr<gputest::CudaDriver>> driver =
        gputest::CudaDriver::open(made->device->gpu->ordinal());
    if (!driver)
      return driver.error();
    made->driver = std::move(*driver);
    made->label = made->driver->deviceName();
    Result<void *> queue = made->driver->createStream();
    if (!queue)
      return queue.error();
    made->queue = *queue;
  }
  // Kernels may still hold on to it when the process ends: never destroyed.
  return made.release();
}

TestDevice::~TestDevice() { az_device_destroy(device); }

const TestDevice &TestDevice::cpu() {
  static const TestDevice &device = **open("cpu");
  return device;
}

const Result<const TestDevice *> &TestDevice::selected() {
  static const Result<const TestDevice *> device = [] {
    const char *name = std::getenv("AZULEJO_TEST_DEVICE");
    return name && *name ? open(name) : Result<const TestDevice *>(&cpu());
  }();
  return device;
}

const TestDevice &TestDevice::current() { return **selected(); }

Status TestDevice::synchronize() const {
  return driver ? driver->synchronize() : Status();
}

RunMemory::RunMemory(const TestDevice &device, size_t count, unsigned char fill)
    : device(&device), bytes(count, fill) {}

RunMemory::RunMemory(RunMemory &&other) noexcept
    : device(other.device), bytes(std::move(other.bytes)),
      pointer(std::exchange(other.pointer, 0)) {}

RunMemory::~RunMemory() {
  if (pointer)
    device->cuda()->free(pointer);
}

char *RunMemory::address() {
  return device->isGpu() ? reinterpret_cast<char *>(pointer)
                         : reinterpret_cast<char *>(bytes.data());
}

Status RunMemory::upload() {
  if (!device->isGpu() || bytes.empty())
    return {};
  if (!pointer) {
    Result<gputest::DevicePointer> made = device->cuda()->allocate(size());
    if (!made)
      return made.error();
    pointer = *made;
  }
  return device->cuda()->upload(pointer, bytes.data(), bytes.size());
}

Status RunMemory::download() {
  if (!device->isGpu() || bytes.empty())
    return {};
  return device->cuda()->download(bytes.data(), pointer, bytes.size());
}

} // namespace azulejo::conformance
