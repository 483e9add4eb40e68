//===- Disturbance.h - was the machine ours while we measured? --*- C++ -*-===//
//
// Three witnesses, none of which needs rights: involuntary context switches of
// this process, steal time of the virtual machine, and a fixed loop whose time
// shows a clock that went down or a neighbour on the same core.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_DISTURBANCE_H
#define AZULEJO_AUTOTUNE_MEASURE_DISTURBANCE_H

#include <cstdint>
#include <string>

namespace azulejo::measure {

/// Monotonic time.
int64_t nowNs();

/// Time of a fixed chain of dependent multiplications, about 100 us.
double calibrationNs();

struct Disturbance {
  int64_t involuntarySwitches = 0;
  int64_t stealTicks = 0;              ///< of 10 ms, all CPUs together
  double fastestNs = 0, slowestNs = 0; ///< of the calibration loop
  double seconds = 0;                  ///< how long was watched

  /// Slowest calibration over fastest.
  double slowdown() const;
  /// More than 20 switches a second, more than 2 % stolen, or 10 % slower.
  bool isDisturbed() const;
  /// "35 involuntary switches, 2 steal ticks, calibration 1.12x in 0.8 s"
  std::string str() const;
  /// As if both had been watched by one probe; a clock that goes down from one
  /// to the other shows.
  void merge(const Disturbance &other);
};

/// Watches from construction on.
class DisturbanceProbe {
public:
  DisturbanceProbe();
  /// One more point of the calibration.
  void calibrate();
  Disturbance read() const;

private:
  int64_t startNs, startSwitches, startSteal;
  double fastest, slowest;
};

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_DISTURBANCE_H
