/*===- base.h - status, errors, text, version, log ----------------*- C -*-===*\
|*
|* See azulejo.h for the rules that hold for every function.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#ifndef AZULEJO_C_BASE_H
#define AZULEJO_C_BASE_H

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

#ifdef __cplusplus
}
#endif

#endif /* AZULEJO_C_BASE_H */
