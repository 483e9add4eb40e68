//===- MockCuda.cpp - a CUDA driver that is not one -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/cuda/MockParts.h"

#include <cstdlib>
#include <cstring>
#include <set>
#include <unistd.h>

using namespace azulejo::runtime::cuda;
using namespace azulejo::mock;

#define MOCK extern "C" __attribute__((visibility("default")))

namespace azulejo::mock {
MockState state;
std::atomic<double> now{0};
std::mutex mutex;
Allocation allocations[4096];
} // namespace azulejo::mock

namespace {

ContextTag contexts[4] = {{0}, {1}, {2}, {3}};
thread_local ContextTag *stack[16];
thread_local int depth = 0;
// Kept until the end, so that a stale handle is an error and not a crash.
FunctionTag *functions = nullptr;
StreamTag *streams = nullptr;

ContextTag *current() { return depth ? stack[depth - 1] : nullptr; }

/// Writes the call down; returns the code that it was told to fail with.
int called(const char *function) {
  if (state.logging) {
    int index = state.callCount++;
    if (index < 4096)
      state.calls[index] = function;
  }
  const char *failing = state.failing;
  if (failing && std::strcmp(failing, function) == 0 && state.failSkip-- == 0) {
    state.failing = nullptr;
    return state.failCode;
  }
  return 0;
}

/// The same for calls that need a context: none, or a broken one, is an error.
int inContext(const char *function) {
  if (int code = called(function))
    return code;
  if (!current())
    return 201;
  return state.devices[current()->device].poison;
}

void readVariables() {
  const char *text = std::getenv("MOCK_CUDA");
  auto number = [&](const char *key, int &into) {
    const char *at = text ? std::strstr(text, key) : nullptr;
    if (at)
      into = std::atoi(at + std::strlen(key));
  };
  number("init=", state.initCode);
  number("sleep=", state.initSeconds);
  number("version=", state.version);
  number("count=", state.deviceCount);
  number("retain=", state.devices[0].retainCode);
  number("mode=", state.devices[0].computeMode);
  number("major=", state.devices[0].major);
  number("minor=", state.devices[0].minor);
  int poison = 0;
  number("poison=", poison);
  state.devices[0].poison = poison;
}

void readEnvironment() {
  static std::once_flag once;
  std::call_once(once, readVariables);
}

/// Whoever waits for a stream that does not end waits until it is killed.
void hangIf(bool hung) {
  while (hung)
    pause();
}

} // namespace

MOCK MockState *mockCuda() { return &state; }

MOCK Code cuInit(unsigned) {
  readEnvironment();
  sleep(static_cast<unsigned>(state.initSeconds));
  int code = called("cuInit");
  return code ? code : state.initCode;
}
MOCK Code cuDriverGetVersion(int *version) {
  readEnvironment();
  *version = state.version;
  return called("cuDriverGetVersion");
}
MOCK Code cuGetErrorName(Code code, const char **name) {
  *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_MOCK";
  return 0;
}
MOCK Code cuGetErrorString(Code code, const char **text) {
  *text = code == 700 ? "an illegal memory access was encountered" : "mock";
  return 0;
}

MOCK Code cuDeviceGetCount(int *count) {
  *count = state.deviceCount;
  return called("cuDeviceGetCount");
}
MOCK Code cuDeviceGet(DeviceId *device, int ordinal) {
  *device = ordinal;
  return ordinal < state.deviceCount ? called("cuDeviceGet") : 101;
}
MOCK Code cuDeviceGetName(char *text, int bytes, DeviceId device) {
  std::strncpy(text, state.devices[device].name, static_cast<size_t>(bytes));
  return called("cuDeviceGetName");
}
MOCK Code cuDeviceGetPCIBusId(char *text, int bytes, DeviceId device) {
  std::strncpy(text, "0000:01:00.0", static_cast<size_t>(bytes));
  return called("cuDeviceGetPCIBusId");
}
MOCK Code cuDeviceTotalMem_v2(size_t *bytes, DeviceId device) {
  *bytes = state.devices[device].memoryBytes;
  return called("cuDeviceTotalMem_v2");
}
MOCK Code cuDeviceGetAttribute(int *value, Attribute attribute,
                               DeviceId device) {
  const MockDevice &d = state.devices[device];
  switch (attribute) {
  case kMajor:
    *value = d.major;
    break;
  case kMinor:
    *value = d.minor;
    break;
  case kUnits:
    *value = d.units;
    break;
  case kSharedPerBlock:
    *value = d.sharedPerBlock;
    break;
  case kL2Bytes:
    *value = d.l2Bytes;
    break;
  case kMemoryKhz:
    *value = d.memoryKhz;
    break;
  case kMemoryBits:
    *value = d.memoryBits;
    break;
  case kComputeMode:
    *value = d.computeMode;
    break;
  case kPageableMemory:
    *value = d.pageable;
    break;
  case kRegistersPerUnit:
    *value = 65536;
    break;
  default: // such as the clock: drivers may not know an attribute
    return 1;
  }
  return called("cuDeviceGetAttribute");
}

