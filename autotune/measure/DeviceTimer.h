//===- DeviceTimer.h - timing one executable on a GPU -----------*- C++ -*-===//
//
// As Timer.h, with the device's own clock: events before and after a batch of
// runs that takes at least 200 us. What lies between two kernels must not be
// the host's work, so
//
//   * short kernels are recorded once and replayed as one launch;
//   * before the first event a kernel of some 30 us keeps the device busy while
//     the host enqueues.
//
//   clock | event | run run run ... | event | clock
//
// The clock kernel is that first one, and runs again after the last: the record
// says at which clock the samples were taken.
//
// Caches are cold: a batch walks over copies of the tensors that together are
// twice as large as the L2. Where memory does not hold them, the L2 is flushed
// before each run, outside of the events, and each run has its own pair.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_DEVICETIMER_H
#define AZULEJO_AUTOTUNE_MEASURE_DEVICETIMER_H

#include "autotune/measure/DeviceBuffer.h"
#include "autotune/measure/DeviceMonitor.h"
#include "autotune/measure/Timer.h"

namespace azulejo::measure {

inline constexpr int64_t kDeviceBatchNs = 200'000;

class DeviceTimer {
public:
  static Result<std::unique_ptr<DeviceTimer>> make(DeviceQueue &queue,
                                                   DeviceChecks &checks);
  ~DeviceTimer();

  /// `runSeconds` is the longest that one run may take. `flush`, if not null,
  /// is memory whose filling empties the L2. The first copy and the workspace
  /// are looked at for damage afterwards: verification looked at the rest.
  Result<Timing> time(const runtime::Executable &executable,
                      std::span<DeviceTensors> copies, DeviceBuffer &workspace,
                      DeviceBuffer *flush, const TimeOptions &options,
                      double runSeconds);

private:
  DeviceTimer(DeviceQueue &queue, DeviceChecks &checks)
      : queue(queue), checks(checks), monitor(queue.device().facts().pciBusId) {
  }
  struct Job;
  Result<double> elapsedNs(double deadline);
  Status prepare(Job &job, int64_t oneNs, const TimeOptions &options);
  Result<double> sample(Job &job);
  Result<double> flushedSample(Job &job);
  Status checkDamage(Job &job);

  DeviceQueue &queue;
  DeviceChecks &checks;
  DeviceMonitor monitor;
  void *begin = nullptr, *end = nullptr;
};

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_DEVICETIMER_H
