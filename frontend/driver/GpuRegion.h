//===- GpuRegion.h - one region's data on a GPU -----------------*- C++ -*-===//
//
// Inputs, references and buffers of the region that is open, and what is done
// with a candidate among them. Everything large stays on the device: inputs and
// the unfused result are made once, results are compared there
// (autotune/measure/DeviceChecks).
//
//   golden   inputs | result of the unfused plan           never changed after
//   exact    the same, of integers for which nothing rounds
//   work     inputs | outputs of a candidate               between redzones
//   copies   inputs | outputs, many times                  for timing
//
// After a kernel that did not end, or broke the context, nothing is given back:
// see DeviceQueue.h.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_GPUREGION_H
#define AZULEJO_FRONTEND_DRIVER_GPUREGION_H

#include "autotune/measure/DeviceTimer.h"
#include "frontend/driver/RegionReference.h"

namespace azulejo::driver {

/// Once per process and device.
struct GpuTools {
  std::shared_ptr<runtime::cuda::CudaDevice> device;
  std::unique_ptr<runtime::cuda::CudaBackend> backend;
  std::unique_ptr<measure::DeviceQueue> queue;
  std::unique_ptr<measure::DeviceChecks> checks;
  std::unique_ptr<measure::DeviceTimer> timer;
};

class GpuRegion {
public:
  /// The tools, the target and the options must outlive the region.
  static Result<std::unique_ptr<GpuRegion>>
  open(GpuTools &gpu, const std::string &region, const References &references,
       const target::TargetDesc &target, const RunnerOptions &options);
  ~GpuRegion();

  const std::string &text() const { return region; }
  Result<Verdict> verify(const KernelCode &code);
  Result<measure::Timing> time(const KernelCode &code,
                               const measure::TimeOptions &how);

private:
  using Tensors = measure::DeviceTensors;
  GpuRegion(GpuTools &gpu, std::string region, const target::TargetDesc &target,
            const RunnerOptions &options)
      : gpu(gpu), region(std::move(region)), target(target), options(options) {}

  Status makeGolden(const References &references);
  Status runUnfused(const References &references);
  Status makeExact(const runtime::Executable &unfused);
  Result<runtime::Executable *> prepare(const KernelCode &code);
  Status upload(Tensors &set, const std::vector<reference::HostTensor> &inputs);
  Result<std::vector<reference::HostTensor>>
  runSmall(const runtime::Executable &code, const OracleCase &one);
  Status runGuarded(const runtime::Executable &code, Tensors &set,
                    std::span<const int64_t> dims);
  Status runFull(const runtime::Executable &code, Tensors &from);
  Status verifyExactly(const runtime::Executable &code, Verdict &verdict);
  Status compareExactly(size_t output);
  Status download(size_t output, Tensors &from, reference::HostTensor &to);
  Status compareWithAgain();
  Status compareWithUnfused();
  Status compareOutput(size_t output, double depth);
  Status makeCopies(const plan::Plan &plan);
  measure::DeviceBuffer &outputOf(Tensors &set, size_t output) {
    return set.buffer(set.inputCount() + output);
  }

  GpuTools &gpu;
  std::string region;
  const target::TargetDesc &target;
  const RunnerOptions &options;
  RegionFacts facts;
  std::vector<OracleCase> cases;
  std::optional<Tensors> golden, exact, work;
  uint64_t exactSeed = 0;
  std::string noExact; ///< why there is none
  bool hasUnfused = false;
  std::vector<double> typical;              ///< size of an output's values
  std::vector<measure::DeviceBuffer> again; ///< outputs of the first run
  std::vector<Tensors> copies;
  std::optional<measure::DeviceBuffer> flush; ///< where copies do not fit
  std::map<std::string, std::unique_ptr<runtime::Executable>> prepared;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_GPUREGION_H