MOCK Code cuDevicePrimaryCtxRetain(Context *context, DeviceId device) {
  if (int code = called("cuDevicePrimaryCtxRetain"))
    return code;
  if (int code = state.devices[device].retainCode)
    return code;
  ++state.devices[device].contextRefs;
  *context = &contexts[device];
  return 0;
}
MOCK Code cuDevicePrimaryCtxRelease_v2(DeviceId device) {
  --state.devices[device].contextRefs;
  return called("cuDevicePrimaryCtxRelease_v2");
}
MOCK Code cuCtxGetCurrent(Context *context) {
  *context = current();
  return called("cuCtxGetCurrent");
}
MOCK Code cuCtxSetCurrent(Context context) {
  if (depth)
    --depth;
  if (context)
    stack[depth++] = context;
  return called("cuCtxSetCurrent");
}
MOCK Code cuCtxPushCurrent_v2(Context context) {
  if (!context || depth == 16)
    return 201;
  stack[depth++] = context;
  return called("cuCtxPushCurrent_v2");
}
MOCK Code cuCtxPopCurrent_v2(Context *context) {
  if (!depth)
    return 201;
  *context = stack[--depth];
  return called("cuCtxPopCurrent_v2");
}
MOCK Code cuCtxSynchronize() { return inContext("cuCtxSynchronize"); }

MOCK Code cuMemGetInfo_v2(size_t *free, size_t *total) {
  if (int code = inContext("cuMemGetInfo_v2"))
    return code;
  MockDevice &device = state.devices[current()->device];
  *total = device.memoryBytes;
  *free = *total - static_cast<size_t>(device.allocated);
  return 0;
}
MOCK Code cuMemAlloc_v2(Address *address, size_t bytes) {
  if (int code = inContext("cuMemAlloc_v2"))
    return code;
  MockDevice &device = state.devices[current()->device];
  if (static_cast<size_t>(device.allocated) + bytes > device.memoryBytes)
    return 2;
  std::lock_guard<std::mutex> lock(mutex);
  for (Allocation &slot : allocations)
    if (!slot.start) {
      // With a gap behind, so that two never touch.
      void *memory = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
      slot = {static_cast<char *>(memory), bytes, current()->device};
      device.allocated += static_cast<int64_t>(bytes);
      *address = reinterpret_cast<uintptr_t>(memory);
      return 0;
    }
  return 2;
}
MOCK Code cuMemFree_v2(Address address) {
  if (int code = inContext("cuMemFree_v2"))
    return code;
  std::lock_guard<std::mutex> lock(mutex);
  for (Allocation &slot : allocations)
    if (slot.start && reinterpret_cast<uintptr_t>(slot.start) == address) {
      state.devices[slot.device].allocated -= static_cast<int64_t>(slot.bytes);
      std::free(slot.start);
      slot = {};
      return 0;
    }
  return 1;
}
MOCK Code cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes,
                               StreamHandle) {
  if (int code = inContext("cuMemcpyHtoDAsync_v2"))
    return code;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
MOCK Code cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes,
                               StreamHandle) {
  if (int code = inContext("cuMemcpyDtoHAsync_v2"))
    return code;
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
MOCK Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes,
                               StreamHandle) {
  if (int code = inContext("cuMemcpyDtoDAsync_v2"))
    return code;
  std::memmove(reinterpret_cast<void *>(to),
               reinterpret_cast<const void *>(from), bytes);
  return 0;
}
MOCK Code cuMemsetD8Async(Address to, unsigned char byte, size_t bytes,
                          StreamHandle stream) {
  if (int code = inContext("cuMemsetD8Async"))
    return code;
  if (!isDefaultStream(stream) && stream->capture) {
    GraphTag &graph = *stream->capture;
    if (graph.count == 1024)
      return 2;
    graph.nodes[graph.count++] = {{}, nullptr, to, byte, bytes};
    return 0;
  }
  std::memset(reinterpret_cast<void *>(to), byte, bytes);
  return 0;
}

