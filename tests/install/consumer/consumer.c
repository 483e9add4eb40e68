/*===- consumer.c - a user's program in C
----------------------------------===*\
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#include <azulejo/c/azulejo.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  az_graph *graph = NULL;
  az_error *error = NULL;
  az_value x, sum;
  az_value both[2];
  size_t count = 0;
  const char *shape[2];
  shape[0] = "S";
  shape[1] = "8";
  if (az_graph_create(&graph, &error) ||
      az_graph_dim(graph, "S", 1, 16, &error) ||
      az_graph_input(graph, "x", AZ_F32, shape, 2, &x, &error))
    return puts(az_error_message(error)), 1;
  both[0] = both[1] = x;
  if (az_graph_op(graph, "add", both, 2, NULL, 0, "sum", &sum, 1, &count,
                  &error) ||
      count != 1 || az_graph_output(graph, "y", sum, &error))
    return puts(az_error_message(error)), 1;
  if (az_graph_op(graph, "matmul", both, 2, NULL, 0, "mm", &sum, 1, &count,
                  &error) != AZ_INVALID_GRAPH ||
      strcmp(az_error_rule(error), "matmul.C3") != 0)
    return puts("the wrong matmul was not refused"), 1;
  az_error_destroy(error);
  az_graph_destroy(graph);
  puts("ok");
  return 0;
}
