//===- Program.cpp - an executable, run and measured ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "../json/Json.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

namespace measure {

using azulejo::ErrorCode;
using azulejo::makeError;
using azulejo::Result;
using azulejo::Status;

/// A "Name: 123 kB" line of a file under /proc, in bytes; 0 without one.
static double procBytes(const char *path, const std::string &name) {
  std::ifstream file(path);
  std::string key;
  double value;
  while (file >> key) {
    if (key == name && file >> value)
      return value * 1024;
    file.ignore(4096, '\n');
  }
  return 0;
}

double availableMemory() { return procBytes("/proc/meminfo", "MemAvailable:"); }

std::string bytesText(double bytes) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit)
    bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", bytes,
                units[unit]);
  return text;
}

Result<Traffic> readTraffic(const std::string &explainJson) {
  Result<json::Value> root = json::parse(explainJson, "explain");
  if (!root)
    return root.error();
  const json::Value *kernels = root->member("kernels"),
                    *bytes = root->member("bytes");
  Traffic traffic;
  bool known = kernels && kernels->array() && bytes;
  for (auto [name, into] :
       {std::pair("fused", &traffic.planBytes),
        std::pair("unfused", &traffic.unfusedBytes),
        std::pair("lower_bound", &traffic.lowerBoundBytes)}) {
    const json::Value *value = known ? bytes->member(name) : nullptr;
    std::optional<double> number = value ? value->number() : std::nullopt;
    known = number.has_value();
    *into = number.value_or(0);
  }
  if (!known)
    return makeError(ErrorCode::Internal, "explain",
                     "its JSON lacks kernels or the bytes fused, unfused and "
                     "at the lower bound",
                     "explain");
  traffic.kernels = kernels->array()->size();
  return traffic;
}

Result<Program> Program::compile(const azulejo::Graph &graph,
                                 const azulejo::Device &device,
                                 bool allowFusion) {
  azulejo::CompileOptions options;
  options.allowFusion = allowFusion;
  Result<azulejo::Executable> program =
      azulejo::compile(graph, device, options);
  if (!program)
    return program.error();
  return Program(*std::move(program));
}

Status Program::run(const std::vector<azulejo::TensorView> &bindings) const {
  return program.run(bindings);
}

Result<Cost> Program::measure(const std::vector<azulejo::TensorView> &bindings,
                              const std::vector<azulejo::DimValue> &dims,
                              int repeats) const {
  Cost cost;
  Result<std::string> text = program.explain(dims, true);
  if (!text)
    return text.error();
  Result<Traffic> traffic = readTraffic(*text);
  if (!traffic)
    return traffic.error();
  cost.traffic = *traffic;
  Result<size_t> bytes = program.workspaceSize(bindings);
  if (!bytes)
    return bytes.error();
  cost.workspaceBytes = double(*bytes);

  double available = availableMemory();
  if (available > 0 && cost.workspaceBytes > 0.8 * available)
    return makeError(ErrorCode::OutOfMemory, "workspace",
                     bytesText(cost.workspaceBytes) + " are needed, " +
                         bytesText(available) + " are free",
                     "memory", "use a machine with more memory");
  // The workspace is fresh, so every page of it that the run touches shows up
  // as growth. Writing 5 resets the peak to what is resident now.
  AlignedBytes workspace(*bytes);
  if (!workspace.data())
    return makeError(ErrorCode::OutOfMemory, "workspace",
                     "cannot allocate " + bytesText(cost.workspaceBytes));
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  double before = procBytes("/proc/self/status", "VmRSS:");
  auto runOnce = [&] {
    return program.run(azulejo::Stream{}, bindings, {workspace.data(), *bytes});
  };
  if (Status status = runOnce(); !status)
    return status.error();
  double peak = procBytes("/proc/self/status", "VmHWM:");
  cost.residentGrowth = std::max(0.0, peak - before);

  std::vector<double> times;
  for (int i = 0; i < std::max(1, repeats); ++i) {
    auto start = std::chrono::steady_clock::now();
    if (Status status = runOnce(); !status)
      return status.error();
    std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    times.push_back(passed.count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  cost.milliseconds = times[times.size() / 2];
  return cost;
}

} // namespace measure
