//===- Gpu.cpp - the GPUs of this machine ---------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Gpu.h"

#include "frontend/api/Environment.h"
#include "runtime/cuda/CudaBackend.h"
#include "runtime/cuda/ImageFit.h"

#include <charconv>

namespace azulejo::api {

using runtime::cuda::CudaBackend;
using runtime::cuda::CudaDevice;
using runtime::cuda::Driver;

static constexpr std::string_view kPrefix = "cuda";

bool namesGpu(std::string_view name) {
  return name == kPrefix || name.substr(0, kPrefix.size() + 1) == "cuda:";
}

static Result<std::shared_ptr<const Driver>> openDriver() {
  Result<Environment> env = readEnvironment();
  if (!env)
    return env.error();
  return Driver::open(env->cudaLibrary);
}

static Result<az_device> openOrdinal(std::shared_ptr<const Driver> driver,
                                     int ordinal) {
  Result<std::shared_ptr<CudaDevice>> device =
      CudaDevice::open(std::move(driver), ordinal);
  if (!device)
    return device.error();
  const runtime::cuda::DeviceFacts &facts = (*device)->facts();
  Result<target::PresentGpu> present = target::targetOf(
      {facts.name, facts.major, facts.minor, facts.units, facts.sharedPerBlock,
       facts.registersPerUnit, facts.l2Bytes, facts.memoryGBs});
  if (!present)
    return present.error();
  az_device opened;
  opened.target = std::move(present->target);
  opened.name = (*device)->name();
  opened.native = present->native;
  opened.backend = std::make_shared<CudaBackend>(*device);
  opened.gpu = *device;
  opened.memory = *std::move(device);
  return opened;
}

Result<az_device> openGpu(const std::string &name) {
  int ordinal = 0;
  if (name != kPrefix) {
    const char *from = name.data() + kPrefix.size() + 1,
               *to = name.data() + name.size();
    auto [end, code] = std::from_chars(from, to, ordinal);
    if (from == to || end != to || code != std::errc() || ordinal < 0)
      return makeError(ErrorCode::InvalidArgument, "device '" + name + "'",
                       "it is not cuda:N with a number N", "device.name",
                       "as in cuda:0");
  }
  Result<std::shared_ptr<const Driver>> driver = openDriver();
  if (!driver)
    return driver.error();
  return openOrdinal(*std::move(driver), ordinal);
}

std::vector<az_device> presentGpus() {
  std::vector<az_device> devices;
  Result<std::shared_ptr<const Driver>> driver = openDriver();
  if (!driver)
    return devices;
  Result<int> count = CudaDevice::count(**driver);
  for (int i = 0; count && i < *count; ++i)
    if (Result<az_device> device = openOrdinal(*driver, i))
      devices.push_back(*std::move(device));
  return devices;
}

bool isGpuPlan(const plan::Plan &plan) {
  for (const plan::Image &image : plan.images)
    if (image.kind != "cpu-flat")
      return true;
  return false;
}

static bool fits(const plan::Plan &plan, const CudaDevice &device) {
  for (const plan::Image &image : plan.images)
    if (!runtime::cuda::imageFits(image.kind, image.arch, device.facts().major,
                                  device.facts().minor))
      return false;
  return true;
}

Result<az_device> gpuFor(const plan::Plan &plan) {
  Result<Environment> env = readEnvironment();
  if (!env)
    return env.error();
  if (namesGpu(env->device))
    return openGpu(env->device);
  for (az_device &device : presentGpus())
    if (fits(plan, *device.gpu))
      return device;
  // The first one's refusal says what is wrong: no driver, no device, or an
  // image for another generation.
  return openGpu(std::string(kPrefix));
}

} // namespace azulejo::api