MOCK Code cuPointerGetAttributes(unsigned count, PointerAttribute *what,
                                 void **into, Address address) {
  if (int code = called("cuPointerGetAttributes"))
    return code;
  std::lock_guard<std::mutex> lock(mutex);
  const Allocation *found = nullptr;
  for (const Allocation &slot : allocations)
    if (slot.start && address >= reinterpret_cast<uintptr_t>(slot.start) &&
        address < reinterpret_cast<uintptr_t>(slot.start) + slot.bytes)
      found = &slot;
  // The driver's answer for host memory that it does not know: zeros.
  for (unsigned i = 0; i < count; ++i)
    switch (what[i]) {
    case kPointerStart:
      *static_cast<Address *>(into[i]) =
          found ? reinterpret_cast<uintptr_t>(found->start) : 0;
      break;
    case kPointerBytes:
      *static_cast<size_t *>(into[i]) = found ? found->bytes : 0;
      break;
    case kPointerMemoryType:
      *static_cast<int *>(into[i]) = found ? kMemoryDevice : 0;
      break;
    case kPointerOrdinal:
      *static_cast<int *>(into[i]) = found ? found->device : -2;
      break;
    case kPointerWhole:
      *static_cast<int *>(into[i]) = found != nullptr;
      break;
    default:
      *static_cast<int *>(into[i]) = 0;
    }
  return 0;
}

MOCK Code cuModuleLoadDataEx(Module *module, const void *image, unsigned count,
                             JitOption *options, void **values) {
  if (int code = inContext("cuModuleLoadDataEx"))
    return code;
  const char *text = static_cast<const char *>(image);
  if (std::strstr(text, "syntax error")) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == kJitErrorLog)
        std::strcpy(static_cast<char *>(values[i]), "ptxas: line 7: no");
    return 218;
  }
  *module = new ModuleTag{current(), strdup(text)};
  ++state.devices[current()->device].modules;
  return 0;
}
MOCK Code cuModuleUnload(Module module) {
  if (int code = inContext("cuModuleUnload"))
    return code;
  for (StreamTag *stream = streams; stream; stream = stream->next)
    hangIf(stream->context == module->context && stream->hung);
  --state.devices[module->context->device].modules;
  std::free(module->text);
  delete module;
  return 0;
}
MOCK Code cuModuleGetFunction(Function *function, Module module,
                              const char *name) {
  if (int code = inContext("cuModuleGetFunction"))
    return code;
  auto *made = new FunctionTag{module, {}};
  std::strncpy(made->name, name, sizeof(made->name) - 1);
  if (!isOpaque(*module) && parametersOf(*made) < 0) {
    delete made;
    return 500;
  }
  std::lock_guard<std::mutex> lock(mutex);
  made->next = functions;
  functions = made;
  *function = made;
  return 0;
}
MOCK Code cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                             Function function) {
  *value = attribute == kFunctionThreads  ? mostThreads(*function)
           : attribute == kFunctionShared ? 1024
                                          : function->sharedLimit;
  return called("cuFuncGetAttribute");
}
MOCK Code cuFuncSetAttribute(Function function, FunctionAttribute attribute,
                             int value) {
  if (attribute == kFunctionDynamicShared)
    function->sharedLimit = value;
  return called("cuFuncSetAttribute");
}
#ifndef MOCK_LACKS_OPTIONAL
MOCK Code cuFuncGetParamInfo(Function function, size_t index, size_t *offset,
                             size_t *bytes) {
  if (isOpaque(*function->module))
    return 801;
  if (index >= static_cast<size_t>(parametersOf(*function)))
    return 1;
  // Parameters of sm_90 begin 16 bytes past a multiple of 64.
  auto maps = static_cast<size_t>(mapsOf(*function));
  *offset = index < maps ? 48 + 128 * index
                         : (maps ? 48 : 0) + 128 * maps + 8 * (index - maps);
  *bytes = index < maps ? 128 : 8;
  return called("cuFuncGetParamInfo");
}

