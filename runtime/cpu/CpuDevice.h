//===- CpuDevice.h - host memory as a device has it -------------*- C++ -*-===//
//
// The same calls as for a GPU, so that a tool has one way for both. There is
// one stream, on which everything is done at once: null.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CPU_CPUDEVICE_H
#define AZULEJO_RUNTIME_CPU_CPUDEVICE_H

#include "runtime/Device.h"

namespace azulejo::runtime {

class CpuDevice : public Device {
public:
  Result<void *> allocate(size_t bytes) override;
  void free(void *memory) override;
  Status upload(void *to, const void *from, size_t bytes,
                void *stream) override;
  Status download(void *to, const void *from, size_t bytes,
                  void *stream) override;
  Status fill(void *to, unsigned char byte, size_t bytes,
              void *stream) override;
  Result<void *> makeStream() override { return static_cast<void *>(nullptr); }
  void freeStream(void *stream) override {}
  Status synchronize(void *stream) override;
  Result<void *> makeEvent() override;
  void freeEvent(void *event) override;
  Status record(void *event, void *stream) override;
  Status wait(void *event) override { return {}; }
  Result<double> elapsedUs(void *from, void *to) override;
  Status beginCapture(void *stream) override;
  Result<void *> endCapture(void *stream) override;
  Status replay(void *recording, void *stream) override;
  void freeRecording(void *recording) override {}
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_CPU_CPUDEVICE_H
