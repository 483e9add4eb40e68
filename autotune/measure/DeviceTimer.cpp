//===- DeviceTimer.cpp - timing one executable on a GPU -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/DeviceTimer.h"

#include <algorithm>

namespace azulejo::measure {

// Below this a host that enqueues runs one by one may be what is measured.
static constexpr int64_t kShortRunNs = 20'000;
static constexpr size_t kRecorded = 128, kMostRecorded = 1024;
static constexpr int64_t kMostRuns = 100'000;

/// One candidate while it is timed.
struct DeviceTimer::Job {
  const runtime::Executable &executable;
  std::span<DeviceTensors> copies;
  DeviceBuffer &workspace;
  DeviceBuffer *flush;
  double runSeconds;
  DeviceQueue &queue;
  size_t next = 0;
  void *recording = nullptr;
  int64_t recorded = 1; ///< runs of one replay
  int64_t steps = 1;    ///< replays, or runs, of one sample
  double expectedNs = 0;

  ~Job() {
    if (recording && !queue.isSpent())
      queue.device().freeRecording(recording);
  }
  int64_t batch() const { return steps * recorded; }
  Status runOnce() {
    return copies[next++ % copies.size()].run(executable, workspace,
                                              queue.queue());
  }
  /// One run, or one replay.
  Status step() {
    return recording ? queue.device().replay(recording, queue.handle())
                     : runOnce();
  }
  /// For everything that one sample enqueues.
  double deadline() const {
    return runSeconds + 10e-9 * expectedNs * static_cast<double>(batch());
  }
};

Result<std::unique_ptr<DeviceTimer>> DeviceTimer::make(DeviceQueue &queue,
                                                       DeviceChecks &checks) {
  std::unique_ptr<DeviceTimer> timer(new DeviceTimer(queue, checks));
  for (void **event : {&timer->begin, &timer->end}) {
    Result<void *> made = queue.device().makeEvent();
    if (!made)
      return made.error();
    *event = *made;
  }
  return timer;
}

DeviceTimer::~DeviceTimer() {
  if (queue.isSpent())
    return;
  queue.device().freeEvent(begin);
  queue.device().freeEvent(end);
}

/// Between the two events, once all is done.
Result<double> DeviceTimer::elapsedNs(double deadline) {
  if (Status status = queue.drain(deadline); !status)
    return status.error();
  Result<double> us = queue.device().elapsedUs(begin, end);
  return us ? Result<double>(*us * 1e3) : us;
}

/// Chooses how many runs make a sample, and records them if they are short.
Status DeviceTimer::prepare(Job &job, int64_t oneNs,
                            const TimeOptions &options) {
  job.expectedNs = static_cast<double>(oneNs);
  runtime::Device &device = queue.device();
  if (!job.flush && oneNs < kShortRunNs) {
    job.recorded = static_cast<int64_t>(
        std::clamp(job.copies.size(), kRecorded, kMostRecorded));
    if (Status status = device.beginCapture(queue.handle()); !status)
      return status;
    Status status;
    for (int64_t i = 0; status && i < job.recorded; ++i)
      status = job.runOnce();
    Result<void *> made = device.endCapture(queue.handle());
    if (!status)
      return status;
    if (!made)
      return made.error();
    job.recording = *made;
  }
  int64_t wanted = std::max(options.minBatchNs, kDeviceBatchNs);
  int64_t each = oneNs * job.recorded;
  job.steps = std::clamp<int64_t>((wanted + each - 1) / each, 1,
                                  kMostRuns / job.recorded);
  return {};
}

Result<double> DeviceTimer::sample(Job &job) {
  runtime::Device &device = queue.device();
  Status status = checks.startClock();
  if (status)
    status = device.record(begin, queue.handle());
  for (int64_t i = 0; status && i < job.steps; ++i)
    status = job.step();
  if (status)
    status = device.record(end, queue.handle());
  if (status)
    status = checks.startClock();
  if (!status)
    return status.error();
  Result<double> taken = elapsedNs(job.deadline());
  return taken ? Result<double>(*taken / static_cast<double>(job.batch()))
               : taken;
}

Result<double> DeviceTimer::flushedSample(Job &job) {
  runtime::Device &device = queue.device();
  double total = 0;
  for (int64_t i = 0; i < job.steps; ++i) {
    // The filling keeps the device busy while the rest is enqueued.
    Status status = job.flush->poison();
    if (status)
      status = device.record(begin, queue.handle());
    if (status)
      status = job.runOnce();
    if (status)
      status = device.record(end, queue.handle());
    if (status && i + 1 == job.steps)
      status = checks.startClock();
    if (!status)
      return status.error();
    Result<double> taken = elapsedNs(job.deadline());
    if (!taken)
      return taken;
    total += *taken;
  }
  return total / static_cast<double>(job.steps);
}

Status DeviceTimer::checkDamage(Job &job) {
  Result<std::optional<std::string>> damage = job.copies[0].takeDamage(checks);
  if (!damage)
    return damage.error();
  Result<std::optional<int64_t>> overrun = job.workspace.takeDamage(checks);
  if (!overrun)
    return overrun.error();
  if (!*damage && !*overrun)
    return {};
  return makeError(ErrorCode::CandidateWrong, "timing",
                   *damage ? **damage : "the workspace was overrun",
                   "candidate.redzone",
                   "the schedule is left out; if the tuner ran it, report it");
}

/// A device has no involuntary switches; what disturbs it shows in its clock.
static Disturbance disturbanceOf(const DeviceConditions &seen, double seconds) {
  Disturbance disturbance;
  if (seen.highestMhz > 0) {
    // The time of 100,000 cycles.
    disturbance.fastestNs = 1e8 / seen.highestMhz;
    disturbance.slowestNs = 1e8 / seen.lowestMhz;
  }
  disturbance.seconds = seconds;
  return disturbance;
}

Result<Timing> DeviceTimer::time(const runtime::Executable &executable,
                                 std::span<DeviceTensors> copies,
                                 DeviceBuffer &workspace, DeviceBuffer *flush,
                                 const TimeOptions &options,
                                 double runSeconds) {
  Job job{executable, copies, workspace, flush, runSeconds, queue};
  int64_t start = nowNs();
  auto elapsed = [&] { return static_cast<double>(nowNs() - start) * 1e-9; };
  runtime::Device &device = queue.device();
  double one = 0;
  // The first run warms up: code is loaded, pages are touched.
  for (int i = 0; i < 2; ++i) {
    Status status = device.record(begin, queue.handle());
    if (status)
      status = job.runOnce();
    if (status)
      status = device.record(end, queue.handle());
    if (!status)
      return status.error();
    Result<double> taken = elapsedNs(runSeconds);
    if (!taken)
      return taken.error();
    one = std::max(*taken, 100.0);
  }
  Timing timing;
  timing.device.emplace();
  if (Status status = prepare(job, static_cast<int64_t>(one), options); !status)
    return status.error();
  while (static_cast<int64_t>(timing.samplesNs.size()) < options.samples) {
    Result<double> taken = flush ? flushedSample(job) : sample(job);
    if (!taken)
      return taken.error();
    // Asking takes milliseconds: once early, once at the end.
    if (timing.samplesNs.empty())
      timing.device->addReasons(monitor);
    Result<double> clock = checks.readClock();
    if (!clock)
      return clock.error();
    timing.device->addClock(*clock);
    double batchNs = *taken * static_cast<double>(job.batch());
    if (batchNs < 0.8 * static_cast<double>(kDeviceBatchNs) &&
        job.batch() < kMostRuns && elapsed() < options.maxSeconds) {
      job.steps *= 2; // the first run was slower than the rest
      continue;
    }
    timing.samplesNs.push_back(*taken);
    if (elapsed() > options.maxSeconds)
      break;
  }
  timing.device->addReasons(monitor);
  timing.batch = job.batch();
  timing.device->flushed = flush != nullptr;
  timing.disturbance = disturbanceOf(*timing.device, elapsed());
  if (Status status = checkDamage(job); !status)
    return status.error();
  return timing;
}

} // namespace azulejo::measure
