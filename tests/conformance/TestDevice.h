//===- TestDevice.h - where a conformance run takes place -------*- C++ -*-===//
//
// The suite knows nothing of devices: it compiles for a TestDevice and hands it
// the memory of a run. AZULEJO_TEST_DEVICE names the device, as az_device_open
// takes it; unset, it is this machine's CPU.
//
//   AZULEJO_TEST_DEVICE=cuda azulejo-test-conformance
//
// A device that is not of this machine ("h200", "sm_80") can be compiled for
// and nothing more: such a run finds what the compiler or the assembler gets
// wrong, and marks every graph that does compile as skipped.
//
// On a GPU the memory of a run has two sides. The host side is what a test
// fills and looks at: data, poison and redzones alike. upload() makes the
// device side equal to it, download() brings back what the kernels left. The
// memory is taken from the driver by tests/gpu/CudaDriver, not by the runtime
// under test, so a mistake there cannot hide itself here.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_CONFORMANCE_TESTDEVICE_H
#define AZULEJO_TESTS_CONFORMANCE_TESTDEVICE_H

#include "azulejo/Error.h"
#include "azulejo/c/azulejo.h"

#include <memory>
#include <string>
#include <vector>

namespace azulejo::gputest {
class CudaDriver;
}

namespace azulejo::conformance {

class TestDevice {
public:
  /// This machine's CPU.
  static const TestDevice &cpu();
  /// What AZULEJO_TEST_DEVICE names, or why it cannot be had. Opened once.
  static const Result<const TestDevice *> &selected();
  /// selected() where it is there, which a run without it never gets to ask.
  static const TestDevice &current();

  bool isGpu() const { return gpu; }
  /// Whether there is such a device here.
  bool canRun() const { return !gpu || driver; }
  /// "NVIDIA H200", or the CPU's name.
  const std::string &name() const { return label; }
  const az_device *handle() const { return device; }
  /// The stream that runs are put on; null on a CPU.
  void *stream() const { return queue; }
  gputest::CudaDriver *cuda() const { return driver.get(); }
  /// Waits for the kernels of a run and gives what went wrong in them.
  Status synchronize() const;

  ~TestDevice();

private:
  TestDevice() = default;
  static Result<const TestDevice *> open(const std::string &name);

  bool gpu = false;
  std::string label;
  az_device *device = nullptr;
  std::unique_ptr<gputest::CudaDriver> driver;
  void *queue = nullptr;
};

/// The memory of one tensor, or of a workspace.
class RunMemory {
public:
  RunMemory(const TestDevice &device, size_t bytes, unsigned char fill);
  RunMemory(RunMemory &&other) noexcept;
  RunMemory(const RunMemory &) = delete;
  ~RunMemory();

  size_t size() const { return bytes.size(); }
  unsigned char *host() { return bytes.data(); }
  const unsigned char *host() const { return bytes.data(); }
  /// Where a kernel finds host()[0]. Null until upload() on a GPU.
  char *address();
  Status upload();
  Status download();
  bool operator==(const RunMemory &other) const { return bytes == other.bytes; }

private:
  const TestDevice *device;
  std::vector<unsigned char> bytes;
  unsigned long long pointer = 0;
};

} // namespace azulejo::conformance

#endif // AZULEJO_TESTS_CONFORMANCE_TESTDEVICE_H
