//===- CudaDriver.cpp - as much of the CUDA driver as tests need ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/CudaDriver.h"

#include "runtime/cuda/Driver.h"

#include <cstdlib>
#include <dlfcn.h>

namespace azulejo::gputest {

using namespace runtime::cuda;

struct CudaDriver::Opened {
  std::shared_ptr<const Driver> driver;
  const CudaApi *operator->() const { return &driver->api(); }
};

Status CudaDriver::check(int code, const std::string &what) {
  return code == 0 ? Status() : Status(api->driver->error(code, what, "fails"));
}

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(int ordinal) {
  const char *library = std::getenv("AZULEJO_CUDA_LIBRARY");
  Result<std::shared_ptr<const Driver>> opened =
      Driver::open(library ? library : "");
  if (!opened)
    return opened.error();
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  driver->api = std::make_unique<Opened>(Opened{*opened});
  Opened &api = *driver->api;
  if (Status s = driver->check(api->deviceGet(&driver->device, ordinal),
                               "device " + std::to_string(ordinal));
      !s)
    return s.error();
  char name[256] = {};
  api->deviceGetName(name, sizeof name - 1, driver->device);
  api->deviceGetAttribute(&driver->major, kMajor, driver->device);
  api->deviceGetAttribute(&driver->minor, kMinor, driver->device);
  driver->name = name;
  Context context = nullptr;
  if (Status s = driver->check(api->primaryCtxRetain(&context, driver->device),
                               "context");
      !s)
    return s.error();
  driver->retained = true;
  if (Status s = driver->check(api->ctxSetCurrent(context), "context"); !s)
    return s.error();
  return driver;
}

CudaDriver::~CudaDriver() {
  if (!retained)
    return;
  Opened &driver = *api;
  for (void *module : modules)
    driver->moduleUnload(static_cast<Module>(module));
  driver->primaryCtxRelease(device);
}

Result<DevicePointer> CudaDriver::allocate(size_t bytes) {
  DevicePointer pointer = 0;
  if (Status s = check((*api)->memAlloc(&pointer, bytes), "allocation"); !s)
    return s.error();
  return pointer;
}

void CudaDriver::free(DevicePointer pointer) {
  if (pointer)
    (*api)->memFree(pointer);
}

Status CudaDriver::upload(DevicePointer to, const void *from, size_t bytes) {
  if (Status s =
          check((*api)->memcpyHtoDAsync(to, from, bytes, nullptr), "upload");
      !s)
    return s;
  return check((*api)->streamSynchronize(nullptr), "upload");
}

Status CudaDriver::download(void *to, DevicePointer from, size_t bytes) {
  if (Status s =
          check((*api)->memcpyDtoHAsync(to, from, bytes, nullptr), "download");
      !s)
    return s;
  return check((*api)->streamSynchronize(nullptr), "download");
}

Status CudaDriver::synchronize() {
  return check((*api)->ctxSynchronize(), "kernel");
}

Result<void *> CudaDriver::createStream() {
  StreamHandle stream = nullptr;
  if (Status s =
          check((*api)->streamCreate(&stream, kStreamNonBlocking), "stream");
      !s)
    return s.error();
  return static_cast<void *>(stream);
}

Result<void *> CudaDriver::load(const std::string &image,
                                const std::string &entry) {
  Module module = nullptr;
  Function function = nullptr;
  if (Status s = check(
          (*api)->moduleLoadDataEx(&module, image.c_str(), 0, nullptr, nullptr),
          "image");
      !s)
    return s.error();
  modules.push_back(module);
  if (Status s = check(
          (*api)->moduleGetFunction(&function, module, entry.c_str()), entry);
      !s)
    return s.error();
  return static_cast<void *>(function);
}

Status CudaDriver::launch(void *function, int64_t blocks, int64_t threads,
                          std::vector<int64_t> &args) {
  std::vector<void *> pointers;
  for (int64_t &arg : args)
    pointers.push_back(&arg);
  return check((*api)->launchKernel(static_cast<Function>(function),
                                    static_cast<unsigned>(blocks), 1, 1,
                                    static_cast<unsigned>(threads), 1, 1, 0,
                                    nullptr, pointers.data(), nullptr),
               "launch");
}

Status CudaDriver::launch(void *function, int64_t blocks, int64_t threads,
                          int64_t sharedBytes,
                          std::vector<unsigned char> &arguments, size_t maps) {
  auto entry = static_cast<Function>(function);
  if (Status s = check((*api)->funcSetAttribute(entry, kFunctionDynamicShared,
                                                static_cast<int>(sharedBytes)),
                       "shared memory");
      !s)
    return s;
  // One by one: where a kernel's first map lies is the assembler's business.
  std::vector<void *> pointers;
  for (size_t at = 0; at < arguments.size();
       at += pointers.size() <= maps ? sizeof(TensorMap) : sizeof(int64_t))
    pointers.push_back(arguments.data() + at);
  return check((*api)->launchKernel(entry, static_cast<unsigned>(blocks), 1, 1,
                                    static_cast<unsigned>(threads), 1, 1,
                                    static_cast<unsigned>(sharedBytes), nullptr,
                                    pointers.data(), nullptr),
               "launch");
}

// Numbers of cuda.h: CUtensorMapDataType, Swizzle and L2promotion.
static int mapTypeOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 6;
  case DType::F32:
    return 7;
  case DType::BF16:
    return 9;
  default:
    return 0; // bytes
  }
}

