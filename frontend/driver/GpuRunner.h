//===- GpuRunner.h - candidates on a GPU ------------------------*- C++ -*-===//
//
// In this process, which should be a worker: a candidate that reads a wrong
// address breaks the context for good, and one that never ends cannot be
// stopped. After either isSpent() is true, and the process has to end.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_GPURUNNER_H
#define AZULEJO_FRONTEND_DRIVER_GPURUNNER_H

#include "frontend/driver/CandidateRunner.h"

namespace azulejo::driver {

struct GpuTools;
class GpuRegion;

class GpuRunner : public CandidateRunner {
public:
  GpuRunner(target::TargetDesc target, RunnerOptions options);
  ~GpuRunner() override;

  /// Uses no GPU.
  Result<KernelCode> compile(const std::string &region,
                             const schedule::Schedule &schedule) override;
  /// Opens the driver and the device.
  Status warmUp() override;
  /// Uses no GPU either.
  Result<References> makeReferences(const std::string &region) override;
  Status open(const std::string &region, const References &references) override;
  Result<Verdict> verify(const KernelCode &code) override;
  Result<measure::Timing> time(const KernelCode &code,
                               const measure::TimeOptions &options) override;
  bool isSpent() const override;

private:
  target::TargetDesc target;
  RunnerOptions options;
  std::optional<codegen::Assembler> assembler; ///< looked for once
  std::unique_ptr<GpuTools> gpu;               ///< opened by warmUp()
  std::unique_ptr<GpuRegion> opened;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_GPURUNNER_H
