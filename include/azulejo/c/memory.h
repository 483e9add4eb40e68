/*===- memory.h - memory, streams and events of a device ----------*- C -*-===*\
|*
|* For tools, tests and engines that have no CUDA headers: as much of a device
|* as it takes to run an executable on it and to time that. An engine with
|* memory and streams of its own needs none of this; both mix freely, since a
|* stream here is a CUstream and the context is the device's primary one.
|*
|* The same calls serve the CPU, which has one stream (NULL) and cannot record.
|* `stream` is a raw handle everywhere: az_stream_handle's, or the caller's.
|* See azulejo.h for the rules that hold for every function. All handles here
|* may be used from any thread; destroying one while the device still works on
|* it is the caller's mistake.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#ifndef AZULEJO_C_MEMORY_H
#define AZULEJO_C_MEMORY_H

#include "azulejo/c/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/*--- Memory ----------------------------------------------------------------*/

typedef struct az_buffer az_buffer;
/* Memory of a device of this machine, at least 64-byte aligned. */
AZ_API az_status az_buffer_create(const az_device *device, size_t bytes,
                                  az_buffer **buffer, az_error **error);
AZ_API void az_buffer_destroy(az_buffer *buffer);
/* The address for az_tensor::data and for a workspace. */
AZ_API void *az_buffer_data(const az_buffer *buffer);
AZ_API size_t az_buffer_size(const az_buffer *buffer);
/* Copies from and to the host's memory. They come after earlier work of the
 * stream, and are done on return. */
AZ_API az_status az_buffer_write(az_buffer *buffer, size_t offset,
                                 const void *from, size_t bytes, void *stream,
                                 az_error **error);
AZ_API az_status az_buffer_read(const az_buffer *buffer, size_t offset,
                                void *to, size_t bytes, void *stream,
                                az_error **error);
/* Sets bytes to 0..255; enqueued only. */
AZ_API az_status az_buffer_fill(az_buffer *buffer, size_t offset, size_t bytes,
                                int32_t byte, void *stream, az_error **error);

/*--- Streams and events ----------------------------------------------------*/

typedef struct az_stream az_stream;
AZ_API az_status az_stream_create(const az_device *device, az_stream **stream,
                                  az_error **error);
AZ_API void az_stream_destroy(az_stream *stream);
/* For az_run_options::stream; NULL on a CPU. */
AZ_API void *az_stream_handle(const az_stream *stream);
/* Waits for all work of a stream. What went wrong in a kernel is found here. */
AZ_API az_status az_device_synchronize(const az_device *device, void *stream,
                                       az_error **error);

typedef struct az_event az_event;
AZ_API az_status az_event_create(const az_device *device, az_event **event,
                                 az_error **error);
AZ_API void az_event_destroy(az_event *event);
AZ_API az_status az_event_record(az_event *event, void *stream,
                                 az_error **error);
AZ_API az_status az_event_wait(az_event *event, az_error **error);
/* Microseconds of the device's time between two events that have happened. */
AZ_API az_status az_event_elapsed(az_event *from, az_event *to,
                                  double *microseconds, az_error **error);

/*--- Recordings ------------------------------------------------------------*/

/* What is enqueued on `stream` between begin and end is written down instead of
 * done, and can then be replayed with one call: a CUDA graph. The tensors and
 * the workspace are part of it. Not on a CPU, not on the default stream. */
typedef struct az_recording az_recording;
AZ_API az_status az_recording_begin(const az_device *device, void *stream,
                                    az_error **error);
AZ_API az_status az_recording_end(const az_device *device, void *stream,
                                  az_recording **recording, az_error **error);
AZ_API az_status az_recording_replay(const az_recording *recording,
                                     void *stream, az_error **error);
AZ_API void az_recording_destroy(az_recording *recording);

#ifdef __cplusplus
}
#endif

#endif /* AZULEJO_C_MEMORY_H */
