/*===- inspect.h - looking into graphs, devices and the cache -----*- C -*-===*\
|*
|* What tools want and an engine's hot path does not: analysis without code,
|* checking results against the reference, measured limits of a device, and the
|* entries of the cache. See azulejo.h for the rules that hold for every
|* function.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#ifndef AZULEJO_C_INSPECT_H
#define AZULEJO_C_INSPECT_H

#include "azulejo/c/executable.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fuses the graph for a device that need not be present, and makes no code: an
 * executable that az_executable_explain can show and nothing can run. Needs
 * the compiler library. */
AZ_API az_status az_analyse(const az_graph *graph, const az_device *device,
                            const az_compile_options *options,
                            az_executable **executable, az_error **error);

/* Evaluates the graph on the given inputs in float64 and in its own types, and
 * compares the given outputs with that. `tensors` are inputs, then outputs, in
 * graph order. A wrong output is no error: the JSON says "pass": false, and
 * which element and which rule. */
AZ_API az_status az_graph_check(const az_graph *graph, const az_dim_value *dims,
                                size_t dim_count, const az_tensor *tensors,
                                size_t count, az_string **json,
                                az_error **error);

/* Fills a contiguous tensor: floats from [-1, 1), integers from
 * [0, int_max], truth values from {0, 1}. Equal seeds give equal tensors. */
AZ_API az_status az_tensor_random(const az_tensor *tensor, uint64_t seed,
                                  int64_t int_max, az_error **error);
/* Smallest, largest and mean value, how many are NaN or infinite, and the first
 * few elements, as JSON. */
AZ_API az_status az_tensor_describe(const az_tensor *tensor, az_string **json,
                                    az_error **error);

/* Measures copy bandwidth and the rate of f32 multiply-adds of this machine, in
 * about half a second, on `threads` threads (0: as az_pool_create). If `device`
 * is this machine's CPU, the device takes the rates over; it may be NULL. If
 * it is a GPU of this machine, the GPU is measured: copies, reads, f32
 * multiply-adds and a bare loop of mma.sync ("f16_tflops"), by kernels, once;
 * the rates are kept in the cache. */
AZ_API az_status az_device_measure(az_device *device, int32_t threads,
                                   az_string **json, az_error **error);

/*--- Entries of the cache --------------------------------------------------*/

/* A key may be given by a prefix that only one entry has. */
AZ_API az_status az_cache_show(const az_compile_options *options,
                               const char *key, az_string **json,
                               az_error **error);
AZ_API az_status az_cache_remove(const az_compile_options *options,
                                 const char *key, az_error **error);
/* Reads every entry; the JSON counts the intact ones and lists problems. */
AZ_API az_status az_cache_verify(const az_compile_options *options,
                                 az_string **json, az_error **error);
/* All entries in one archive, and back. Trials are merged into what is there;
 * a damaged archive is refused before anything is written. */
AZ_API az_status az_cache_export_file(const az_compile_options *options,
                                      const char *path, az_string **json,
                                      az_error **error);
AZ_API az_status az_cache_import_file(const az_compile_options *options,
                                      const char *path, az_string **json,
                                      az_error **error);

#ifdef __cplusplus
}
#endif

#endif /* AZULEJO_C_INSPECT_H */
