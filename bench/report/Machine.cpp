//===- Machine.cpp - the machine that measured ----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/report/Machine.h"

#include "azulejo/Inspect.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>

#include <sched.h>

namespace azulejo::bench {

int usableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

void useOneCpu() {
  cpu_set_t set, first;
  CPU_ZERO(&set);
  CPU_ZERO(&first);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) {
      CPU_SET(cpu, &first);
      sched_setaffinity(0, sizeof(first), &first);
      return;
    }
}

/// The number that follows `"name":` in a flat JSON object.
static double numberIn(const std::string &json, const std::string &name) {
  size_t at = json.find("\"" + name + "\":");
  return at == std::string::npos
             ? 0
             : std::strtod(json.c_str() + at + name.size() + 3, nullptr);
}

static std::string cpuModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "cpu";
}

std::string machineSlug() {
  std::string name = cpuModel();
  if (Result<Device> device = Device::open("cpu"))
    if (Result<std::string> facts = device->describe())
      name += " " + std::to_string(int(numberIn(*facts, "vector_bytes")) * 8) +
              "bit";
  name += " " + std::to_string(usableCpus()) + "cpu";
  std::string slug;
  for (char c : name) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain)
      slug += char(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  return slug;
}

Result<Roofs> roofsFor(int threads) {
  static std::map<int, Roofs> known;
  if (auto it = known.find(threads); it != known.end())
    return it->second;
  Result<std::string> text = measureHost(threads);
  if (!text)
    return text.error();
  Roofs roofs{numberIn(*text, "memory_gbs") * 1e6,
              numberIn(*text, "f32_tflops") * 1e9};
  if (roofs.bytesPerMs <= 0 || roofs.flopsPerMs <= 0)
    return makeError(ErrorCode::Internal, "az_device_measure",
                     "it gave no rates: " + *text);
  return known[threads] = roofs;
}

double floorMs(const Roofs &roofs, double bytes, double flops) {
  return std::max(bytes / roofs.bytesPerMs, flops / roofs.flopsPerMs);
}

double procBytes(const char *path, const std::string &name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with(name + ":"))
      return std::strtod(line.c_str() + name.size() + 1, nullptr) * 1024;
  return 0;
}

} // namespace azulejo::bench
