//===- CudaBackend.cpp - GPU images and launches --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudaBackend.h"

#include "runtime/cuda/ImageFit.h"

#include <algorithm>
#include <array>
#include <map>

namespace azulejo::runtime::cuda {

// What every function may use without being asked for: 48 KiB.
static constexpr int64_t kSharedByDefault = 48 << 10;
// Parameters of a kernel, in 8-byte words; the driver's limit.
static constexpr size_t kMaxWords = 4095;
// Parameters of a kernel with tensor maps; a pointer to each is on the stack.
static constexpr size_t kMaxPointers = 512;
static constexpr size_t kMapBytes = sizeof(TensorMapWords);
static_assert(kMapBytes == plan::kMapWords * sizeof(int64_t));

static Error imageError(ErrorCode code, std::string message, const char *rule,
                        const char *hint) {
  return makeError(code, "image of kernel code", std::move(message), rule,
                   hint);
}

namespace {

/// A module of the driver, unloaded with the executable.
class LoadedModule : public LoadedImage {
public:
  LoadedModule(std::shared_ptr<CudaDevice> device, Module module)
      : device(std::move(device)), module(module) {}
  ~LoadedModule() override {
    if (!device->alive())
      return; // the driver has unloaded it with the context
    ContextScope scope(device->api(), device->retained());
    device->api().moduleUnload(module);
  }

  Result<const void *> entry(const plan::Launch &launch) const override {
    ContextScope scope(device->api(), device->retained());
    if (Code code = scope.entered())
      return device->failed(code, "its context cannot be used").error();
    Function function = nullptr;
    if (Code code = device->api().moduleGetFunction(&function, module,
                                                    launch.entry.c_str()))
      return device
          ->failed(code, "the image has no kernel '" + launch.entry + "'")
          .error();
    for (auto check :
         {&LoadedModule::checkArguments, &LoadedModule::checkMaps,
          &LoadedModule::checkThreads, &LoadedModule::reserveShared})
      if (Status status = (this->*check)(function, launch); !status)
        return status.error();
    return static_cast<const void *>(function);
  }

private:
  Error refuse(const plan::Launch &launch, ErrorCode code, std::string message,
               const char *rule) const {
    return makeError(code, "kernel '" + launch.kernel + "'", std::move(message),
                     rule, "compile the graph again, for this device");
  }

  /// A plan that states other arguments than the kernel takes would make it
  /// read past them. Newer drivers can tell.
  Status checkArguments(Function function, const plan::Launch &launch) const {
    size_t maps = launch.tensorMaps.size(), count = maps + launch.args.size();
    if (count > (maps ? kMaxPointers : kMaxWords))
      return refuse(launch, ErrorCode::ResourceLimit,
                    "it has " + std::to_string(count) + " arguments",
                    "image.args");
    auto ask = device->api().funcGetParamInfo;
    if (!ask)
      return {};
    size_t offset = 0, bytes = 0, first = 0;
    // Past the last one the driver calls the index invalid; any other answer
    // means that it does not know.
    Code past = ask(function, count, &offset, &bytes);
    bool fits = past != 0;
    for (size_t i = 0; past == kErrorInvalidValue && fits && i < count; ++i) {
      fits = ask(function, i, &offset, &bytes) == 0;
      first = i == 0 && maps ? offset : first;
      size_t expected =
          kMapBytes * std::min(i, maps) + 8 * (i - std::min(i, maps));
      fits &= offset == first + expected && bytes == (i < maps ? kMapBytes : 8);
    }
    return fits ? Status()
                : Status(refuse(launch, ErrorCode::InvalidArgument,
                                "its code does not take " +
                                    std::to_string(maps) + " tensor maps and " +
                                    std::to_string(launch.args.size()) +
                                    " arguments",
                                "image.args"));
  }

  /// What has another form runs in that one.
  Status checkMaps(Function function, const plan::Launch &launch) const {
    if (launch.tensorMaps.empty() || launch.otherwise >= 0 ||
        device->api().tensorMapEncodeTiled)
      return {};
    return makeError(ErrorCode::DriverTooOld, "kernel '" + launch.kernel + "'",
                     "it needs tensor maps, which the driver cannot make (it "
                     "lacks cuTensorMapEncodeTiled)",
                     "cuda.symbol", "update NVIDIA's driver");
  }

  Result<int64_t> attribute(Function function, FunctionAttribute what) const {
    int value = 0;
    Status status =
        device->check(device->api().funcGetAttribute(&value, what, function),
                      "a property of a kernel");
    return status ? Result<int64_t>(value) : status.error();
  }

  Status checkThreads(Function function, const plan::Launch &launch) const {
    Result<int64_t> most = attribute(function, kFunctionThreads);
    if (!most)
      return most.error();
    if (launch.blockThreads <= *most)
      return {};
    return refuse(launch, ErrorCode::ResourceLimit,
                  "a block of " + std::to_string(launch.blockThreads) +
                      " threads does not fit, " + std::to_string(*most) + " do",
                  "image.threads");
  }

