/*===- compile.h - devices, pools, compilation --------------------*- C -*-===*\
|*
|* From a graph and a device to an executable. See azulejo.h for the rules that
|* hold for every function.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#ifndef AZULEJO_C_COMPILE_H
#define AZULEJO_C_COMPILE_H

#include "azulejo/c/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/*--- Devices, thread pools -------------------------------------------------*/

typedef struct az_device az_device;
/* "cpu" is this machine's, "cuda" and "cuda:1" are its GPUs. "cpu-avx2",
 * "h200", ... compile for a machine that need not be there; what is compiled
 * for such a name can be saved, and runs where the saved plan is loaded.
 * NULL means AZULEJO_DEVICE, else "cpu". */
AZ_API az_status az_device_open(const char *name, az_device **device,
                                az_error **error);
AZ_API void az_device_destroy(az_device *device);
AZ_API const char *az_device_name(const az_device *device);
/* Facts of one device, and all known devices, as JSON. */
AZ_API az_status az_device_describe(const az_device *device, az_string **json,
                                    az_error **error);
AZ_API az_status az_devices(az_string **json, az_error **error);

typedef struct az_pool az_pool;
typedef void (*az_pool_body)(void *context, int64_t begin, int64_t end,
                             int32_t worker);
/* Calls `body` so that [0, items) is covered exactly once, from at most the
 * stated number of workers at a time, each with its own number in
 * [0, workers), and returns when all is done. */
typedef void (*az_parallel_for)(void *user, int64_t items, az_pool_body body,
                                void *context);
/* threads 0: AZULEJO_NUM_THREADS, else the CPUs this process may use. */
AZ_API az_status az_pool_create(int32_t threads, az_pool **pool,
                                az_error **error);
AZ_API az_status az_pool_create_host(az_parallel_for parallel_for, void *user,
                                     int32_t workers, az_pool **pool,
                                     az_error **error);
AZ_API int32_t az_pool_workers(const az_pool *pool);
AZ_API void az_pool_destroy(az_pool *pool);

/*--- Compilation -----------------------------------------------------------*/

enum {
  AZ_CACHE_DEFAULT = 0, /* AZULEJO_CACHE, else read and write */
  AZ_CACHE_READ_WRITE = 1,
  AZ_CACHE_READ_ONLY = 2,
  AZ_CACHE_OFF = 3
};

/* One step of tuning or compiling. Return nonzero to stop: what was measured
 * is kept. total 0: not known; seconds_left < 0: not known. */
typedef int32_t (*az_progress_fn)(void *user, const char *phase, int64_t done,
                                  int64_t total, double seconds_left);

typedef struct az_compile_options {
  size_t size;
  double tune_seconds;     /* 0: no tuning; < 0: AZULEJO_TUNE decides */
  int32_t strict;          /* refuse every fallback */
  int32_t deterministic;   /* bitwise equal between runs */
  int32_t batch_invariant; /* a row does not depend on its batch */
  int32_t allow_fusion;    /* 0: one kernel per op, for comparison */
  int32_t cache_mode;
  const char *cache_dir;     /* NULL: AZULEJO_CACHE_DIR, else the user's */
  const char *cache_path_ro; /* colon list of read-only layers, or NULL */
  const char *worker_path;   /* NULL: AZULEJO_WORKER, else beside the library */
  const char *compiler_path; /* NULL: AZULEJO_COMPILER, else beside it */
  az_log_fn log;             /* NULL: the process-wide sink */
  void *log_user;
  az_progress_fn progress;
  void *progress_user;
  az_pool *pool; /* the executable's default pool; NULL: a shared one */
  const az_device *device; /* loading a plan only: where it will run; NULL: on
                              the CPU, or the first GPU that its code fits */
  /* Schedules to use, "Family{knob=value,...};...": every kernel of a named
   * family runs under that schedule, with its default for knobs not named.
   * NULL: none. An illegal combination is an error, not a reason to choose. */
  const char *pin;
  /* "B=8,S=4096": the sizes that runs will mostly have, for choosing and tuning
   * schedules; dimensions not named: the middle of their range. Any other size
   * is right, too. Sizes are rounded to powers of two, so that nearly equal
   * ones share a plan. Of a dimension several may be given, "T=1,T=4096": each
   * gets the schedule that is best for it. NULL: none. */
  const char *typical_sizes;
  /* Kernels for GPUs that find their own bugs, slowly: "waits" (a wait for a
   * barrier that takes seconds prints which and ends the launch with an error),
   * "delays=7" (warps are late now and then; any seed), or both, with a comma;
   * "off". NULL: AZULEJO_DEBUG_KERNELS decides. */
  const char *debug_kernels;
  /* How many schedules a kernel may have for different symbolic sizes, of which
   * each run takes the one for its sizes; at most 16. Each costs its time to
   * compile. 1: one for all sizes, but for several typical_sizes, each of
   * which has its own. 0: the default, 4. */
  int32_t max_variants;
} az_compile_options;
/* Writes the defaults; pass sizeof(az_compile_options). */
AZ_API void az_compile_options_init(az_compile_options *options, size_t size);

typedef struct az_executable az_executable;
/* `options` may be NULL. A cache hit needs no compiler library. */
AZ_API az_status az_compile(const az_graph *graph, const az_device *device,
                            const az_compile_options *options,
                            az_executable **executable, az_error **error);
/* Text of a stage: "graph", "fused", "tiled", "llvm", "asm", ...; an unknown
 * stage's error lists them. These three need the compiler library. */
AZ_API az_status az_emit(const az_graph *graph, const az_device *device,
                         const az_compile_options *options, const char *stage,
                         az_string **text, az_error **error);
AZ_API az_status az_graph_parse(const char *text, size_t text_size,
                                const char *name,
                                const az_compile_options *options,
                                az_graph **graph, az_error **error);
AZ_API az_status az_graph_print(const az_graph *graph,
                                const az_compile_options *options,
                                az_string **text, az_error **error);

/*--- The cache and the environment -----------------------------------------*/

/* Where the cache is and what it holds, as JSON. */
AZ_API az_status az_cache_info(const az_compile_options *options,
                               az_string **json, az_error **error);
/* Every AZULEJO_ variable: name, value, meaning, as JSON; malformed values are
 * an error. */
AZ_API az_status az_environment(az_string **json, az_error **error);

#ifdef __cplusplus
}
#endif

#endif /* AZULEJO_C_COMPILE_H */
