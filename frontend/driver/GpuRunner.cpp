//===- GpuRunner.cpp - candidates on a GPU --------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/GpuRunner.h"

#include "frontend/driver/GpuRegion.h"
#include "frontend/driver/TrialForms.h"

namespace azulejo::driver {

GpuRunner::GpuRunner(target::TargetDesc target, RunnerOptions options)
    : target(std::move(target)), options(std::move(options)) {}

GpuRunner::~GpuRunner() {
  opened.reset();
  // The driver would wait for the kernel that does not end.
  if (isSpent())
    measure::keepForGood(std::move(gpu));
}

bool GpuRunner::isSpent() const {
  return gpu && gpu->queue && gpu->queue->isSpent();
}

Result<KernelCode> GpuRunner::compile(const std::string &region,
                                      const schedule::Schedule &schedule) {
  // What is timed is one form, the one that runs on the trial's tensors; the
  // other is compiled once, for the winner.
  Result<KernelCode> code = compileKernel(region, schedule, target, nullptr,
                                          /*withGeneral=*/false);
  if (!code)
    return code;
  Result<bool> general = takeFormsThatRun(*code, region, target);
  if (!general)
    return general.error();
  if (!assembler) {
    Result<codegen::Assembler> found =
        codegen::findAssembler(options.assembler);
    if (!found)
      return found.error();
    assembler = std::move(*found);
  }
  // As in a plan, where the general form is better slow than missing.
  Flaws flaws = *general ? Flaws::Accept : Flaws::Refuse;
  if (Status status = assembleKernel(*code, target, *assembler, flaws); !status)
    return status.error();
  return code;
}

Status GpuRunner::warmUp() {
  if (gpu)
    return {};
  auto fresh = std::make_unique<GpuTools>();
  auto driver = runtime::cuda::Driver::open(options.gpu.library);
  if (!driver)
    return driver.error();
  auto device =
      runtime::cuda::CudaDevice::open(std::move(*driver), options.gpu.ordinal);
  if (!device)
    return device.error();
  fresh->device = std::move(*device);
  fresh->backend = std::make_unique<runtime::cuda::CudaBackend>(fresh->device);
  auto queue = measure::DeviceQueue::make(fresh->device);
  if (!queue)
    return queue.error();
  fresh->queue = std::move(*queue);
  auto checks = measure::DeviceChecks::make(*fresh->queue);
  if (!checks)
    return checks.error();
  fresh->checks = std::move(*checks);
  auto timer = measure::DeviceTimer::make(*fresh->queue, *fresh->checks);
  if (!timer)
    return timer.error();
  fresh->timer = std::move(*timer);
  gpu = std::move(fresh);
  return {};
}

Result<References> GpuRunner::makeReferences(const std::string &region) {
  return referencesOf(region, target, options);
}

Status GpuRunner::open(const std::string &region,
                       const References &references) {
  if (opened && opened->text() == region)
    return {};
  if (Status status = warmUp(); !status)
    return status;
  opened.reset(); // its memory first
  Result<std::unique_ptr<GpuRegion>> made =
      GpuRegion::open(*gpu, region, references, target, options);
  if (!made)
    return made.error();
  opened = std::move(*made);
  return {};
}

static Error notOpen() {
  return makeError(ErrorCode::Internal, "tuning", "no region is open");
}

Result<Verdict> GpuRunner::verify(const KernelCode &code) {
  return opened ? opened->verify(code) : notOpen();
}

Result<measure::Timing> GpuRunner::time(const KernelCode &code,
                                        const measure::TimeOptions &how) {
  return opened ? opened->time(code, how) : notOpen();
}

std::unique_ptr<CandidateRunner> makeRunnerHere(target::TargetDesc target,
                                                RunnerOptions options) {
  if (target.kind == target::Kind::Gpu)
    return std::make_unique<GpuRunner>(std::move(target), std::move(options));
  return std::make_unique<LocalRunner>(std::move(target), std::move(options));
}

} // namespace azulejo::driver
