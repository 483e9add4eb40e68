//===- Substitutes.h - schedules in the place of others ---------*- C++ -*-===//
//
// A schedule that nobody asked for is a guess: the lowering may refuse it, and
// the assembler may find that it spills. Then others are tried, best guess
// first, and last the general one, which needs the least of the target and is
// lowered by the most portable way.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_SUBSTITUTES_H
#define AZULEJO_FRONTEND_DRIVER_SUBSTITUTES_H

#include "frontend/driver/KernelCompiler.h"

namespace azulejo::driver {

/// Where code has flaws: the most promising schedules that leave a warp less
/// and yet less of the tile.
std::vector<schedule::Schedule>
insteadOfFlawed(const schedule::Schedule &flawed, const RegionSchedules &known);

/// Where there is no code: the most promising one, and the most promising one
/// without roles, which is another kernel.
std::vector<schedule::Schedule>
insteadOfRefused(const schedule::Schedule &refused,
                 const RegionSchedules &known);

/// Whether another schedule may do better where this error came: the target, or
/// what is generated for it, cannot do what the schedule wants. An internal
/// error is to be seen.
bool isRefusal(const Error &error);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_SUBSTITUTES_H