  Status reserveShared(Function function, const plan::Launch &launch) const {
    Result<int64_t> fixed = attribute(function, kFunctionShared);
    if (!fixed)
      return fixed.error();
    int64_t has =
        std::max(device->facts().sharedPerBlock, kSharedByDefault) - *fixed;
    if (launch.scratchBytes > has)
      return refuse(launch, ErrorCode::ResourceLimit,
                    "it needs " + std::to_string(launch.scratchBytes) +
                        " bytes of shared memory, a block can have " +
                        std::to_string(has),
                    "image.shared");
    // Several launches may share a function: it keeps the largest request.
    int64_t &reserved = shared[function];
    if (launch.scratchBytes + *fixed <= kSharedByDefault ||
        launch.scratchBytes <= reserved)
      return {};
    reserved = launch.scratchBytes;
    return device->check(
        device->api().funcSetAttribute(function, kFunctionDynamicShared,
                                       static_cast<int>(reserved)),
        "asking for a kernel's shared memory");
  }

  std::shared_ptr<CudaDevice> device;
  Module module;
  mutable std::map<Function, int64_t> shared; ///< only while preparing
};

} // namespace

static Result<Module> loadModule(CudaDevice &device, const plan::Image &image) {
  Result<Context> context = device.context();
  if (!context)
    return context.error();
  ContextScope scope(device.api(), *context);
  if (Code code = scope.entered())
    return device.failed(code, "its context cannot be used").error();
  std::array<char, 8192> log{};
  JitOption options[] = {kJitErrorLog, kJitErrorBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  unsigned count = image.kind == "ptx" ? 2 : 0;
  Module module = nullptr;
  Code code = device.api().moduleLoadDataEx(&module, image.bytes.c_str(), count,
                                            options, values);
  if (code == 0)
    return module;
  Error error =
      device.failed(code, "an image for " + image.arch + " cannot be loaded")
          .error();
  if (log[0])
    error.message += ": " + std::string(log.data());
  return error;
}

Result<std::unique_ptr<LoadedImage>>
CudaBackend::load(const plan::Image &image) const {
  if (Status status = device->alive(); !status)
    return status.error();
  const DeviceFacts &facts = device->facts();
  if (image.kind != "cubin" && image.kind != "ptx")
    return imageError(ErrorCode::Unsupported,
                      "it is '" + image.kind + "', which a GPU cannot run",
                      "image.kind", "compile the graph for this device");
  if (!imageFits(image.kind, image.arch, facts.major, facts.minor))
    return imageError(ErrorCode::Unsupported,
                      "it is " + image.kind + " for " + image.arch + ", '" +
                          device->name() + "' (" + facts.name +
                          ") has capability " + std::to_string(facts.major) +
                          "." + std::to_string(facts.minor),
                      "image.arch", "compile the graph for this device");
  if (image.bytes.empty() || image.digest != plan::digestOf(image.bytes))
    return imageError(ErrorCode::InvalidArgument,
                      "its bytes do not have the digest it states",
                      "image.digest", "compile the graph again");
  Result<Module> module = loadModule(*device, image);
  if (!module)
    return module.error();
  return Result<std::unique_ptr<LoadedImage>>(
      std::make_unique<LoadedModule>(device, *module));
}

// `state` is 1 if our context was pushed over what the thread had.
Status CudaBackend::enter(int &state) const {
  // Retained by the first image; a plan without any comes here first.
  Result<Context> made = device->context();
  if (!made)
    return made.error();
  const CudaApi &api = device->api();
  Context ours = *made, current = nullptr;
  Code code = api.ctxGetCurrent(&current);
  state = code == 0 && current != ours;
  if (state)
    code = api.ctxPushCurrent(ours);
  if (code == 0)
    return {};
  state = 0;
  return device->failed(code, "its context cannot be used");
}

void CudaBackend::leave(int state) const {
  Context popped = nullptr;
  if (state)
    device->api().ctxPopCurrent(&popped);
}

Status CudaBackend::checkStream(const Queue &queue) const {
  if (isDefaultStream(queue.stream))
    return {};
  Context theirs = nullptr;
  Code code = device->api().streamGetCtx(
      static_cast<StreamHandle>(queue.stream), &theirs);
  // A destroyed context may be the stream's, which is not ours.
  if (Driver::isLoss(code) && code != kErrorContextDestroyed)
    return device->failed(code, "the stream cannot be used");
  if (code == 0 && theirs == device->retained())
    return {};
  return makeError(ErrorCode::InvalidArgument, "stream",
                   "it does not belong to '" + device->name() + "'",
                   "run.stream",
                   "give a stream of this device's primary context");
}

Status CudaBackend::checkMemory(const void *start, int64_t bytes) const {
  int type = 0, managed = 0, ordinal = -1, whole = 0;
  Address first = 0;
  size_t size = 0;
  PointerAttribute what[] = {kPointerMemoryType, kPointerManaged,
                             kPointerOrdinal,    kPointerWhole,
                             kPointerStart,      kPointerBytes};
  void *into[] = {&type, &managed, &ordinal, &whole, &first, &size};
  auto address = static_cast<Address>(reinterpret_cast<uintptr_t>(start));
  Code code = device->api().pointerGetAttributes(6, what, into, address);
  if (Driver::isLoss(code))
    return device->failed(code, "a pointer cannot be looked at");
  auto fail = [](std::string message, const char *hint) {
    return makeError(ErrorCode::InvalidArgument, "memory", std::move(message),
                     "run.memory", hint);
  };
  if (code != 0 || type == 0) // unknown to the driver: ordinary host memory
    return device->facts().pageableMemory
               ? Status()
               : Status(fail("its pointer is not memory of the device '" +
                                 device->name() + "' (host memory?)",
                             "copy it to the device first"));
  if (managed || type == kMemoryHost) // reachable by every device
    return {};
  if (ordinal != device->ordinal())
    return fail(
        "its pointer is memory of device 'cuda:" + std::to_string(ordinal) +
            "', the run is on '" + device->name() + "'",
        "copy it to the device of the executable");
  // Memory that was mapped piece by piece has no one allocation to compare.
  if (whole && size && address + static_cast<Address>(bytes) > first + size)
    return fail("its extent ends " +
                    std::to_string(address + static_cast<Address>(bytes) -
                                   first - size) +
                    " bytes past its allocation",
                "check shape and strides against the allocation");
  return {};
}

static MapElement mapElement(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return kMapFloat32;
  case DType::F16:
    return kMapFloat16;
  case DType::BF16:
    return kMapBfloat16;
  case DType::I32:
    return kMapInt32;
  default: // nothing is computed, so any byte will do
    return kMapUint8;
  }
}

static MapSwizzle mapSwizzle(int32_t bytes) {
  return bytes == 128  ? kMapSwizzle128
         : bytes == 64 ? kMapSwizzle64
         : bytes == 32 ? kMapSwizzle32
                       : kMapSwizzleNone;
}

bool CudaBackend::makeTensorMap(const MappedTensor &tensor,
                                int64_t *map) const {
  auto encode = device->api().tensorMapEncodeTiled;
  if (!encode)
    return false;
  unsigned long long sizes[plan::kMaxMapAxes], strides[plan::kMaxMapAxes];
  unsigned steps[plan::kMaxMapAxes];
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    sizes[i] = tensor.sizes[i];
    strides[i] = tensor.strides[i];
    steps[i] = 1;
  }
  // The innermost stride is that of an element, which the driver knows.
  return encode(reinterpret_cast<TensorMapWords *>(map),
                mapElement(tensor.dtype), tensor.rank,
                reinterpret_cast<void *>(tensor.address), sizes, strides + 1,
                tensor.box, steps, kMapNotInterleaved,
                mapSwizzle(tensor.swizzle), kMapL2By256, kMapFillZeros) == 0;
}

