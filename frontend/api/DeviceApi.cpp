//===- DeviceApi.cpp - devices and pools through the C ABI ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Environment.h"
#include "frontend/api/Gpu.h"
#include "frontend/api/Prepare.h"
#include "runtime/cpu/CpuBackend.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/ThreadPool.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace azulejo;
using namespace azulejo::api;
namespace json = llvm::json;

static constexpr int32_t kMaxThreads = 4096;

namespace azulejo::api {

/// Made by the first run that needs it; never destroyed, since its threads may
/// run while the process ends.
static runtime::Pool &sharedPool() {
  static runtime::Pool *pool = [] {
    Result<Environment> env = readEnvironment();
    if (!env)
      runtime::log(runtime::LogLevel::Warn, env.error().str());
    return new runtime::ThreadPool(env ? env->threads : 0);
  }();
  return *pool;
}

const az_device &hostDevice() {
  static const auto *device = [] {
    const target::TargetDesc &host = target::hostTarget();
    auto *made = new az_device;
    made->target = host;
    made->name = host.name;
    made->memory = std::make_shared<runtime::CpuDevice>();
    made->backend =
        std::make_shared<runtime::CpuBackend>(host.arch, host.features);
    return made;
  }();
  return *device;
}

runtime::Pool &poolFor(const az_pool *given, const az_executable &executable) {
  if (given)
    return *given->pool;
  return executable.pool ? *executable.pool->pool : sharedPool();
}

} // namespace azulejo::api

static json::Object describe(const az_device &device) {
  const target::TargetDesc &target = device.target;
  json::Object facts{
      {"name", device.name},
      {"model", target.name},
      {"present", device.memory != nullptr},
      {"label", target.label},
      {"kind", target.kind == target::Kind::Cpu ? "cpu" : "gpu"},
      {"arch", target.arch},
      {"features", target.features},
      {"units", target.units},
      {"smem_per_block", target.smemPerBlock},
      {"l2_bytes", target.l2Bytes},
      {"l3_bytes", target.l3Bytes},
      {"vector_bytes", target.vectorBytes},
      {"memory_gbs", target.memoryGBs},
      {"f32_tflops", target.f32Tflops},
      {"f16_tflops", target.f16Tflops},
      {"measured", target.measured},
      {"silicon", target.siliconKey()},
  };
  if (!device.gpu)
    return facts;
  const runtime::cuda::DeviceFacts &gpu = device.gpu->facts();
  facts["driver"] = device.gpu->driver().versionText();
  facts["driver_library"] = json::fixUTF8(device.gpu->driver().library());
  facts["capability"] =
      std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
  facts["native_code"] = device.native;
  facts["memory_bytes"] = gpu.memoryBytes;
  facts["clock_mhz"] = gpu.clockMhz;
  facts["pci_bus_id"] = gpu.pciBusId;
  facts["exclusive"] = gpu.computeMode == runtime::cuda::kModeExclusive;
  return facts;
}

/// A device that is only a name, or this machine's CPU or GPU.
static Result<az_device> openDevice(const std::string &name) {
  if (namesGpu(name))
    return openGpu(name);
  Result<target::TargetDesc> target = target::resolveTarget(name);
  if (!target)
    return target.error();
  if (name == hostDevice().name)
    return hostDevice();
  az_device device;
  device.name = target->name;
  device.target = *std::move(target);
  return device;
}

static std::string textOf(json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

az_status az_device_open(const char *name, az_device **device,
                         az_error **error) {
  return guarded("az_device_open", error, [&]() -> Status {
    if (!device)
      return invalidCall("az_device_open", "device is null");
    Result<Environment> env = readEnvironment();
    if (!env)
      return env.error();
    runtime::setDefaultLogLevel(env->logLevel);
    Result<az_device> opened = openDevice(name ? name : env->device);
    if (!opened)
      return opened.error();
    *device = new az_device(*std::move(opened));
    return {};
  });
}

void az_device_destroy(az_device *device) { delete device; }

const char *az_device_name(const az_device *device) {
  return device ? device->name.c_str() : "";
}

az_status az_device_describe(const az_device *device, az_string **json,
                             az_error **error) {
  return guarded("az_device_describe", error, [&]() -> Status {
    if (!device || !json)
      return invalidCall("az_device_describe", "an argument is null");
    return give(textOf(describe(*device)), json);
  });
}

az_status az_devices(az_string **json, az_error **error) {
  return guarded("az_devices", error, [&]() -> Status {
    if (!json)
      return invalidCall("az_devices", "json is null");
    json::Array rows;
    rows.push_back(describe(hostDevice()));
    for (const az_device &gpu : presentGpus())
      rows.push_back(describe(gpu));
    for (const target::TargetDesc &target : target::knownTargets()) {
      az_device named;
      named.name = target.name;
      named.target = target;
      rows.push_back(describe(named));
    }
    return give(textOf(std::move(rows)), json);
  });
}

az_status az_pool_create(int32_t threads, az_pool **pool, az_error **error) {
  return guarded("az_pool_create", error, [&]() -> Status {
    if (!pool || threads < 0 || threads > kMaxThreads)
      return invalidCall("az_pool_create",
                         "pool is null, or threads is not 0 to 4096");
    Result<Environment> env = readEnvironment();
    if (!env)
      return env.error();
    *pool = new az_pool{std::make_unique<runtime::ThreadPool>(
        threads ? threads : env->threads)};
    return {};
  });
}

az_status az_pool_create_host(az_parallel_for parallel_for, void *user,
                              int32_t workers, az_pool **pool,
                              az_error **error) {
  return guarded("az_pool_create_host", error, [&]() -> Status {
    if (!pool || !parallel_for || workers < 1 || workers > kMaxThreads)
      return invalidCall("az_pool_create_host",
                         "a pointer is null, or workers is not 1 to 4096");
    *pool = new az_pool{
        std::make_unique<runtime::HostPool>(parallel_for, user, workers)};
    return {};
  });
}

int32_t az_pool_workers(const az_pool *pool) {
  return pool ? pool->pool->workers() : 0;
}

void az_pool_destroy(az_pool *pool) { delete pool; }
