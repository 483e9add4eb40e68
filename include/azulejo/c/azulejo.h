/*===- azulejo.h - the C ABI -------------------------------------*- C -*-===*\
|*
|* The only exported boundary of azulejo. The C++ headers are inline over it,
|* and other languages bind to it directly.
|*
|* Rules that hold everywhere:
|*  - A function that can fail returns an az_status (0 is success, the numbers
|*    are azulejo::ErrorCode) and takes a last argument `az_error **error`. It
|*    may be NULL; otherwise it receives a new error object on failure, to be
|*    freed with az_error_destroy. Out-arguments are untouched on failure.
|*  - Handles are opaque; every _create, _load, _open has a _destroy, and
|*    destroying NULL does nothing.
|*  - A struct begins with `size`, its sizeof as the caller compiled it. Fields
|*    may be added at the end; a shorter struct means defaults for the rest.
|*  - A `const char *` that a function returns lives as long as the handle it
|*    came from, unless that handle is changed. Text arguments are UTF-8 and
|*    are copied.
|*  - Nothing throws, aborts or exits. Pointers must be valid where no NULL is
|*    mentioned; NULL is reported as AZ_INVALID_ARGUMENT.
|*  - az_graph is not safe to share between threads while it is being built.
|*    az_executable, az_device and az_pool are safe to use from any thread.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#ifndef AZULEJO_C_AZULEJO_H
#define AZULEJO_C_AZULEJO_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AZ_API __attribute__((visibility("default")))
#else
#define AZ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*--- Errors, text, version -------------------------------------------------*/

typedef int32_t az_status; /* azulejo::ErrorCode; 0 is success */
enum {
  AZ_OK = 0,
  AZ_INVALID_GRAPH = 1,
  AZ_UNSUPPORTED = 2,
  AZ_RESOURCE_LIMIT = 3,
  AZ_TOOLCHAIN = 4,
  AZ_DRIVER_ENV = 5,
  AZ_DRIVER_TOO_OLD = 6,
  AZ_CACHE_ENV = 7,
  AZ_CACHE_REJECTED = 8,
  AZ_TUNE_FAILED = 9,
  AZ_CANDIDATE_WRONG = 10,
  AZ_TIMEOUT = 11,
  AZ_INTERRUPTED = 12,
  AZ_OUT_OF_MEMORY = 13,
  AZ_DEVICE_LOST = 14,
  AZ_INTERNAL = 15,
  AZ_INVALID_ARGUMENT = 16
};

typedef struct az_error az_error;
AZ_API az_status az_error_code(const az_error *error);
AZ_API const char *az_error_message(const az_error *error);
AZ_API const char *az_error_where(const az_error *error);
AZ_API const char *az_error_rule(const az_error *error);
AZ_API const char *az_error_hint(const az_error *error);
AZ_API void az_error_destroy(az_error *error);

/* Text or bytes that a function made; NUL-terminated, the NUL not counted. */
typedef struct az_string az_string;
AZ_API const char *az_string_data(const az_string *string);
AZ_API size_t az_string_size(const az_string *string);
AZ_API void az_string_destroy(az_string *string);

AZ_API const char *az_version(void);  /* "0.1.0" */
AZ_API const char *az_build_id(void); /* identifies compiler and runtime */

/*--- Logging ---------------------------------------------------------------*/

enum { AZ_LOG_ERROR = 0, AZ_LOG_WARN = 1, AZ_LOG_INFO = 2, AZ_LOG_DEBUG = 3 };
typedef void (*az_log_fn)(void *user, int32_t level, const char *message);
/* The process-wide sink; NULL restores the default (stderr at the level of
 * AZULEJO_LOG, which is warn when unset). Called from any thread. */
AZ_API void az_set_log(az_log_fn log, void *user, int32_t level);

/*--- Graphs ----------------------------------------------------------------*/

/* Element types: azulejo::DType. */
enum {
  AZ_F32 = 0,
  AZ_F16 = 1,
  AZ_BF16 = 2,
  AZ_I1 = 4,
  AZ_I8 = 5,
  AZ_I32 = 6,
  AZ_I64 = 7,
  AZ_F8E4M3 = 8,
  AZ_F8E5M2 = 9
};

typedef struct az_graph az_graph;
typedef int32_t az_value; /* a tensor of one graph */

/* A dimension is written as text: "128", "S", "2*S + 1", "B*S". This combines
 * two of them with '+', '-' or '*' into canonical text. */
AZ_API az_status az_dim_combine(const char *a, char op, const char *b,
                                az_string **result, az_error **error);

