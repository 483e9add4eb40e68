//===- GpuExact.cpp - a region on integers, on a GPU ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GpuRegion.h"

#include "frontend/driver/TrialData.h"
#include "ir/reference/ExactInputs.h"

namespace azulejo::driver {

using measure::DeviceTensors;
using reference::HostTensor;

/// Integers at the tuned size and what the unfused plan makes of them, where
/// nothing can round.
Status GpuRegion::makeExact(const runtime::Executable &unfused) {
  Result<ExactData> data =
      exactInputs(facts.graph, facts.tuned, options.seed + 1, 0);
  if (!data)
    return data.error();
  noExact = data->whyNot;
  exactSeed = data->seed;
  if (!noExact.empty())
    return {};
  std::vector<int64_t> dims = planOrder(unfused.plan(), facts.tuned);
  Result<DeviceTensors> made =
      DeviceTensors::make(*gpu.queue, unfused.plan(), dims, 0);
  if (!made) {
    noExact = made.error().message; // memory is short
    return {};
  }
  exact = std::move(*made);
  Status status = upload(*exact, data->inputs);
  return status ? runGuarded(unfused, *exact, dims) : status;
}

Status GpuRegion::download(size_t output, DeviceTensors &from, HostTensor &to) {
  size_t binding = from.inputCount() + output;
  to = HostTensor::dense(from.dtype(binding), from.shape(binding));
  return gpu.device->download(to.bytes.data(), from.buffer(binding).data(),
                              to.bytes.size(), gpu.queue->handle());
}

Status GpuRegion::compareExactly(size_t output) {
  size_t binding = exact->inputCount() + output;
  const char *actual = work->buffer(binding).data(),
             *expected = exact->buffer(binding).data();
  DType dtype = exact->dtype(binding);
  bool differs = false;
  // As floats where that is possible: zeros may differ in sign.
  if (measure::DeviceChecks::comparesFloats(dtype)) {
    auto seen = gpu.checks->compareFloats(dtype, actual, expected,
                                          exact->elements(binding), 0, 0);
    if (!seen)
      return seen.error();
    differs = seen->beyond > 0;
  } else {
    auto seen = gpu.checks->compareBytes(actual, expected,
                                         exact->buffer(binding).bytes());
    if (!seen)
      return seen.error();
    differs = seen->has_value();
  }
  if (!differs)
    return {};
  HostTensor ours, theirs;
  Status status = download(output, *work, ours);
  if (status)
    status = download(output, *exact, theirs);
  if (!status)
    return status;
  if (auto what = reference::firstDifference(ours, theirs))
    return inexactCandidate(output, facts.tuned, exactSeed, *what);
  return {};
}

/// At the tuned size on integers: equal to what the unfused plan gives.
Status GpuRegion::verifyExactly(const runtime::Executable &code,
                                Verdict &verdict) {
  if (!exact || !hasUnfused) {
    verdict.noExact = verdict.exactCases ? "" : noExact;
    return {};
  }
  Status status = runFull(code, *exact);
  for (size_t output = 0; status && output < again.size(); ++output)
    status = compareExactly(output);
  verdict.exactFull = status.ok();
  return status;
}

} // namespace azulejo::driver
