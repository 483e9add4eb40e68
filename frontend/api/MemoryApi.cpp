//===- MemoryApi.cpp - device memory, streams, events, recordings ---------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/c/memory.h"

#include "frontend/api/Handles.h"

using namespace azulejo;
using namespace azulejo::api;
using DeviceRef = std::shared_ptr<runtime::Device>;

struct az_buffer {
  DeviceRef device;
  void *data;
  size_t bytes;
};
struct az_stream {
  DeviceRef device;
  void *handle;
};
struct az_event {
  DeviceRef device;
  void *handle;
};
struct az_recording {
  DeviceRef device;
  void *handle;
};

/// The memory of a device that is here.
static Result<DeviceRef> deviceOf(const az_device *device, const char *where) {
  if (!device)
    return invalidCall(where, "device is null");
  if (device->memory)
    return device->memory;
  return makeError(ErrorCode::Unsupported, "device '" + device->name + "'",
                   "it is a name to compile for, and has no memory",
                   "run.device", "open 'cpu' or 'cuda'");
}

static Status checkRange(const az_buffer *buffer, size_t offset,
                         const void *host, size_t bytes, const char *where) {
  if (!buffer || (bytes > 0 && !host))
    return invalidCall(where, "an argument is null");
  if (offset > buffer->bytes || bytes > buffer->bytes - offset)
    return makeError(
        ErrorCode::InvalidArgument, where,
        std::to_string(bytes) + " bytes from " + std::to_string(offset) +
            " on exceed the buffer's " + std::to_string(buffer->bytes),
        "buffer.range",
        "keep offset + bytes within the size that it was created with");
  return {};
}

static void *placeOf(const az_buffer *buffer, size_t offset) {
  return static_cast<char *>(buffer->data) + offset;
}

az_status az_buffer_create(const az_device *device, size_t bytes,
                           az_buffer **buffer, az_error **error) {
  return guarded("az_buffer_create", error, [&]() -> Status {
    Result<DeviceRef> place = deviceOf(device, "az_buffer_create");
    if (!place)
      return place.error();
    if (!buffer)
      return invalidCall("az_buffer_create", "buffer is null");
    auto made = std::make_unique<az_buffer>(az_buffer{*place, nullptr, bytes});
    Result<void *> data = (*place)->allocate(bytes);
    if (!data)
      return data.error();
    made->data = *data;
    *buffer = made.release();
    return {};
  });
}

void az_buffer_destroy(az_buffer *buffer) {
  if (buffer)
    buffer->device->free(buffer->data);
  delete buffer;
}

void *az_buffer_data(const az_buffer *buffer) {
  return buffer ? buffer->data : nullptr;
}

size_t az_buffer_size(const az_buffer *buffer) {
  return buffer ? buffer->bytes : 0;
}

az_status az_buffer_write(az_buffer *buffer, size_t offset, const void *from,
                          size_t bytes, void *stream, az_error **error) {
  return guarded("az_buffer_write", error, [&]() -> Status {
    if (Status status =
            checkRange(buffer, offset, from, bytes, "az_buffer_write");
        !status)
      return status;
    return buffer->device->upload(placeOf(buffer, offset), from, bytes, stream);
  });
}

az_status az_buffer_read(const az_buffer *buffer, size_t offset, void *to,
                         size_t bytes, void *stream, az_error **error) {
  return guarded("az_buffer_read", error, [&]() -> Status {
    if (Status status = checkRange(buffer, offset, to, bytes, "az_buffer_read");
        !status)
      return status;
    return buffer->device->download(to, placeOf(buffer, offset), bytes, stream);
  });
}

az_status az_buffer_fill(az_buffer *buffer, size_t offset, size_t bytes,
                         int32_t byte, void *stream, az_error **error) {
  return guarded("az_buffer_fill", error, [&]() -> Status {
    if (Status status =
            checkRange(buffer, offset, buffer, bytes, "az_buffer_fill");
        !status)
      return status;
    if (byte < 0 || byte > 255)
      return invalidCall("az_buffer_fill", "byte is not 0 to 255");
    return buffer->device->fill(placeOf(buffer, offset),
                                static_cast<unsigned char>(byte), bytes,
                                stream);
  });
}

