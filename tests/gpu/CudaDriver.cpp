//===- CudaDriver.cpp - as much of the CUDA driver as tests need ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/CudaDriver.h"

#include <dlfcn.h>

namespace azulejo::gputest {

/// The entry points, by the names under which the driver exports them.
struct CudaDriver::Api {
  int (*init)(unsigned);
  int (*getErrorString)(int, const char **);
  int (*deviceGet)(int *, int);
  int (*deviceGetName)(char *, int, int);
  int (*deviceGetAttribute)(int *, int, int);
  int (*primaryCtxRetain)(void **, int);
  int (*primaryCtxRelease)(int);
  int (*ctxSetCurrent)(void *);
  int (*ctxSynchronize)();
  int (*memAlloc)(DevicePointer *, size_t);
  int (*memFree)(DevicePointer);
  int (*memcpyHtoD)(DevicePointer, const void *, size_t);
  int (*memcpyDtoH)(void *, DevicePointer, size_t);
  int (*streamCreate)(void **, unsigned);
  int (*moduleLoadData)(void **, const void *);
  int (*moduleUnload)(void *);
  int (*moduleGetFunction)(void **, void *, const char *);
  int (*launchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, void *, void **, void **);
  int (*eventCreate)(void **, unsigned);
  int (*eventDestroy)(void *);
  int (*eventRecord)(void *, void *);
  int (*eventSynchronize)(void *);
  int (*eventElapsedTime)(float *, void *, void *);

