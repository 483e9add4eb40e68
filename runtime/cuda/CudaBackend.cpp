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
         {&LoadedModule::checkArguments, &LoadedModule::checkThreads,
          &LoadedModule::reserveShared})
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
    size_t count = launch.args.size();
    if (count > kMaxWords)
      return refuse(launch, ErrorCode::ResourceLimit,
                    "it has " + std::to_string(count) + " arguments",
                    "image.args");
    auto ask = device->api().funcGetParamInfo;
    if (!ask)
      return {};
    size_t offset = 0, bytes = 0;
    // Past the last one the driver calls the index invalid; any other answer
    // means that it does not know.
    Code past = ask(function, count, &offset, &bytes);
    bool fits = past != 0;
    for (size_t i = 0; past == kErrorInvalidValue && fits && i < count; ++i)
      fits = ask(function, i, &offset, &bytes) == 0 && offset == 8 * i &&
             bytes == 8;
    return fits ? Status()
                : Status(refuse(launch, ErrorCode::InvalidArgument,
                                "its code does not take " +
                                    std::to_string(count) + " arguments",
                                "image.args"));
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

Status CudaBackend::launch(const LaunchCall &call, const Queue &queue) const {
  if (call.grid > INT32_MAX)
    return makeError(ErrorCode::ResourceLimit, "grid",
                     std::to_string(call.grid) +
                         " blocks are more than a launch can have",
                     "run.grid", "use smaller dimensions");
  size_t bytes = static_cast<size_t>(call.argCount) * sizeof(int64_t);
  void *packed[] = {kLaunchBuffer, const_cast<int64_t *>(call.args),
                    kLaunchBufferBytes, &bytes, kLaunchEnd};
  return device->check(
      device->api().launchKernel(
          static_cast<Function>(const_cast<void *>(call.entry)),
          static_cast<unsigned>(call.grid), 1, 1,
          static_cast<unsigned>(call.blockThreads), 1, 1,
          static_cast<unsigned>(call.scratchBytes),
          static_cast<StreamHandle>(queue.stream), nullptr,
          call.argCount ? packed : nullptr),
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
