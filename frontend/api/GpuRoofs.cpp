//===- GpuRoofs.cpp - what a GPU of this machine can reach ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/GpuRoofs.h"

#include "runtime/cuda/CudaBackend.h"

#include <algorithm>
#include <chrono>

namespace azulejo::api {

using runtime::cuda::CudaBackend;
using runtime::cuda::CudaDevice;

// As RoofKernels.cpp has them.
static constexpr int64_t kThreads = 256, kCopyBlock = 16384, kReadBlock = 32768;
static constexpr int64_t kMmaPerStep = 8, kMmaFlops = 2 * 16 * 8 * 16;
static constexpr int64_t kFmaPerStep = 64;
static constexpr int kRounds = 9;
// Per thread; some milliseconds on any device that there is.
static constexpr int64_t kMatrixSteps = 8192, kFmaSteps = 4096;

namespace {

/// Memory, events and code of one measurement.
class Bench {
public:
  explicit Bench(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)), backend(this->device) {}
  ~Bench() {
    for (void *memory : {from, to})
      device->free(memory);
    for (void *event : {begin, end})
      device->freeEvent(event);
    device->freeStream(stream);
  }

  Status prepare();
  /// Median nanoseconds of a launch.
  Result<double> time(const char *kernel, int64_t first, int64_t second,
                      int64_t blocks);
  int64_t bytes() const { return size; }
  int64_t fromWord() const { return wordOf(from); }
  int64_t toWord() const { return wordOf(to); }

private:
  static int64_t wordOf(const void *memory) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
  }
  Status keep(Result<void *> made, void *&slot) {
    if (!made)
      return made.error();
    slot = *made;
    return {};
  }

  std::shared_ptr<CudaDevice> device;
  CudaBackend backend;
  std::unique_ptr<runtime::LoadedImage> image;
  int64_t size = 0;
  void *from = nullptr, *to = nullptr, *stream = nullptr, *begin = nullptr,
       *end = nullptr;
};

} // namespace

Status Bench::prepare() {
  Result<std::pair<size_t, size_t>> memory = device->memory();
  if (!memory)
    return memory.error();
  // Far more than the L2 keeps, and no more than a quarter of what is free.
  int64_t wanted = std::max<int64_t>(8 * device->facts().l2Bytes, 512 << 20);
  size = std::min(wanted, static_cast<int64_t>(memory->first / 4));
  size -= size % kReadBlock;
  if (size < kReadBlock)
    return makeError(ErrorCode::OutOfMemory, "device '" + device->name() + "'",
                     "its memory is in use; rates cannot be measured",
                     "cuda.memory", "free device memory");
  auto bytes = static_cast<size_t>(size);
  Status status = keep(device->allocate(bytes), from);
  if (status)
    status = keep(device->allocate(bytes), to);
  if (status)
    status = keep(device->makeStream(), stream);
  if (status)
    status = keep(device->makeEvent(), begin);
  if (status)
    status = keep(device->makeEvent(), end);
  if (status)
    status = device->fill(from, 0, bytes, stream);
  if (!status)
    return status;
  Result<std::unique_ptr<runtime::LoadedImage>> loaded =
      backend.load(runtime::cuda::imageOfPtx(kRoofKernels));
  if (!loaded)
    return loaded.error();
  image = std::move(*loaded);
  return {};
}

Result<double> Bench::time(const char *kernel, int64_t first, int64_t second,
                           int64_t blocks) {
  plan::Launch launch;
  launch.kernel = launch.entry = kernel;
  launch.args.resize(2);
  launch.blockThreads = kThreads;
  Result<const void *> entry = image->entry(launch);
  if (!entry)
    return entry.error();
  int64_t args[] = {first, second};
  runtime::LaunchCall call;
  call.entry = *entry;
  call.args = args;
  call.argCount = 2;
  call.grid = blocks;
  call.blockThreads = kThreads;
  auto enqueue = [&]() -> Status {
    int state = 0;
    if (Status status = backend.enter(state); !status)
      return status;
    Status status = backend.launch(call, {stream});
    backend.leave(state);
    return status;
  };
  std::vector<double> samples;
  for (int round = 0; round < kRounds; ++round) {
    // The first launch warms up, and keeps the device busy while the rest is
    // enqueued.
    Status status = enqueue();
    if (status)
      status = device->record(begin, stream);
    if (status)
      status = enqueue();
    if (status)
      status = device->record(end, stream);
    if (status)
      status = device->wait(end);
    if (!status)
      return status.error();
    Result<double> us = device->elapsedUs(begin, end);
    if (!us)
      return us.error();
    samples.push_back(*us * 1e3);
  }
  std::sort(samples.begin(), samples.end());
  return std::max(samples[samples.size() / 2], 1.0);
}

