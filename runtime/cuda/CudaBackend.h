//===- CudaBackend.h - GPU images and launches ------------------*- C++ -*-===//
//
// A launch is one call of cuLaunchKernel on the caller's stream: arguments are
// copied by the driver, nothing is allocated and nothing waits, so a run may be
// captured in a CUDA graph, and any number of threads and streams may run one
// executable at a time. Zeros in the workspace are one fill on that stream.
//
// A kernel's parameters are its tensor maps, 128 bytes each, and then words of
// 8 bytes. Without maps they go to the driver as the one block that they are.
// With maps they go one by one: a map is aligned to 64 bytes of the memory in
// which a device has parameters, and where that begins depends on the device,
// so the block may need bytes in front that only the driver knows of.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CUDA_CUDABACKEND_H
#define AZULEJO_RUNTIME_CUDA_CUDABACKEND_H

#include "runtime/Backend.h"
#include "runtime/cuda/CudaDevice.h"

namespace azulejo::runtime::cuda {

/// Runs "cubin" and "ptx" images on one device. PTX goes through the driver's
/// own compiler, whose log is in the error if it refuses.
class CudaBackend : public Backend {
public:
  explicit CudaBackend(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)) {}

  Result<std::unique_ptr<LoadedImage>>
  load(const plan::Image &image) const override;
  int64_t scratchSlices(const Queue &queue) const override { return 0; }
  Status enter(int &state) const override;
  void leave(int state) const override;
  Status checkStream(const Queue &queue) const override;
  Status checkMemory(const void *start, int64_t bytes) const override;
  bool makeTensorMap(const MappedTensor &tensor, int64_t *map) const override;
  Status zero(int64_t address, int64_t bytes,
              const Queue &queue) const override;
  Status launch(const LaunchCall &call, const Queue &queue) const override;

private:
  std::shared_ptr<CudaDevice> device;
};

/// PTX as an image, for the architecture that the text states.
plan::Image imageOfPtx(std::string text);

} // namespace azulejo::runtime::cuda

#endif // AZULEJO_RUNTIME_CUDA_CUDABACKEND_H
