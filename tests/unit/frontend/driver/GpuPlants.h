//===- GpuPlants.h - good GPU candidates made bad ---------------*- C++ -*-===//
//
// Each function changes a kernel's PTX so that it misbehaves in one way: on a
// GPU by instructions, on the mock driver, which reads none, by a comment that
// says the same. The kernel has one input and one output, both [S, width] of
// f32, and nothing else: parameters are x, its stride, y, its stride, S.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_GPUPLANTS_H
#define AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_GPUPLANTS_H

#include "frontend/driver/KernelCompiler.h"

namespace azulejo::test {

enum class GpuPlant {
  Illegal, ///< writes where nothing is
  Trap,    ///< ends the context
  Endless, ///< never returns
  Nothing, ///< writes no output at all
  Wrong,   ///< spoils one element of the output
  Over,    ///< also writes one byte after the output
  Under,   ///< also writes one byte before the output
  Input,   ///< spoils the last element of the input
  Bit,     ///< turns the last bit of one element of the output
};
inline constexpr GpuPlant kAllGpuPlants[] = {
    GpuPlant::Illegal, GpuPlant::Trap,  GpuPlant::Endless,
    GpuPlant::Nothing, GpuPlant::Wrong, GpuPlant::Over,
    GpuPlant::Under,   GpuPlant::Input, GpuPlant::Bit};

/// What a tuner is to find: the status, and a part of the reason.
struct GpuOutcome {
  const char *name, *status, *reason;
};
GpuOutcome outcomeOf(GpuPlant plant);

void plant(driver::KernelCode &code, GpuPlant what);

/// What the mock takes a run of this code to last.
void plantDuration(driver::KernelCode &code, int microseconds);

} // namespace azulejo::test

#endif // AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_GPUPLANTS_H
