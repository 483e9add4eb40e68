//===- PlanCode.h - the code of a plan's regions ----------------*- C++ -*-===//
//
// What is compiled for a plan on several threads: of each region the form that
// assumes something of its tensors and the general one, each up to machine
// code, so that the assembler works on one while the other is being lowered.
//
//   region 0   form: region -> kernel -> PTX -> cubin
//                              | assumes something?
//              general:        region -> kernel -> PTX -> cubin
//   region 1   ...
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_PLANCODE_H
#define AZULEJO_FRONTEND_DRIVER_PLANCODE_H

#include "frontend/api/CompilerEntry.h"
#include "frontend/driver/KernelCompiler.h"

namespace azulejo::driver {

/// What there is to compile: texts, a schedule for each, and what errors call
/// one of them.
struct PlanRegions {
  const std::vector<std::string> &texts;
  const std::vector<schedule::Schedule> &schedules;
  std::function<std::string(size_t)> nameOf;
  /// Sees each schedule before it is lowered and may refuse it; this is how
  /// tests plant refusals.
  std::function<Status(const schedule::Schedule &)> mayLower = {};
};

/// The code of each region, on up to request.threads threads. Without an
/// assembler the images of a GPU stay PTX, which a driver can load, too.
Result<std::vector<KernelCode>>
compileRegions(const PlanRegions &regions, const target::TargetDesc &target,
               const api::CompileRequest &request);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_PLANCODE_H