  /// The first symbol that is missing, or null.
  const char *resolve(void *library) {
    const char *missing = nullptr;
    auto find = [&](auto &slot, const char *symbol) {
      slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(
          dlsym(library, symbol));
      if (!slot && !missing)
        missing = symbol;
    };
    find(init, "cuInit");
    find(getErrorString, "cuGetErrorString");
    find(deviceGet, "cuDeviceGet");
    find(deviceGetName, "cuDeviceGetName");
    find(deviceGetAttribute, "cuDeviceGetAttribute");
    find(primaryCtxRetain, "cuDevicePrimaryCtxRetain");
    find(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
    find(ctxSetCurrent, "cuCtxSetCurrent");
    find(ctxSynchronize, "cuCtxSynchronize");
    find(memAlloc, "cuMemAlloc_v2");
    find(memFree, "cuMemFree_v2");
    find(memcpyHtoD, "cuMemcpyHtoD_v2");
    find(memcpyDtoH, "cuMemcpyDtoH_v2");
    find(streamCreate, "cuStreamCreate");
    find(moduleLoadData, "cuModuleLoadData");
    find(moduleUnload, "cuModuleUnload");
    find(moduleGetFunction, "cuModuleGetFunction");
    find(launchKernel, "cuLaunchKernel");
    find(eventCreate, "cuEventCreate");
    find(eventDestroy, "cuEventDestroy_v2");
    find(eventRecord, "cuEventRecord");
    find(eventSynchronize, "cuEventSynchronize");
    find(eventElapsedTime, "cuEventElapsedTime");
    return missing;
  }
};

Status CudaDriver::check(int code, const std::string &what) {
  if (code == 0)
    return {};
  const char *text = nullptr;
  api->getErrorString(code, &text);
  // Illegal address, misaligned address, trap and their like: nothing on this
  // context works any more.
  bool lost = code == 700 || (code >= 714 && code <= 719);
  return makeError(lost ? ErrorCode::DeviceLost : ErrorCode::DriverEnv, what,
                   std::string(text ? text : "unknown error") + " (" +
                       std::to_string(code) + ")");
}

Result<std::unique_ptr<CudaDriver>> CudaDriver::open() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(ErrorCode::DriverEnv, "libcuda.so.1",
                     "there is no NVIDIA driver");
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  driver->api = std::make_unique<Api>();
  Api &api = *driver->api;
  if (const char *missing = api.resolve(library)) {
    driver->api.reset();
    return makeError(ErrorCode::DriverTooOld, "libcuda.so.1",
                     std::string("lacks ") + missing);
  }
  auto fail = [&](Status status) {
    driver->api.reset(); // nothing to give back yet
    return status.error();
  };
  if (Status s = driver->check(api.init(0), "cuInit"); !s)
    return fail(s);
  if (Status s = driver->check(api.deviceGet(&driver->device, 0), "device 0");
      !s)
    return fail(s);
  char name[256] = {};
  constexpr int kMajor = 75, kMinor = 76; // CU_DEVICE_ATTRIBUTE_...
  api.deviceGetName(name, sizeof name - 1, driver->device);
  api.deviceGetAttribute(&driver->major, kMajor, driver->device);
  api.deviceGetAttribute(&driver->minor, kMinor, driver->device);
  driver->name = name;
  void *context = nullptr;
  if (Status s = driver->check(api.primaryCtxRetain(&context, driver->device),
                               "context");
      !s)
    return fail(s);
  if (Status s = driver->check(api.ctxSetCurrent(context), "context"); !s)
    return s.error();
  return driver;
}

CudaDriver::~CudaDriver() {
  if (!api)
    return;
  for (void *module : modules)
    api->moduleUnload(module);
  api->primaryCtxRelease(device);
}

Result<DevicePointer> CudaDriver::allocate(size_t bytes) {
  DevicePointer pointer = 0;
  if (Status s = check(api->memAlloc(&pointer, bytes), "allocation"); !s)
    return s.error();
  return pointer;
}

void CudaDriver::free(DevicePointer pointer) {
  if (pointer)
    api->memFree(pointer);
}

Status CudaDriver::upload(DevicePointer to, const void *from, size_t bytes) {
  return check(api->memcpyHtoD(to, from, bytes), "upload");
}

Status CudaDriver::download(void *to, DevicePointer from, size_t bytes) {
  return check(api->memcpyDtoH(to, from, bytes), "download");
}

Status CudaDriver::synchronize() {
  return check(api->ctxSynchronize(), "kernel");
}

Result<void *> CudaDriver::createStream() {
  void *stream = nullptr;
  constexpr unsigned kNonBlocking = 1;
  if (Status s = check(api->streamCreate(&stream, kNonBlocking), "stream"); !s)
    return s.error();
  return stream;
}

Result<void *> CudaDriver::load(const std::string &image,
                                const std::string &entry) {
  void *module = nullptr, *function = nullptr;
  if (Status s = check(api->moduleLoadData(&module, image.c_str()), "image");
      !s)
    return s.error();
  modules.push_back(module);
  if (Status s = check(api->moduleGetFunction(&function, module, entry.c_str()),
                       entry);
      !s)
    return s.error();
  return function;
}

Status CudaDriver::launch(void *function, int64_t blocks, int64_t threads,
                          std::vector<int64_t> &args) {
  std::vector<void *> pointers;
  for (int64_t &arg : args)
    pointers.push_back(&arg);
  return check(api->launchKernel(function, static_cast<unsigned>(blocks), 1, 1,
                                 static_cast<unsigned>(threads), 1, 1, 0,
                                 nullptr, pointers.data(), nullptr),
               "launch");
}

Result<float> CudaDriver::time(void *function, int64_t blocks, int64_t threads,
                               std::vector<int64_t> &args, int count) {
  void *begin = nullptr, *end = nullptr;
  float elapsed = 0;
  Status status = check(api->eventCreate(&begin, 0), "event");
  if (status)
    status = check(api->eventCreate(&end, 0), "event");
  if (status)
    status = check(api->eventRecord(begin, nullptr), "event");
  for (int i = 0; i < count && status; ++i)
    status = launch(function, blocks, threads, args);
  if (status)
    status = check(api->eventRecord(end, nullptr), "event");
  if (status)
    status = check(api->eventSynchronize(end), "kernel");
  if (status)
    status = check(api->eventElapsedTime(&elapsed, begin, end), "event");
  for (void *event : {begin, end})
    if (event)
      api->eventDestroy(event);
  if (!status)
    return status.error();
  return elapsed;
}

} // namespace azulejo::gputest