Result<GpuRoofs> measureGpuRoofs(const az_device &device) {
  Bench bench(device.gpu);
  if (Status status = bench.prepare(); !status)
    return status.error();
  int64_t units = std::max<int64_t>(device.gpu->facts().units, 1);
  // Enough warps per multiprocessor to hide the latency of either loop.
  int64_t blocks = 4 * units;
  struct Row {
    const char *kernel;
    int64_t first, second, blocks;
    double work;
    double GpuRoofs::*rate;
    double unit; ///< of the rate, per nanosecond
  };
  auto bytes = static_cast<double>(bench.bytes());
  double warps = static_cast<double>(blocks * kThreads / 32);
  GpuRoofs roofs;
  for (const Row &row :
       {Row{"azulejo_roof_copy", bench.fromWord(), bench.toWord(),
            bench.bytes() / kCopyBlock, 2 * bytes, &GpuRoofs::copyGBs, 1},
        Row{"azulejo_roof_read", bench.fromWord(), bench.toWord(),
            bench.bytes() / kReadBlock, bytes, &GpuRoofs::readGBs, 1},
        Row{"azulejo_roof_matrix", kMatrixSteps, bench.toWord(), blocks,
            warps * double(kMatrixSteps * kMmaPerStep * kMmaFlops),
            &GpuRoofs::matrixTflops, 1e-3},
        Row{"azulejo_roof_f32", kFmaSteps, bench.toWord(), blocks,
            warps * 32 * 2 * double(kFmaSteps * kFmaPerStep),
            &GpuRoofs::f32Tflops, 1e-3}}) {
    Result<double> ns =
        bench.time(row.kernel, row.first, row.second, row.blocks);
    if (!ns)
      return ns.error();
    roofs.*row.rate = row.work / *ns * row.unit;
  }
  return roofs;
}

namespace {
struct Field {
  const char *name;
  double GpuRoofs::*rate;
};
} // namespace
static constexpr Field kFields[] = {{"copy_gbs", &GpuRoofs::copyGBs},
                                    {"read_gbs", &GpuRoofs::readGBs},
                                    {"matrix_tflops", &GpuRoofs::matrixTflops},
                                    {"f32_tflops", &GpuRoofs::f32Tflops}};

static cache::Key roofKey(const az_device &device) {
  cache::TuningKey key;
  key.region = "the roofs of a device";
  key.targetArch = device.target.arch;
  key.silicon = device.target.siliconKey();
  key.family = "Roofs";
  key.familyVersion = "1"; // goes up with the kernels
  key.label = "roofs of " + device.target.label;
  return key.key();
}

Result<GpuRoofs> gpuRoofs(const az_device &device, cache::Store &store) {
  cache::Key key = roofKey(device);
  std::string driver = device.gpu->driver().versionText();
  cache::TuningEntry entry = store.loadTuning(key);
  if (auto it = entry.trials.find("roofs");
      it != entry.trials.end() && it->second.environment.driver == driver) {
    GpuRoofs known;
    known.fromCache = true;
    for (const Field &field : kFields) {
      known.*field.rate = it->second.details.getNumber(field.name).value_or(0);
      known.fromCache &= known.*field.rate > 0;
    }
    if (known.fromCache)
      return known;
  }
  Result<GpuRoofs> measured = measureGpuRoofs(device);
  if (!measured)
    return measured;
  cache::Trial trial;
  trial.schedule = "roofs";
  trial.status = "measured"; // no schedule that could be the best one
  trial.environment.driver = driver;
  trial.dateMs = std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  for (const Field &field : kFields)
    trial.details[field.name] = (*measured).*field.rate;
  store.appendTrials(key, std::span<const cache::Trial>(&trial, 1));
  return measured;
}

} // namespace azulejo::api
