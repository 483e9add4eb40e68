//===- Gpu.h - the GPUs of this machine -------------------------*- C++ -*-===//
//
// Between names ("cuda:1") and the runtime's devices, and between what a driver
// reports and what the compiler wants to know. Everything here fails softly:
// a machine without a driver is an ordinary machine.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_GPU_H
#define AZULEJO_FRONTEND_API_GPU_H

#include "frontend/api/Handles.h"

#include <vector>

namespace azulejo::api {

/// Whether a name means a GPU of this machine: "cuda", or "cuda:" and anything.
bool namesGpu(std::string_view name);
/// Opens "cuda" (the first) or "cuda:N". Makes no context yet.
Result<az_device> openGpu(const std::string &name);
/// All that the driver shows; none where there is no driver.
std::vector<az_device> presentGpus();

/// Whether the plan's code is for GPUs.
bool isGpuPlan(const plan::Plan &plan);
/// The device for a plan that names none: AZULEJO_DEVICE if that is a GPU, else
/// the first on which all of its images run.
Result<az_device> gpuFor(const plan::Plan &plan);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_GPU_H
