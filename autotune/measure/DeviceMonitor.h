//===- DeviceMonitor.h - what slows a GPU down ------------------*- C++ -*-===//
//
// NVIDIA's management library, opened at run time; containers often come
// without it. Its absence is a fact that records keep, not an error. It is
// asked for one thing only: why clocks are lower than they could be. The clock
// itself is measured in a kernel (DeviceChecks.h): the library's is not the one
// that kernels see.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_DEVICEMONITOR_H
#define AZULEJO_AUTOTUNE_MEASURE_DEVICEMONITOR_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace azulejo::measure {

class DeviceMonitor {
public:
  /// `pciBusId` as the driver spells it.
  explicit DeviceMonitor(const std::string &pciBusId,
                         const std::string &library = "libnvidia-ml.so.1");

  /// The reasons that hold at this moment, as bits; nothing where nobody can
  /// say.
  std::optional<uint64_t> reasons() const;
  /// Why reasons() says nothing; empty where it does.
  const std::string &absence() const { return missing; }

private:
  using Handle = struct MonitorTag *;
  std::string connect(const std::string &pciBusId, const std::string &library);

  int (*getReasons)(Handle, unsigned long long *) = nullptr;
  Handle handle = nullptr;
  std::string missing;
};

/// "sw_power_cap", "hw_thermal", ...; idling is no reason.
std::vector<std::string> reasonNames(uint64_t bits);
/// Whether the bits name something that makes kernels slower than they are on
/// an undisturbed device: heat, or the power supply. A power cap is not among
/// them: it is how these devices run dense matrix code.
bool slowsDown(uint64_t bits);

/// Under what conditions a GPU was timed.
struct DeviceConditions {
  /// MHz in kernels right after the samples; 0: not known.
  double lowestMhz = 0, highestMhz = 0, lastMhz = 0;
  std::optional<uint64_t> reasons; ///< all that were seen
  std::string monitor;             ///< why there are no reasons, or empty
  bool flushed = false; ///< cold by flushing: copies did not fit in memory

  void addClock(double mhz);
  void addReasons(const DeviceMonitor &from);
  void merge(const DeviceConditions &other);
};

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_DEVICEMONITOR_H
