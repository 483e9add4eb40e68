//===- DeviceApi.cpp - devices and pools through the C ABI ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Environment.h"
#include "frontend/api/Handles.h"
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

runtime::Pool &poolFor(const az_pool *given, const az_executable &executable) {
  if (given)
    return *given->pool;
  return executable.pool ? *executable.pool->pool : sharedPool();
}

} // namespace azulejo::api

static json::Value describe(const target::TargetDesc &target) {
  return json::Object{
      {"name", target.name},
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
    Result<target::TargetDesc> target =
        target::resolveTarget(name ? name : env->device);
    if (!target)
      return target.error();
    *device = new az_device{*std::move(target)};
    return {};
  });
}

void az_device_destroy(az_device *device) { delete device; }

const char *az_device_name(const az_device *device) {
  return device ? device->target.name.c_str() : "";
}

az_status az_device_describe(const az_device *device, az_string **json,
                             az_error **error) {
  return guarded("az_device_describe", error, [&]() -> Status {
    if (!device || !json)
      return invalidCall("az_device_describe", "an argument is null");
    return give(textOf(describe(device->target)), json);
  });
}

az_status az_devices(az_string **json, az_error **error) {
  return guarded("az_devices", error, [&]() -> Status {
    if (!json)
      return invalidCall("az_devices", "json is null");
    json::Array rows;
    rows.push_back(describe(target::hostTarget()));
    for (const target::TargetDesc &target : target::knownTargets())
      rows.push_back(describe(target));
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
