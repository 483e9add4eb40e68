//===- CudaDevice.cpp - one GPU and its primary context -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudaDevice.h"

#include <map>
#include <vector>

namespace azulejo::runtime::cuda {

Result<int> CudaDevice::count(const Driver &driver) {
  int count = 0;
  if (Status status = driver.check(driver.api().deviceGetCount(&count),
                                   "NVIDIA driver", "it lists no devices");
      !status)
    return status.error();
  return count;
}

Result<std::shared_ptr<CudaDevice>>
CudaDevice::open(std::shared_ptr<const Driver> driver, int ordinal) {
  Result<int> devices = count(*driver);
  if (!devices)
    return devices.error();
  std::string where = "device 'cuda:" + std::to_string(ordinal) + "'";
  // Some drivers start without a device and say so only here.
  if (*devices == 0)
    return driver->error(kErrorNoDevice, where, "there is none");
  if (ordinal < 0 || ordinal >= *devices)
    return makeError(ErrorCode::DriverEnv, where,
                     "there is no such device; there are " +
                         std::to_string(*devices),
                     "cuda.ordinal",
                     "counted from 0, and CUDA_VISIBLE_DEVICES may hide some");
  struct Opened {
    std::mutex mutex;
    std::map<std::pair<const Driver *, int>, std::weak_ptr<CudaDevice>> devices;
  };
  static Opened *opened = new Opened;
  std::lock_guard<std::mutex> lock(opened->mutex);
  std::weak_ptr<CudaDevice> &entry = opened->devices[{driver.get(), ordinal}];
  if (std::shared_ptr<CudaDevice> device = entry.lock())
    return device;
  std::shared_ptr<CudaDevice> device(
      new CudaDevice(std::move(driver), ordinal));
  if (Status status = device->describe(); !status)
    return status.error();
  entry = device;
  return device;
}

CudaDevice::~CudaDevice() {
  if (retained())
    api().primaryCtxRelease(id);
}

Status CudaDevice::describe() {
  if (Status status = check(api().deviceGet(&id, number), "it cannot be found");
      !status)
    return status;
  char text[256] = {};
  if (Status status =
          check(api().deviceGetName(text, sizeof(text) - 1, id), "its name");
      !status)
    return status;
  described.name = text;
  text[0] = 0;
  if (api().deviceGetPciBusId(text, sizeof(text) - 1, id) == 0)
    described.pciBusId = text;
  // A driver that does not know an attribute leaves us with zero.
  auto ask = [&](Attribute attribute) {
    int value = 0;
    return api().deviceGetAttribute(&value, attribute, id) == 0 ? value : 0;
  };
  described.major = ask(kMajor);
  described.minor = ask(kMinor);
  described.units = ask(kUnits);
  described.sharedPerBlock = ask(kSharedPerBlock);
  described.registersPerUnit = ask(kRegistersPerUnit);
  described.l2Bytes = ask(kL2Bytes);
  described.clockMhz = ask(kClockKhz) / 1e3;
  // Two transfers per clock, on every kind of memory that these parts have.
  described.memoryGBs = 2.0 * ask(kMemoryKhz) * ask(kMemoryBits) / 8 / 1e6;
  described.computeMode = ask(kComputeMode);
  described.pageableMemory = ask(kPageableMemory) != 0;
  size_t bytes = 0;
  if (Status status =
          check(api().deviceTotalMem(&bytes, id), "its memory's size");
      !status)
    return status;
  described.memoryBytes = static_cast<int64_t>(bytes);
  return {};
}

Status CudaDevice::failed(Code code, const std::string &doing) {
  Code expected = 0;
  if (Driver::isLoss(code) && lost.compare_exchange_strong(expected, code))
    keep();
  return owner->error(code, "device '" + label + "'", doing);
}

void CudaDevice::keep() {
  struct Lost {
    std::mutex mutex;
    std::vector<std::shared_ptr<CudaDevice>> devices;
  };
  static Lost *all = new Lost;
  std::lock_guard<std::mutex> lock(all->mutex);
  all->devices.push_back(shared_from_this());
}

Error CudaDevice::lossError() const {
  return owner->error(lost.load(), "device '" + label + "'",
                      "it was lost in an earlier call");
}

Result<Context> CudaDevice::context() {
  if (Status status = alive(); !status)
    return status.error();
  if (Context ready = retained())
    return ready;
  std::lock_guard<std::mutex> lock(retaining);
  if (Context ready = retained())
    return ready;
  if (described.computeMode == kModeProhibited)
    return makeError(ErrorCode::DriverEnv, "device '" + label + "'",
                     "its compute mode is PROHIBITED", "cuda.mode",
                     "set it to DEFAULT with nvidia-smi -c 0");
  Context made = nullptr;
  Code code = api().primaryCtxRetain(&made, id);
  // Drivers answer with this code, too, when another process has the device.
  if (code == kErrorInvalidDevice && described.computeMode == kModeExclusive)
    code = kErrorUnavailable;
  if (Status status = check(code, "its context cannot be made"); !status)
    return status.error();
  primary.store(made, std::memory_order_release);
  return made;
}

template <typename Fn>
Status CudaDevice::inContext(const char *doing, Fn &&call) {
  Result<Context> made = context();
  if (!made)
    return made.error();
  ContextScope scope(api(), *made);
  if (Code code = scope.entered())
    return failed(code, "its context cannot be used");
  return check(call(), doing);
}

static Address addressOf(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}
static StreamHandle streamOf(void *stream) {
  return static_cast<StreamHandle>(stream);
}

Result<std::pair<size_t, size_t>> CudaDevice::memory() {
  size_t free = 0, total = 0;
  Status status = inContext("its memory cannot be asked for",
                            [&] { return api().memGetInfo(&free, &total); });
  return status ? Result<std::pair<size_t, size_t>>({free, total})
                : status.error();
}

Result<void *> CudaDevice::allocate(size_t bytes) {
  Address address = 0;
  Status status = inContext("an allocation", [&] {
    return api().memAlloc(&address, bytes ? bytes : 1);
  });
  if (!status) {
    Error error = status.error();
    error.message += " of " + std::to_string(bytes) + " bytes";
    return error;
  }
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

// Giving back never fails for the caller: on a lost device the driver has
// given everything back already.
void CudaDevice::free(void *memory) {
  if (memory)
    (void)inContext("memory cannot be given back",
                    [&] { return api().memFree(addressOf(memory)); });
}

Status CudaDevice::upload(void *to, const void *from, size_t bytes,
                          void *stream) {
  return inContext("a copy to it", [&] {
    Code code = bytes ? api().memcpyHtoDAsync(addressOf(to), from, bytes,
                                              streamOf(stream))
                      : 0;
    return code ? code : api().streamSynchronize(streamOf(stream));
  });
}

Status CudaDevice::download(void *to, const void *from, size_t bytes,
                            void *stream) {
  return inContext("a copy from it", [&] {
    Code code = bytes ? api().memcpyDtoHAsync(to, addressOf(from), bytes,
                                              streamOf(stream))
                      : 0;
    return code ? code : api().streamSynchronize(streamOf(stream));
  });
}

Status CudaDevice::fill(void *to, unsigned char byte, size_t bytes,
                        void *stream) {
  return inContext("filling memory", [&] {
    return bytes ? api().memsetD8Async(addressOf(to), byte, bytes,
                                       streamOf(stream))
                 : 0;
  });
}

Result<void *> CudaDevice::makeStream() {
  StreamHandle stream = nullptr;
  // Not ordered with the default stream, as streams of frameworks are not.
  Status status = inContext("making a stream", [&] {
    return api().streamCreate(&stream, kStreamNonBlocking);
  });
  return status ? Result<void *>(static_cast<void *>(stream)) : status.error();
}

void CudaDevice::freeStream(void *stream) {
  if (stream)
    (void)inContext("a stream",
                    [&] { return api().streamDestroy(streamOf(stream)); });
}

Status CudaDevice::synchronize(void *stream) {
  return inContext("waiting for its work",
                   [&] { return api().streamSynchronize(streamOf(stream)); });
}

Result<void *> CudaDevice::makeEvent() {
  EventHandle event = nullptr;
  Status status = inContext("making an event",
                            [&] { return api().eventCreate(&event, 0); });
  return status ? Result<void *>(static_cast<void *>(event)) : status.error();
}

void CudaDevice::freeEvent(void *event) {
  if (event)
    (void)inContext("an event", [&] {
      return api().eventDestroy(static_cast<EventHandle>(event));
    });
}

Status CudaDevice::record(void *event, void *stream) {
  return inContext("recording an event", [&] {
    return api().eventRecord(static_cast<EventHandle>(event), streamOf(stream));
  });
}

Status CudaDevice::wait(void *event) {
  return inContext("waiting for its work", [&] {
    return api().eventSynchronize(static_cast<EventHandle>(event));
  });
}

Result<double> CudaDevice::elapsedUs(void *from, void *to) {
  float milliseconds = 0;
  Status status = inContext("the time between events", [&] {
    return api().eventElapsedTime(&milliseconds, static_cast<EventHandle>(from),
                                  static_cast<EventHandle>(to));
  });
  return status ? Result<double>(milliseconds * 1e3) : status.error();
}

Status CudaDevice::beginCapture(void *stream) {
  return inContext("beginning a capture", [&] {
    return api().streamBeginCapture(streamOf(stream), kCaptureRelaxed);
  });
}

Result<void *> CudaDevice::endCapture(void *stream) {
  GraphExec recording = nullptr;
  Status status = inContext("ending a capture", [&] {
    GraphHandle graph = nullptr;
    Code code = api().streamEndCapture(streamOf(stream), &graph);
    if (code)
      return code;
    code = api().graphInstantiate(&recording, graph, 0);
    api().graphDestroy(graph);
    return code;
  });
  return status ? Result<void *>(static_cast<void *>(recording))
                : status.error();
}

Status CudaDevice::replay(void *recording, void *stream) {
  return inContext("replaying a capture", [&] {
    return api().graphLaunch(static_cast<GraphExec>(recording),
                             streamOf(stream));
  });
}

void CudaDevice::freeRecording(void *recording) {
  if (recording)
    (void)inContext("a capture", [&] {
      return api().graphExecDestroy(static_cast<GraphExec>(recording));
    });
}

} // namespace azulejo::runtime::cuda
