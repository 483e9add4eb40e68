//===- CpuBackend.h - CPU images and launches -------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CPU_CPUBACKEND_H
#define AZULEJO_RUNTIME_CPU_CPUBACKEND_H

#include "runtime/Backend.h"

namespace azulejo::runtime {

/// Runs "cpu-flat" images on this machine. Both strings are as in TargetDesc:
/// the architecture, and the comma list of features that the CPU and the
/// operating system enable.
class CpuBackend : public Backend {
public:
  CpuBackend(std::string arch, const std::string &features);

  /// Refuses an image for another architecture or one that needs a feature
  /// this machine lacks, so that no run can meet an illegal instruction.
  Result<std::unique_ptr<LoadedImage>>
  load(const plan::Image &image) const override;
  int64_t scratchSlices(const Queue &queue) const override {
    return queue.pool ? queue.pool->workers() : 1;
  }
  Status zero(int64_t address, int64_t bytes,
              const Queue &queue) const override;
  Status launch(const LaunchCall &call, const Queue &queue) const override;

private:
  std::string arch;
  std::vector<std::string> features;
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_CPU_CPUBACKEND_H
