//===- DeviceMonitor.cpp - what slows a GPU down --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/DeviceMonitor.h"

#include <algorithm>
#include <dlfcn.h>

namespace azulejo::measure {

namespace {
struct Reason {
  uint64_t bit;
  const char *name;
  bool slows;
};
// The library's bits; 1 is "idle".
constexpr Reason kReasons[] = {
    {0x2, "application_clocks", false}, {0x4, "sw_power_cap", false},
    {0x8, "hw_slowdown", true},         {0x10, "sync_boost", false},
    {0x20, "sw_thermal", true},         {0x40, "hw_thermal", true},
    {0x80, "hw_power_brake", true},     {0x100, "display_clocks", false},
};
} // namespace

DeviceMonitor::DeviceMonitor(const std::string &pciBusId,
                             const std::string &library)
    : missing(connect(pciBusId, library)) {
  if (!missing.empty())
    handle = nullptr;
}

std::string DeviceMonitor::connect(const std::string &pciBusId,
                                   const std::string &library) {
  // Stays loaded: like the driver it may have threads of its own.
  void *opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char *why = dlerror();
    return "the management library cannot be loaded: " +
           std::string(why ? why : library.c_str());
  }
  auto find = [&](auto &slot, const char *symbol) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(
        dlsym(opened, symbol));
    return slot != nullptr;
  };
  int (*init)() = nullptr;
  int (*getHandle)(const char *, Handle *) = nullptr;
  // The second name is the older one.
  if (!find(init, "nvmlInit_v2") ||
      !find(getHandle, "nvmlDeviceGetHandleByPciBusId_v2") ||
      !(find(getReasons, "nvmlDeviceGetCurrentClocksEventReasons") ||
        find(getReasons, "nvmlDeviceGetCurrentClocksThrottleReasons")))
    return "the management library lacks a function";
  if (int code = init())
    return "the management library does not start (" + std::to_string(code) +
           ")";
  if (int code = getHandle(pciBusId.c_str(), &handle))
    return "the management library does not know the device (" +
           std::to_string(code) + ")";
  unsigned long long bits = 0;
  if (int code = getReasons(handle, &bits))
    return "the management library does not say what limits the clocks (" +
           std::to_string(code) + ")";
  return {};
}

std::optional<uint64_t> DeviceMonitor::reasons() const {
  unsigned long long bits = 0;
  if (!handle || getReasons(handle, &bits) != 0)
    return std::nullopt;
  return bits;
}

std::vector<std::string> reasonNames(uint64_t bits) {
  std::vector<std::string> names;
  bits &= ~uint64_t(1);
  for (const Reason &reason : kReasons)
    if (bits & reason.bit) {
      names.emplace_back(reason.name);
      bits &= ~reason.bit;
    }
  if (bits)
    names.push_back("bits " + std::to_string(bits));
  return names;
}

bool slowsDown(uint64_t bits) {
  for (const Reason &reason : kReasons)
    if (reason.slows && (bits & reason.bit))
      return true;
  return false;
}

void DeviceConditions::addClock(double mhz) {
  if (mhz <= 0)
    return;
  lowestMhz = lowestMhz > 0 ? std::min(lowestMhz, mhz) : mhz;
  highestMhz = std::max(highestMhz, mhz);
  lastMhz = mhz;
}

void DeviceConditions::addReasons(const DeviceMonitor &from) {
  monitor = from.absence();
  if (std::optional<uint64_t> now = from.reasons())
    reasons = reasons.value_or(0) | *now;
}

void DeviceConditions::merge(const DeviceConditions &other) {
  addClock(other.lowestMhz);
  addClock(other.highestMhz);
  addClock(other.lastMhz);
  if (other.reasons)
    reasons = reasons.value_or(0) | *other.reasons;
  monitor = other.monitor;
  flushed |= other.flushed;
}

} // namespace azulejo::measure
