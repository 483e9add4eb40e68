//===- GpuRoofs.h - what a GPU of this machine can reach --------*- C++ -*-===//
//
// The roofs of the roofline, measured by kernels of our own:
//
//   copy    every thread copies 64 bytes; bytes read plus bytes written
//   read    every thread reads 128 bytes
//   matrix  a bare loop of mma.sync (bf16, f32 sums) on values from registers:
//           what products through this instruction can reach. Hopper's wgmma is
//           faster; code that uses it may exceed this roof.
//   f32     a bare loop of multiply-adds
//
// Measuring takes some 100 ms and is done once per silicon and driver: the
// rates are kept in the cache of tuning records.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_GPUROOFS_H
#define AZULEJO_FRONTEND_API_GPUROOFS_H

#include "autotune/cache/Store.h"
#include "frontend/api/Handles.h"

namespace azulejo::api {

struct GpuRoofs {
  double copyGBs = 0, readGBs = 0; ///< 1e9 bytes per second
  double matrixTflops = 0, f32Tflops = 0;
  bool fromCache = false;
};

/// PTX of the kernels, for the tests that assemble it.
extern const char *const kRoofKernels;

/// `device` is a GPU. The median of several rounds counts.
Result<GpuRoofs> measureGpuRoofs(const az_device &device);

/// The same from the cache, or measured and put there.
Result<GpuRoofs> gpuRoofs(const az_device &device, cache::Store &store);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_GPUROOFS_H
