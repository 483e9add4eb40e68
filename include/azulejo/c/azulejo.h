/*===- azulejo.h - the C ABI --------------------------------------*- C -*-===*\
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

#include "azulejo/c/base.h"
#include "azulejo/c/compile.h"
#include "azulejo/c/executable.h"
#include "azulejo/c/graph.h"
#include "azulejo/c/inspect.h"
#include "azulejo/c/memory.h"

#endif /* AZULEJO_C_AZULEJO_H */