/// Whether a tensor is one that bulk copies can work on.
static bool canBeMapped(const MockEncode &tensor) {
  if (tensor.rank < 1 || tensor.rank > 5 ||
      reinterpret_cast<uintptr_t>(tensor.address) % 16 || tensor.swizzle < 0 ||
      tensor.swizzle > 3 || tensor.interleave || tensor.fill ||
      tensor.promotion > 3)
    return false;
  unsigned element =
      tensor.element == kMapUint8                                       ? 1
      : tensor.element == kMapFloat16 || tensor.element == kMapBfloat16 ? 2
                                                                        : 4;
  unsigned row = tensor.box[0] * element;
  if (row % 16 || (tensor.swizzle && row > 16u << tensor.swizzle))
    return false;
  for (unsigned i = 0; i < tensor.rank; ++i)
    if (tensor.sizes[i] < 1 || tensor.sizes[i] > 1ull << 32 ||
        tensor.box[i] < 1 || tensor.box[i] > 256 || tensor.steps[i] != 1 ||
        (i > 0 && (tensor.strides[i - 1] % 16 || !tensor.strides[i - 1] ||
                   tensor.strides[i - 1] >= 1ull << 40)))
      return false;
  return true;
}

MOCK Code cuTensorMapEncodeTiled(TensorMapWords *map, MapElement element,
                                 unsigned rank, void *address,
                                 const unsigned long long *sizes,
                                 const unsigned long long *strides,
                                 const unsigned *box, const unsigned *steps,
                                 MapInterleave interleave, MapSwizzle swizzle,
                                 MapPromotion promotion, MapFill fill) {
  if (int code = called("cuTensorMapEncodeTiled"))
    return code;
  MockEncode tensor{element, rank,       address, {},        {},  {},
                    {},      interleave, swizzle, promotion, fill};
  for (unsigned i = 0; i < rank && i < 5; ++i) {
    tensor.sizes[i] = sizes[i];
    tensor.box[i] = box[i];
    tensor.steps[i] = steps[i];
    if (i > 0)
      tensor.strides[i - 1] = strides[i - 1];
  }
  if (reinterpret_cast<uintptr_t>(map) % 64 || !canBeMapped(tensor))
    return 1;
  int index = state.encodeCount++;
  if (index < 1024)
    state.encodes[index] = tensor;
  *map = {};
  map->words[0] = kMapMark;
  map->words[1] = static_cast<unsigned long long>(index);
  return 0;
}
#endif

#ifndef MOCK_LACKS_LAUNCH
MOCK Code cuLaunchKernel(Function function, unsigned gridX, unsigned gridY,
                         unsigned gridZ, unsigned blockX, unsigned blockY,
                         unsigned blockZ, unsigned sharedBytes,
                         StreamHandle stream, void **parameters, void **extra) {
  if (int code = inContext("cuLaunchKernel"))
    return code;
  bool real = !isDefaultStream(stream);
  if (function->module->context != current() ||
      (real && stream->context != current()))
    return 400;
  if (gridX == 0 || blockX == 0 ||
      static_cast<int>(blockX) > mostThreads(*function) ||
      static_cast<int>(sharedBytes) > function->sharedLimit)
    return 1;
  MockLaunch launch{function->name,
                    {gridX, gridY, gridZ},
                    {blockX, blockY, blockZ},
                    sharedBytes,
                    stream,
                    {},
                    0,
                    {},
                    mapsOf(*function)};
  // Where parameters begin is known to the driver alone, so nobody can put a
  // map at the right place of a block.
  if (extra && launch.mapCount)
    return 1;
  for (int i = 0; parameters && i < parametersOf(*function); ++i)
    if (i < launch.mapCount)
      std::memcpy(launch.maps[i % 4], parameters[i], 128);
    else
      std::memcpy(&launch.args[launch.argCount++ % 32], parameters[i], 8);
  for (int i = 0; extra && extra[i] != kLaunchEnd; i += 2)
    if (extra[i] == kLaunchBufferBytes)
      launch.argCount =
          static_cast<int>(*static_cast<size_t *>(extra[i + 1]) / 8);
  if (extra)
    std::memcpy(
        launch.args, extra[1],
        8 * static_cast<size_t>(launch.argCount < 32 ? launch.argCount : 32));
  int index = state.launchCount++;
  if (index < 1024)
    state.launches[index] = launch;
  if (real && stream->capture) {
    GraphTag &graph = *stream->capture;
    if (graph.count == 1024)
      return 2;
    graph.nodes[graph.count++] = {launch, function->module};
    return 0;
  }
  execute(launch, *function->module, real ? stream : nullptr);
  return 0;
}
#endif

