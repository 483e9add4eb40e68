/*===- graph.h - building graphs ----------------------------------*- C -*-===*\
|*
|* A graph is built by appending ops to it; each append checks the rules of the
|* op at once. See azulejo.h for the rules that hold for every function.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#ifndef AZULEJO_C_GRAPH_H
#define AZULEJO_C_GRAPH_H

#include "azulejo/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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
                                size_t rank, az_value *value, az_error **error);
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

#ifdef __cplusplus
}
#endif

#endif /* AZULEJO_C_GRAPH_H */
