//===- Disturbance.cpp - was the machine ours while we measured? ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/Disturbance.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sys/resource.h>

namespace azulejo::measure {

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double calibrationNs() {
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    int64_t start = nowNs();
    double value = 1.0;
    // Each step waits for the one before, so only the clock matters.
    for (int i = 0; i < 20000; ++i)
      value = value * 1.0000001 + 1e-9;
    volatile double sink = value;
    (void)sink;
    double time = static_cast<double>(nowNs() - start);
    best = repeat == 0 ? time : std::min(best, time);
  }
  return best;
}

static int64_t involuntarySwitches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

static int64_t stealTicks() {
  std::FILE *file = std::fopen("/proc/stat", "re");
  if (!file)
    return 0;
  long long user, nice, system, idle, wait, irq, softIrq, steal = 0;
  int read =
      std::fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &user,
                  &nice, &system, &idle, &wait, &irq, &softIrq, &steal);
  std::fclose(file);
  return read == 8 ? steal : 0;
}

DisturbanceProbe::DisturbanceProbe()
    : startNs(nowNs()), startSwitches(involuntarySwitches()),
      startSteal(stealTicks()), fastest(calibrationNs()), slowest(fastest) {}

void DisturbanceProbe::calibrate() {
  double time = calibrationNs();
  fastest = std::min(fastest, time);
  slowest = std::max(slowest, time);
}

Disturbance DisturbanceProbe::read() const {
  Disturbance result;
  result.involuntarySwitches = involuntarySwitches() - startSwitches;
  result.stealTicks = stealTicks() - startSteal;
  result.fastestNs = fastest;
  result.slowestNs = slowest;
  result.seconds = static_cast<double>(nowNs() - startNs) * 1e-9;
  return result;
}

double Disturbance::slowdown() const {
  return fastestNs > 0 ? slowestNs / fastestNs : 1;
}

bool Disturbance::isDisturbed() const {
  // A switch or a tick can meet anybody; rates over short times say nothing.
  double watched = std::max(seconds, 0.2);
  return static_cast<double>(involuntarySwitches) > 20 * watched ||
         static_cast<double>(stealTicks) * 0.01 > 0.02 * watched + 0.01 ||
         slowdown() > 1.1;
}

std::string Disturbance::str() const {
  char text[160];
  std::snprintf(text, sizeof text,
                "%lld involuntary switches, %lld steal ticks, calibration "
                "%.2fx in %.2f s",
                static_cast<long long>(involuntarySwitches),
                static_cast<long long>(stealTicks), slowdown(), seconds);
  return text;
}

void Disturbance::merge(const Disturbance &other) {
  involuntarySwitches += other.involuntarySwitches;
  stealTicks += other.stealTicks;
  if (other.fastestNs > 0)
    fastestNs =
        fastestNs > 0 ? std::min(fastestNs, other.fastestNs) : other.fastestNs;
  slowestNs = std::max(slowestNs, other.slowestNs);
  seconds += other.seconds;
}

} // namespace azulejo::measure