Status CudaBackend::zero(int64_t address, int64_t bytes,
                         const Queue &queue) const {
  return device->check(
      device->api().memsetD8Async(static_cast<Address>(address), 0,
                                  static_cast<size_t>(bytes),
                                  static_cast<StreamHandle>(queue.stream)),
      "zeros in the workspace");
}

Status CudaBackend::launch(const LaunchCall &call, const Queue &queue) const {
  if (call.grid > INT32_MAX)
    return makeError(ErrorCode::ResourceLimit, "grid",
                     std::to_string(call.grid) +
                         " blocks are more than a launch can have",
                     "run.grid", "use smaller dimensions");
  auto maps = static_cast<size_t>(call.mapCount);
  size_t count = maps + static_cast<size_t>(call.argCount);
  size_t bytes = count * sizeof(int64_t);
  int64_t *words = const_cast<int64_t *>(call.args);
  void *packed[] = {kLaunchBuffer, words, kLaunchBufferBytes, &bytes,
                    kLaunchEnd};
  void *each[kMaxPointers];
  for (size_t i = 0; maps && i < count; ++i) {
    each[i] = words;
    words += i < maps ? plan::kMapWords : 1;
  }
  return device->check(
      device->api().launchKernel(
          static_cast<Function>(const_cast<void *>(call.entry)),
          static_cast<unsigned>(call.grid), 1, 1,
          static_cast<unsigned>(call.blockThreads), 1, 1,
          static_cast<unsigned>(call.scratchBytes),
          static_cast<StreamHandle>(queue.stream), maps ? each : nullptr,
          count && !maps ? packed : nullptr),
      "the launch");
}

plan::Image imageOfPtx(std::string text) {
  plan::Image image;
  image.kind = "ptx";
  constexpr std::string_view kTarget = ".target ";
  if (size_t at = text.find(kTarget); at != std::string::npos) {
    at += kTarget.size();
    image.arch = text.substr(at, text.find_first_of(", \n", at) - at);
  }
  image.digest = plan::digestOf(text);
  image.bytes = std::move(text);
  return image;
}

} // namespace azulejo::runtime::cuda