enum {
  AZ_ATTR_INT = 0,    /* i */
  AZ_ATTR_FLOAT = 1,  /* f */
  AZ_ATTR_BOOL = 2,   /* i, 0 or 1 */
  AZ_ATTR_STRING = 3, /* s */
  AZ_ATTR_INTS = 4,   /* ints, count */
  AZ_ATTR_SHAPE = 5,  /* dims, count */
  AZ_ATTR_DTYPE = 6   /* i */
};
typedef struct az_attr {
  size_t size; /* all elements of one array have the same size */
  const char *name;
  int32_t kind;
  int64_t i;
  double f;
  const char *s;
  const int64_t *ints;
  const char *const *dims;
  size_t count;
} az_attr;

AZ_API az_status az_graph_create(az_graph **graph, az_error **error);
AZ_API az_status az_graph_clone(const az_graph *graph, az_graph **copy,
                                az_error **error);
AZ_API void az_graph_destroy(az_graph *graph);
AZ_API az_status az_graph_dim(az_graph *graph, const char *name, int64_t min,
                              int64_t max, az_error **error);
AZ_API az_status az_graph_input(az_graph *graph, const char *name,
                                int32_t dtype, const char *const *shape,
                                size_t rank, az_value *value,
                                az_error **error);
/* Appends an op (docs/ops.md lists kinds and attributes). `name` is the user's
 * label for messages and may be NULL. `results` receives at most `capacity`
 * values; *count is how many the op has. */
AZ_API az_status az_graph_op(az_graph *graph, const char *kind,
                             const az_value *operands, size_t operand_count,
                             const az_attr *attrs, size_t attr_count,
                             const char *name, az_value *results,
                             size_t capacity, size_t *count, az_error **error);
AZ_API az_status az_graph_output(az_graph *graph, const char *name,
                                 az_value value, az_error **error);
AZ_API az_status az_graph_verify(const az_graph *graph, az_error **error);
AZ_API az_status az_graph_value_type(const az_graph *graph, az_value value,
                                     int32_t *dtype, size_t *rank,
                                     az_error **error);
AZ_API az_status az_graph_value_dim(const az_graph *graph, az_value value,
                                    size_t axis, az_string **dim,
                                    az_error **error);
/* The identity of what the graph computes; labels do not count. */
AZ_API az_status az_graph_digest(const az_graph *graph, az_string **digest,
                                 az_error **error);
/* The kinds of ops, sorted; NULL past the end. */
AZ_API const char *az_op_kind(size_t index);

/*--- Devices, thread pools -------------------------------------------------*/

typedef struct az_device az_device;
/* "cpu" is this machine; "cpu-avx2", "h200", ... compile for another one.
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
} az_compile_options;
/* Writes the defaults; pass sizeof(az_compile_options). */
AZ_API void az_compile_options_init(az_compile_options *options, size_t size);

typedef struct az_executable az_executable;
/* `options` may be NULL. A cache hit needs no compiler library. */
AZ_API az_status az_compile(const az_graph *graph, const az_device *device,
                            const az_compile_options *options,
                            az_executable **executable, az_error **error);
/* Text of a stage: "graph", "fused", "tile", "llvm", "asm", ...; an unknown
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
                                             size_t capacity,
                                             az_error **error);

/* A caller's tensor. Strides count elements; NULL means contiguous. The
 * innermost axis must be contiguous. Memory is the caller's. */
typedef struct az_tensor {
  size_t size; /* all elements of one array have the same size */
  void *data;
  int32_t dtype;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
} az_tensor;

/* Bytes of workspace that a run with these dimensions needs, on `pool` (NULL:
 * the executable's pool). Workspace must be 64-byte aligned. */
AZ_API az_status az_executable_workspace_size(const az_executable *executable,
                                              const az_dim_value *dims,
                                              size_t dim_count,
                                              const az_pool *pool,
                                              size_t *bytes, az_error **error);
/* The same from the tensors a run would get; their data is not looked at. */
AZ_API az_status az_executable_workspace_size_for(
    const az_executable *executable, const az_tensor *tensors, size_t count,
    const az_pool *pool, size_t *bytes, az_error **error);

typedef struct az_run_options {
  size_t size;
  void *stream;  /* GPU stream; NULL on a CPU */
  az_pool *pool; /* NULL: the executable's pool */
} az_run_options;
/* Runs on tensors in binding order. Allocates nothing and keeps no state, so
 * several threads may run one executable, each with its own workspace. */
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

#endif /* AZULEJO_C_AZULEJO_H */