/// Makes a handle of what `make` makes on the device.
template <typename Handle>
static Status makeHandle(const az_device *device, const char *where,
                         Result<void *> (runtime::Device::*make)(),
                         Handle **out) {
  Result<DeviceRef> place = deviceOf(device, where);
  if (!place)
    return place.error();
  if (!out)
    return invalidCall(where, "an argument is null");
  auto made = std::make_unique<Handle>(Handle{*place, nullptr});
  Result<void *> handle = ((**place).*make)();
  if (!handle)
    return handle.error();
  made->handle = *handle;
  *out = made.release();
  return {};
}

az_status az_stream_create(const az_device *device, az_stream **stream,
                           az_error **error) {
  return guarded("az_stream_create", error, [&] {
    return makeHandle(device, "az_stream_create", &runtime::Device::makeStream,
                      stream);
  });
}

void az_stream_destroy(az_stream *stream) {
  if (stream)
    stream->device->freeStream(stream->handle);
  delete stream;
}

void *az_stream_handle(const az_stream *stream) {
  return stream ? stream->handle : nullptr;
}

az_status az_device_synchronize(const az_device *device, void *stream,
                                az_error **error) {
  return guarded("az_device_synchronize", error, [&]() -> Status {
    Result<DeviceRef> place = deviceOf(device, "az_device_synchronize");
    return place ? (*place)->synchronize(stream) : Status(place.error());
  });
}

az_status az_event_create(const az_device *device, az_event **event,
                          az_error **error) {
  return guarded("az_event_create", error, [&] {
    return makeHandle(device, "az_event_create", &runtime::Device::makeEvent,
                      event);
  });
}

void az_event_destroy(az_event *event) {
  if (event)
    event->device->freeEvent(event->handle);
  delete event;
}

az_status az_event_record(az_event *event, void *stream, az_error **error) {
  return guarded("az_event_record", error, [&]() -> Status {
    if (!event)
      return invalidCall("az_event_record", "event is null");
    return event->device->record(event->handle, stream);
  });
}

az_status az_event_wait(az_event *event, az_error **error) {
  return guarded("az_event_wait", error, [&]() -> Status {
    if (!event)
      return invalidCall("az_event_wait", "event is null");
    return event->device->wait(event->handle);
  });
}

az_status az_event_elapsed(az_event *from, az_event *to, double *microseconds,
                           az_error **error) {
  return guarded("az_event_elapsed", error, [&]() -> Status {
    if (!from || !to || !microseconds)
      return invalidCall("az_event_elapsed", "an argument is null");
    if (from->device != to->device)
      return invalidCall("az_event_elapsed", "the events are of two devices");
    Result<double> time = from->device->elapsedUs(from->handle, to->handle);
    if (!time)
      return time.error();
    *microseconds = *time;
    return {};
  });
}

az_status az_recording_begin(const az_device *device, void *stream,
                             az_error **error) {
  return guarded("az_recording_begin", error, [&]() -> Status {
    Result<DeviceRef> place = deviceOf(device, "az_recording_begin");
    return place ? (*place)->beginCapture(stream) : Status(place.error());
  });
}

az_status az_recording_end(const az_device *device, void *stream,
                           az_recording **recording, az_error **error) {
  return guarded("az_recording_end", error, [&]() -> Status {
    Result<DeviceRef> place = deviceOf(device, "az_recording_end");
    if (!place)
      return place.error();
    if (!recording)
      return invalidCall("az_recording_end", "recording is null");
    auto made = std::make_unique<az_recording>(az_recording{*place, nullptr});
    Result<void *> handle = (*place)->endCapture(stream);
    if (!handle)
      return handle.error();
    made->handle = *handle;
    *recording = made.release();
    return {};
  });
}

az_status az_recording_replay(const az_recording *recording, void *stream,
                              az_error **error) {
  return guarded("az_recording_replay", error, [&]() -> Status {
    if (!recording)
      return invalidCall("az_recording_replay", "recording is null");
    return recording->device->replay(recording->handle, stream);
  });
}

void az_recording_destroy(az_recording *recording) {
  if (recording)
    recording->device->freeRecording(recording->handle);
  delete recording;
}
