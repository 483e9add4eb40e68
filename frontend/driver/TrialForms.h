//===- TrialForms.h - which forms a trial's tensors allow -------*- C++ -*-===//
//
// Trials run on dense tensors of the tuned sizes. Where a kernel assumes what
// such tensors are not, a run by its schedule takes the general form of that
// kernel (runtime/Forms.cpp), so that is what its trial is about:
//
//   [S, 64] of f32    rows of 256 bytes    the form that assumes
//   [S, 65] of f32    rows of 260 bytes    the general form
//
// Schedules whose kernels all run in their general form are often one image,
// and equal images are timed once.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_TRIALFORMS_H
#define AZULEJO_FRONTEND_DRIVER_TRIALFORMS_H

#include "frontend/driver/RegionFacts.h"

namespace azulejo::driver {

/// Whether a launch of these dimensions, in plan order, is all that it assumes
/// when every tensor is dense and lies where allocators put it.
bool fitsDense(const plan::Plan &plan, const plan::Launch &launch,
               std::span<const int64_t> dims);

/// Replaces each kernel of a GPU's code, compiled without general forms, that
/// the trial's tensors do not fit by its general form. The schedule stays that
/// of the candidate. Gives whether any was replaced.
Result<bool> takeFormsThatRun(KernelCode &code, const std::string &region,
                              const target::TargetDesc &target);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_TRIALFORMS_H
