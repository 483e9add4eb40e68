//===- Roofs.h - what this machine's CPU can reach --------------*- C++ -*-===//
//
// The two roofs of the roofline, measured: how fast a copy of arrays that fit
// no cache goes, and how many f32 multiply-adds a loop without memory accesses
// does. They take the place of a target's nominal rates.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_ROOFS_H
#define AZULEJO_FRONTEND_API_ROOFS_H

#include "runtime/Pool.h"

namespace azulejo::api {

struct Roofs {
  double copyGBs = 0; ///< bytes read plus bytes written, 1e9 per second
  double f32Tflops = 0;
};

/// Takes about half a second; the best of several rounds counts. Throws
/// std::bad_alloc where the arrays (128 MiB in all, or four times the L3) do
/// not fit in memory.
Roofs measureRoofs(runtime::Pool &pool);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_ROOFS_H
