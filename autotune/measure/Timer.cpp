//===- Timer.cpp - timing one executable ----------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/Timer.h"

#include <algorithm>

namespace azulejo::measure {

int64_t coldCopies(int64_t bytes, int64_t cacheBytes) {
  // Machines with huge shared caches give a process only a part of them.
  constexpr int64_t kEnough = int64_t(256) << 20, kMost = 1024;
  int64_t wanted = std::clamp<int64_t>(2 * cacheBytes, 0, kEnough);
  int64_t each = std::max<int64_t>(bytes, 1);
  return std::clamp<int64_t>((wanted + each - 1) / each, 1, kMost);
}

static Error redzoneError(const std::string &damage) {
  return makeError(ErrorCode::CandidateWrong, "timing", damage,
                   "candidate.redzone",
                   "the schedule is left out; if the tuner ran it, report it");
}

Result<Timing> timeRuns(const runtime::Executable &executable,
                        std::span<TensorSet> copies, GuardedBuffer &workspace,
                        const runtime::Queue &queue,
                        const TimeOptions &options) {
  Timing timing;
  size_t next = 0;
  auto runOnce = [&]() -> Status {
    return copies[next++ % copies.size()].run(executable, workspace, queue);
  };
  int64_t start = nowNs();
  auto elapsed = [&] { return static_cast<double>(nowNs() - start) * 1e-9; };
  if (Status status = runOnce(); !status)
    return status.error();
  double first = elapsed();
  if (first > options.maxSeconds / 2) {
    timing.samplesNs.push_back(first * 1e9);
    return timing;
  }
  DisturbanceProbe probe;
  // The batch grows until it is long enough; the runs that find this out are
  // warm-up as well.
  int64_t begin = nowNs();
  if (Status status = runOnce(); !status)
    return status.error();
  int64_t one = std::max<int64_t>(nowNs() - begin, 1);
  timing.batch =
      std::clamp<int64_t>((options.minBatchNs + one - 1) / one, 1, 100'000);
  while (static_cast<int64_t>(timing.samplesNs.size()) < options.samples) {
    begin = nowNs();
    for (int64_t i = 0; i < timing.batch; ++i)
      if (Status status = runOnce(); !status)
        return status.error();
    int64_t took = nowNs() - begin;
    if (took < options.minBatchNs && timing.batch < 100'000) {
      timing.batch = timing.batch * 2; // too short: measured a slow run
      continue;
    }
    timing.samplesNs.push_back(static_cast<double>(took) /
                               static_cast<double>(timing.batch));
    if (elapsed() > options.maxSeconds)
      break;
  }
  probe.calibrate();
  timing.disturbance = probe.read();
  for (TensorSet &copy : copies)
    if (std::optional<std::string> damage = copy.takeDamage())
      return redzoneError(*damage);
  if (workspace.takeDamage())
    return redzoneError("the workspace was overrun");
  return timing;
}

} // namespace azulejo::measure