Result<TensorMap> CudaDriver::tensorMap(const TensorMapRequest &request) {
  using Encode = int (*)(void *map, int type, uint32_t rank, void *address,
                         const uint64_t *sizes, const uint64_t *strides,
                         const uint32_t *box, const uint32_t *steps,
                         int interleave, int swizzle, int promotion, int fill);
  // The runtime's own way to it is what these tests must not depend on.
  void *library = dlopen(api->driver->library().c_str(), RTLD_NOW | RTLD_LOCAL);
  auto encode =
      library
          ? reinterpret_cast<Encode>(dlsym(library, "cuTensorMapEncodeTiled"))
          : nullptr;
  if (!encode)
    return makeError(ErrorCode::DriverTooOld, "driver",
                     "has no cuTensorMapEncodeTiled");
  int swizzle = 0;
  for (int64_t bytes = request.swizzle; bytes > 16; bytes /= 2)
    ++swizzle;
  alignas(64) TensorMap map{};
  std::vector<uint32_t> steps(request.sizes.size(), 1);
  constexpr int kPromotion256 = 3;
  if (Status s = check(encode(map.data(), mapTypeOf(request.dtype),
                              static_cast<uint32_t>(request.sizes.size()),
                              reinterpret_cast<void *>(request.address),
                              request.sizes.data(), request.strides.data(),
                              request.box.data(), steps.data(), 0, swizzle,
                              kPromotion256, 0),
                       "tensor map");
      !s)
    return s.error();
  return map;
}

Result<float> CudaDriver::time(void *function, int64_t blocks, int64_t threads,
                               std::vector<int64_t> &args, int count) {
  EventHandle begin = nullptr, end = nullptr;
  float elapsed = 0;
  Status status = check((*api)->eventCreate(&begin, 0), "event");
  if (status)
    status = check((*api)->eventCreate(&end, 0), "event");
  if (status)
    status = check((*api)->eventRecord(begin, nullptr), "event");
  for (int i = 0; i < count && status; ++i)
    status = launch(function, blocks, threads, args);
  if (status)
    status = check((*api)->eventRecord(end, nullptr), "event");
  if (status)
    status = check((*api)->eventSynchronize(end), "kernel");
  if (status)
    status = check((*api)->eventElapsedTime(&elapsed, begin, end), "event");
  for (EventHandle event : {begin, end})
    if (event)
      (*api)->eventDestroy(event);
  if (!status)
    return status.error();
  return elapsed;
}

} // namespace azulejo::gputest
