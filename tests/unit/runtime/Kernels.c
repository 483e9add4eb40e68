/*===- Kernels.c - small kernels for tests of the runtime
------------------===*\
|*
|* Each function is compiled on its own, without a constant pool or a call, and
|* cut out of the object file: a "cpu-flat" image.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
typedef long long i64;

/* args: x, stride of its rows, y, stride of its rows, columns. y = x + x. */
void twice(const i64 *args, i64 begin, i64 end, char *scratch) {
  const float *x = (const float *)args[0];
  float *y = (float *)args[2];
  for (i64 row = begin; row < end; ++row)
    for (i64 j = 0; j < args[4]; ++j)
      y[row * args[3] + j] = x[row * args[1] + j] + x[row * args[1] + j];
}

/* The same through 64 floats of scratch, so that two workers that share a
 * slice, or a slice that is too small, change the result. */
void through_scratch(const i64 *args, i64 begin, i64 end, char *scratch) {
  const float *x = (const float *)args[0];
  float *y = (float *)args[2];
  volatile float *mine = (volatile float *)scratch;
  for (i64 row = begin; row < end; ++row)
    for (i64 j = 0; j < args[4]; ++j) {
      mine[j % 64] = x[row * args[1] + j];
      for (int wait = 0; wait < 20; ++wait)
        mine[(j + 1) % 64] = 0;
      y[row * args[3] + j] = mine[j % 64] + mine[j % 64];
    }
}
