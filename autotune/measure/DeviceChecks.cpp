//===- DeviceChecks.cpp - comparing where the data lies -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/DeviceChecks.h"

#include "autotune/measure/CheckKernels.h"

#include <algorithm>
#include <array>
#include <bit>

namespace azulejo::measure {

// Our kernels end; what is enqueued before them was drained.
static constexpr double kSeconds = 30;
static constexpr int64_t kThreads = 256, kMostBlocks = 1024;
// Long against the steps of the timer, short against everything else.
static constexpr int64_t kClockNs = 30'000;
static constexpr size_t kResultWords = 4;

static int64_t wordOf(const void *memory) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
}

Result<std::unique_ptr<DeviceChecks>> DeviceChecks::make(DeviceQueue &queue) {
  std::unique_ptr<DeviceChecks> checks(new DeviceChecks(queue));
  if (Status status = checks->load(); !status)
    return status.error();
  return checks;
}

DeviceChecks::~DeviceChecks() {
  if (queue.isSpent()) {
    // Unloading waits for a kernel that does not end.
    keepForGood(std::move(image));
    return;
  }
  queue.device().free(words);
  queue.device().free(clockWords);
}

Status DeviceChecks::load() {
  Result<std::unique_ptr<runtime::LoadedImage>> loaded =
      backend.load(runtime::cuda::imageOfPtx(kCheckKernels));
  if (!loaded)
    return loaded.error();
  image = std::move(*loaded);
  struct Row {
    const char *name;
    size_t args;
    int64_t threads;
    const void **entry;
  };
  for (const Row &row :
       {Row{"azulejo_check_bytes", 5, kThreads, &bytesKernel},
        Row{"azulejo_check_floats", 7, kThreads, &floatsKernel},
        Row{"azulejo_probe_clock", 2, 1, &clockKernel}}) {
    plan::Launch launch;
    launch.kernel = launch.entry = row.name;
    launch.args.resize(row.args);
    launch.blockThreads = row.threads;
    Result<const void *> entry = image->entry(launch);
    if (!entry)
      return entry.error();
    *row.entry = *entry;
  }
  for (void **memory : {&words, &clockWords}) {
    Result<void *> made =
        queue.device().allocate(kResultWords * sizeof(int64_t));
    if (!made)
      return made.error();
    *memory = *made;
  }
  return {};
}

Status DeviceChecks::launch(const void *entry, std::span<const int64_t> args,
                            int64_t grid, int64_t threads) {
  runtime::LaunchCall call;
  call.entry = entry;
  call.args = args.data();
  call.argCount = static_cast<int64_t>(args.size());
  call.grid = grid;
  call.blockThreads = threads;
  int state = 0;
  if (Status status = backend.enter(state); !status)
    return status;
  Status status = backend.launch(call, queue.queue());
  backend.leave(state);
  return status;
}

Status DeviceChecks::evaluate(const void *entry, std::span<const int64_t> args,
                              int64_t items, std::span<int64_t> result) {
  runtime::Device &device = queue.device();
  size_t bytes = result.size_bytes();
  if (Status status =
          device.upload(words, result.data(), bytes, queue.handle());
      !status)
    return status;
  int64_t blocks =
      std::clamp<int64_t>((items + kThreads - 1) / kThreads, 1, kMostBlocks);
  if (Status status = launch(entry, args, blocks, kThreads); !status)
    return status;
  if (Status status = queue.drain(kSeconds); !status)
    return status;
  return device.download(result.data(), words, bytes, queue.handle());
}

/// The result of azulejo_check_bytes.
static std::optional<ByteDifference>
differenceOf(const std::array<int64_t, 3> &result) {
  if (result[0] == 0)
    return std::nullopt;
  return ByteDifference{result[0], result[1], result[2] - 1};
}

Result<std::optional<ByteDifference>>
DeviceChecks::compareBytes(const void *a, const void *b, int64_t bytes) {
  if (bytes == 0)
    return std::optional<ByteDifference>();
  std::array<int64_t, 3> result = {0, -1, 0};
  int64_t args[] = {wordOf(a), wordOf(b), 0, bytes, wordOf(words)};
  if (Status status = evaluate(bytesKernel, args, bytes, result); !status)
    return status.error();
  return differenceOf(result);
}

Result<std::optional<ByteDifference>>
DeviceChecks::comparePattern(const void *a, unsigned char pattern,
                             int64_t bytes) {
  if (bytes == 0)
    return std::optional<ByteDifference>();
  std::array<int64_t, 3> result = {0, -1, 0};
  int64_t args[] = {wordOf(a), 0, pattern, bytes, wordOf(words)};
  if (Status status = evaluate(bytesKernel, args, bytes, result); !status)
    return status.error();
  return differenceOf(result);
}

Result<FloatComparison> DeviceChecks::compareFloats(DType dtype,
                                                    const void *actual,
                                                    const void *expected,
                                                    int64_t count, double limit,
                                                    double typical) {
  if (count == 0)
    return FloatComparison{};
  int64_t kind = dtype == DType::F32 ? 0 : dtype == DType::F16 ? 1 : 2;
  std::array<int64_t, kResultWords> result = {0, -1, 0, 0};
  int64_t args[] = {wordOf(actual),
                    wordOf(expected),
                    kind,
                    count,
                    std::bit_cast<int64_t>(limit),
                    std::bit_cast<int64_t>(typical),
                    wordOf(words)};
  if (Status status = evaluate(floatsKernel, args, count, result); !status)
    return status.error();
  return FloatComparison{result[0], result[1], std::bit_cast<double>(result[2]),
                         std::bit_cast<double>(result[3])};
}

Status DeviceChecks::startClock() {
  int64_t args[] = {wordOf(clockWords), kClockNs};
  return launch(clockKernel, args, 1, 1);
}

Result<double> DeviceChecks::readClock() {
  std::array<int64_t, 2> read = {};
  if (Status status = queue.device().download(read.data(), clockWords,
                                              sizeof read, queue.handle());
      !status)
    return status.error();
  return read[1] > 0
             ? static_cast<double>(read[0]) * 1e3 / static_cast<double>(read[1])
             : 0.0;
}

} // namespace azulejo::measure
