//===- Memory.h - memory, streams and events of a device --------*- C++ -*-===//
//
// As much of a device as it takes to run an executable on it and to time that,
// without CUDA headers; see c/memory.h. The same code serves a CPU:
//
//   Result<Buffer> x = Buffer::create(device, bytes);
//   x->write(host.data(), bytes);
//   executable.run(stream, {TensorView(x->data(), f32, shape), ...}, work);
//   device.synchronize();
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_MEMORY_H
#define AZULEJO_MEMORY_H

#include "azulejo/Device.h"

#include "azulejo/c/memory.h"

#include <cstddef>

namespace azulejo {
inline namespace v0 {
namespace detail {

/// A C++ owner of what a C function makes on a device.
template <typename Owner, typename Raw, typename Fn, typename... Args>
Result<Owner> make(Fn *create, const az_device *device, Args... args) {
  Raw *raw = nullptr;
  if (Status status = call(create, device, args..., &raw); !status)
    return status.error();
  return Owner(raw);
}

} // namespace detail

/// Memory of a device, freed with the object.
class Buffer {
public:
  explicit Buffer(az_buffer *owned) : buffer(owned) {}
  static Result<Buffer> create(const Device &device, size_t bytes) {
    return detail::make<Buffer, az_buffer>(az_buffer_create, device.handle(),
                                           bytes);
  }
  /// For TensorView and Workspace; an address of the device's.
  void *data() const { return az_buffer_data(buffer.get()); }
  size_t size() const { return az_buffer_size(buffer.get()); }

  /// Copies that come after earlier work of the stream and are done on return.
  Status write(const void *from, size_t bytes, size_t offset = 0,
               void *stream = nullptr) {
    return detail::call(az_buffer_write, buffer.get(), offset, from, bytes,
                        stream);
  }
  Status read(void *to, size_t bytes, size_t offset = 0,
              void *stream = nullptr) const {
    return detail::call(az_buffer_read,
                        static_cast<const az_buffer *>(buffer.get()), offset,
                        to, bytes, stream);
  }
  /// Every byte; enqueued only.
  Status fill(uint8_t byte, void *stream = nullptr) {
    return detail::call(az_buffer_fill, buffer.get(), size_t{0}, size(),
                        static_cast<int32_t>(byte), stream);
  }

private:
  std::unique_ptr<az_buffer, detail::Free<az_buffer_destroy>> buffer;
};

/// A stream of a GPU; on a CPU, its only one.
class DeviceStream {
public:
  explicit DeviceStream(az_stream *owned) : stream(owned) {}
  static Result<DeviceStream> create(const Device &device) {
    return detail::make<DeviceStream, az_stream>(az_stream_create,
                                                 device.handle());
  }
  /// For Stream::handle.
  void *handle() const { return az_stream_handle(stream.get()); }

private:
  std::unique_ptr<az_stream, detail::Free<az_stream_destroy>> stream;
};

/// A moment in a stream.
class Event {
public:
  explicit Event(az_event *owned) : event(owned) {}
  static Result<Event> create(const Device &device) {
    return detail::make<Event, az_event>(az_event_create, device.handle());
  }
  Status record(void *stream) {
    return detail::call(az_event_record, event.get(), stream);
  }
  Status wait() { return detail::call(az_event_wait, event.get()); }
  /// Microseconds from `since` to this one; both have happened.
  Result<double> elapsedSince(const Event &since) const {
    double us = 0;
    Status status =
        detail::call(az_event_elapsed, since.event.get(), event.get(), &us);
    return status ? Result<double>(us) : status.error();
  }

private:
  std::unique_ptr<az_event, detail::Free<az_event_destroy>> event;
};

/// Work of a stream, written down to be replayed with one call.
class Recording {
public:
  explicit Recording(az_recording *owned) : recording(owned) {}
  static Status begin(const Device &device, void *stream) {
    return detail::call(az_recording_begin, device.handle(), stream);
  }
  static Result<Recording> end(const Device &device, void *stream) {
    return detail::make<Recording, az_recording>(az_recording_end,
                                                 device.handle(), stream);
  }
  Status replay(void *stream) const {
    return detail::call(az_recording_replay,
                        static_cast<const az_recording *>(recording.get()),
                        stream);
  }

private:
  std::unique_ptr<az_recording, detail::Free<az_recording_destroy>> recording;
};

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_MEMORY_H