MOCK Code cuStreamCreate(StreamHandle *stream, unsigned) {
  if (int code = inContext("cuStreamCreate"))
    return code;
  std::lock_guard<std::mutex> lock(mutex);
  streams = new StreamTag{current(), false, nullptr, streams};
  *stream = streams;
  return 0;
}
MOCK Code cuStreamDestroy_v2(StreamHandle stream) {
  if (int code = inContext("cuStreamDestroy_v2"))
    return code;
  stream->context = nullptr;
  return 0;
}
MOCK Code cuStreamSynchronize(StreamHandle stream) {
  if (int code = inContext("cuStreamSynchronize"))
    return code;
  hangIf(!isDefaultStream(stream) && stream->hung);
  return !isDefaultStream(stream) && stream->capture ? 900 : 0;
}
MOCK Code cuStreamGetCtx(StreamHandle stream, Context *context) {
  *context = stream->context;
  return stream->context ? called("cuStreamGetCtx") : kErrorContextDestroyed;
}
MOCK Code cuStreamBeginCapture_v2(StreamHandle stream, CaptureMode) {
  if (int code = inContext("cuStreamBeginCapture_v2"))
    return code;
  if (isDefaultStream(stream))
    return 900;
  stream->capture = new GraphTag;
  return 0;
}
MOCK Code cuStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  if (int code = inContext("cuStreamEndCapture"))
    return code;
  *graph = stream->capture;
  stream->capture = nullptr;
  return *graph ? 0 : 901;
}
MOCK Code cuGraphInstantiateWithFlags(GraphExec *exec, GraphHandle graph,
                                      unsigned long long) {
  *exec = new GraphExecTag{*graph};
  return inContext("cuGraphInstantiateWithFlags");
}
MOCK Code cuGraphLaunch(GraphExec exec, StreamHandle stream) {
  if (int code = inContext("cuGraphLaunch"))
    return code;
  for (int i = 0; i < exec->graph.count; ++i) {
    const GraphTag::Node &node = exec->graph.nodes[i];
    if (node.module)
      execute(node.launch, *node.module,
              isDefaultStream(stream) ? nullptr : stream);
    else
      std::memset(reinterpret_cast<void *>(node.to), node.byte, node.bytes);
  }
  return 0;
}
MOCK Code cuGraphExecDestroy(GraphExec exec) {
  delete exec;
  return called("cuGraphExecDestroy");
}
MOCK Code cuGraphDestroy(GraphHandle graph) {
  delete graph;
  return called("cuGraphDestroy");
}

/// Events that live. Those of a device that does not answer are never given
/// back, which is no leak as long as somebody knows them.
static std::set<EventHandle> &liveEvents() {
  static auto *events = new std::set<EventHandle>;
  return *events;
}
static std::mutex eventLock;

MOCK Code cuEventCreate(EventHandle *event, unsigned) {
  if (int code = inContext("cuEventCreate"))
    return code;
  *event = new EventTag;
  std::lock_guard guard(eventLock);
  liveEvents().insert(*event);
  return 0;
}
MOCK Code cuEventDestroy_v2(EventHandle event) {
  {
    std::lock_guard guard(eventLock);
    liveEvents().erase(event);
  }
  delete event;
  return called("cuEventDestroy_v2");
}
MOCK Code cuEventRecord(EventHandle event, StreamHandle stream) {
  now = now + state.tickMs;
  event->stamp = now;
  event->hung = !isDefaultStream(stream) && stream->hung;
  return inContext("cuEventRecord");
}
MOCK Code cuEventQuery(EventHandle event) {
  int code = inContext("cuEventQuery");
  return code == 0 && event->hung ? kErrorNotReady : code;
}
MOCK Code cuEventSynchronize(EventHandle event) {
  hangIf(event->hung);
  return inContext("cuEventSynchronize");
}
MOCK Code cuEventElapsedTime(float *milliseconds, EventHandle from,
                             EventHandle to) {
  if (from->hung || to->hung)
    return kErrorNotReady;
  if (from->stamp < 0 || to->stamp < 0)
    return 400;
  *milliseconds = static_cast<float>(to->stamp - from->stamp);
  return inContext("cuEventElapsedTime");
}
