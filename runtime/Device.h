//===- Device.h - memory, streams and events of a device --------*- C++ -*-===//
//
// What tools, tests, examples and engines without an API of their own need
// around a run. Nothing of it is used by Executable::run, which takes memory
// and stream as the caller has them.
//
// Handles are plain pointers, as the device's own API has them: memory is an
// address that kernels can use, a stream is what Queue::stream takes. Null is
// the default stream everywhere.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_DEVICE_H
#define AZULEJO_RUNTIME_DEVICE_H

#include "azulejo/Error.h"

#include <cstddef>

namespace azulejo::runtime {

/// Safe to use from any thread. What was made by a device is given back to it.
class Device {
public:
  virtual ~Device() = default;

  /// At least 64-byte aligned; not null, even for no bytes.
  virtual Result<void *> allocate(size_t bytes) = 0;
  virtual void free(void *memory) = 0;
  /// Copies between the host and the device come after earlier work of the
  /// stream and are done on return.
  virtual Status upload(void *to, const void *from, size_t bytes,
                        void *stream) = 0;
  virtual Status download(void *to, const void *from, size_t bytes,
                          void *stream) = 0;
  /// Enqueued only.
  virtual Status fill(void *to, unsigned char byte, size_t bytes,
                      void *stream) = 0;

  virtual Result<void *> makeStream() = 0;
  virtual void freeStream(void *stream) = 0;
  /// Waits for all work of the stream, and reports how it went.
  virtual Status synchronize(void *stream) = 0;

  virtual Result<void *> makeEvent() = 0;
  virtual void freeEvent(void *event) = 0;
  virtual Status record(void *event, void *stream) = 0;
  virtual Status wait(void *event) = 0;
  /// Microseconds between two events that have happened.
  virtual Result<double> elapsedUs(void *from, void *to) = 0;

  /// What is enqueued on `stream` from now on is written down instead of done;
  /// endCapture returns it as something to replay.
  virtual Status beginCapture(void *stream) = 0;
  virtual Result<void *> endCapture(void *stream) = 0;
  virtual Status replay(void *recording, void *stream) = 0;
  virtual void freeRecording(void *recording) = 0;
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_DEVICE_H
