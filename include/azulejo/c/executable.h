/*===- executable.h - running and inspecting executables ----------*- C -*-===*\
|*
|* See azulejo.h for the rules that hold for every function.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#ifndef AZULEJO_C_EXECUTABLE_H
#define AZULEJO_C_EXECUTABLE_H

#include "azulejo/c/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/*--- Executables -----------------------------------------------------------*/

AZ_API void az_executable_destroy(az_executable *executable);
AZ_API az_status az_executable_load(const void *bytes, size_t size,
                                    const az_compile_options *options,
                                    az_executable **executable,
                                    az_error **error);
AZ_API az_status az_executable_load_file(const char *path,
                                         const az_compile_options *options,
                                         az_executable **executable,
                                         az_error **error);
AZ_API az_status az_executable_save(const az_executable *executable,
                                    az_string **bytes, az_error **error);
AZ_API az_status az_executable_save_file(const az_executable *executable,
                                         const char *path, az_error **error);

/* Whether this machine can run it; a plan for another kind of machine can be
 * loaded, shown and saved all the same. */
AZ_API az_status az_executable_check(const az_executable *executable,
                                     az_error **error);

/* Bindings: inputs in graph order, then outputs. */
typedef struct az_binding_info {
  size_t size;
  const char *name;
  int32_t is_output;
  int32_t dtype;
  int32_t rank;
} az_binding_info;
AZ_API size_t az_executable_binding_count(const az_executable *executable);
AZ_API az_status az_executable_binding(const az_executable *executable,
                                       size_t index, az_binding_info *info,
                                       az_error **error);
/* The shape of a binding for given values of the symbolic dimensions. */
typedef struct az_dim_value {
  const char *name;
  int64_t value;
} az_dim_value;
AZ_API az_status az_executable_binding_shape(const az_executable *executable,
                                             size_t index,
                                             const az_dim_value *dims,
                                             size_t dim_count, int64_t *shape,
                                             size_t capacity, az_error **error);

/* Where it runs, as a device of the caller's own: az_device_destroy it. */
AZ_API az_status az_executable_device(const az_executable *executable,
                                      az_device **device, az_error **error);

/* A caller's tensor. Strides count elements; NULL means contiguous. The
 * innermost axis must be contiguous. Memory is the caller's; on a GPU, `data`
 * is an address of the device's. */
typedef struct az_tensor {
  size_t size; /* all elements of one array have the same size */
  void *data;
  int32_t dtype;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
} az_tensor;

/* Bytes of workspace that a run with these dimensions needs, on `pool` (NULL:
 * the executable's pool; no matter on a GPU). Workspace must be 64-byte
 * aligned, and memory of the device that runs. It need not grow with the
 * dimensions: other sizes may run other kernels. */
AZ_API az_status az_executable_workspace_size(const az_executable *executable,
                                              const az_dim_value *dims,
                                              size_t dim_count,
                                              const az_pool *pool,
                                              size_t *bytes, az_error **error);
/* The same from the tensors a run would get; their data is not looked at. */
AZ_API az_status az_executable_workspace_size_for(
    const az_executable *executable, const az_tensor *tensors, size_t count,
    const az_pool *pool, size_t *bytes, az_error **error);

enum {
  AZ_CHECK_DEFAULT = 0, /* AZULEJO_CHECK_POINTERS when it was made, else off */
  AZ_CHECK_ON = 1,
  AZ_CHECK_OFF = 2
};
typedef struct az_run_options {
  size_t size;
  void *stream;  /* GPU: a CUstream (cudaStream_t), or NULL for the default
                    stream; NULL on a CPU */
  az_pool *pool; /* CPU: NULL is the executable's pool */
  /* GPU: ask the driver whether the pointers and the stream are this device's,
   * about 0.3 us each. Without it, a wrong pointer is found by the kernel, and
   * the device is lost to this process. */
  int32_t check_pointers;
} az_run_options;
/* Runs on tensors in binding order. Allocates nothing and keeps no state, so
 * several threads may run one executable, each with its own workspace. On a
 * GPU the kernels are enqueued and the call returns; it may be recorded by a
 * stream capture, and the calling thread's current context is left as it is. */
AZ_API az_status az_executable_run(const az_executable *executable,
                                   const az_tensor *tensors, size_t count,
                                   void *workspace, size_t workspace_bytes,
                                   const az_run_options *options,
                                   az_error **error);

/* What was fused, chosen and refused, and why. `dims` evaluates the byte and
 * flop counts; without them they are given at each dimension's maximum. */
enum { AZ_FORMAT_TEXT = 0, AZ_FORMAT_JSON = 1 };
AZ_API az_status az_executable_explain(const az_executable *executable,
                                       int32_t format, const az_dim_value *dims,
                                       size_t dim_count, az_string **text,
                                       az_error **error);
/* The schedules tried for this executable, as JSON. */
AZ_API az_status az_executable_candidates(const az_executable *executable,
                                          az_string **json, az_error **error);
/* Whether it came from the plan cache, without any compiler. */
AZ_API int32_t az_executable_from_cache(const az_executable *executable);

#ifdef __cplusplus
}
#endif

#endif /* AZULEJO_C_EXECUTABLE_H */
