//===- Schedules.h - which schedule each region runs under ------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_SCHEDULES_H
#define AZULEJO_FRONTEND_DRIVER_SCHEDULES_H

#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/GraphCompiler.h"

namespace azulejo::driver {

struct ChosenSchedules {
  std::vector<schedule::Schedule> schedules; ///< one per text
  std::string candidates = "[]"; ///< JSON, one object per schedule tried
  bool complete = true;          ///< false: tuning was cut short
};

/// The best known schedule of each text: tuned now if the request asks for
/// it, else the winner of an earlier tuning, else the family's default.
Result<ChosenSchedules> chooseSchedules(const RegionTable &table,
                                        const target::TargetDesc &target,
                                        const api::CompileRequest &request);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_SCHEDULES_H
