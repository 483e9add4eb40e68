//===- Program.cpp - an executable, run and measured ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "../json/Json.h"
#include "DeviceTensors.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <utility>

namespace measure {

using azulejo::Buffer;
using azulejo::ErrorCode;
using azulejo::Event;
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

std::string bytesText(const std::optional<double> &bytes) {
  return bytes ? bytesText(*bytes) : "-";
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
  return Program(*std::move(program), device);
}

/// Brings back what the program wrote.
static Status download(const azulejo::Executable &program,
                       const DeviceTensors &tensors) {
  for (size_t i = 0; i < program.bindingCount(); ++i) {
    Result<azulejo::BindingInfo> info = program.binding(i);
    if (!info)
      return info.error();
    if (!info->isOutput)
      continue;
    if (Status status = tensors.download(i); !status)
      return status;
  }
  return {};
}

Status Program::run(const std::vector<azulejo::TensorView> &bindings) const {
  Result<DeviceTensors> tensors = DeviceTensors::create(*device, bindings);
  if (!tensors)
    return tensors.error();
  if (Status status = program.run(tensors->views()); !status)
    return status;
  return download(program, *tensors);
}

/// Workspace for the bindings, unless the machine is plainly too small for it.
static Result<Buffer> makeWorkspace(const azulejo::Device &device, size_t bytes,
                                    bool host) {
  double available = host ? availableMemory() : 0;
  if (available > 0 && double(bytes) > 0.8 * available)
    return makeError(ErrorCode::OutOfMemory, "workspace",
                     bytesText(double(bytes)) + " are needed, " +
                         bytesText(available) + " are free",
                     "memory", "use a machine with more memory");
  return Buffer::create(device, bytes);
}

/// Milliseconds of one run, by the device's clock.
static Result<double> timed(const azulejo::Device &device,
                            const std::function<Status()> &runOnce) {
  Result<Event> start = Event::create(device), end = Event::create(device);
  if (!start || !end)
    return start ? end.error() : start.error();
  Status status = start->record(nullptr);
  if (status)
    status = runOnce();
  if (status)
    status = end->record(nullptr);
  if (status)
    status = end->wait();
  if (!status)
    return status.error();
  Result<double> microseconds = end->elapsedSince(*start);
  return microseconds ? Result<double>(*microseconds / 1000)
                      : microseconds.error();
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
  Result<DeviceTensors> tensors = DeviceTensors::create(*device, bindings);
  if (!tensors)
    return tensors.error();
  Result<size_t> bytes = program.workspaceSize(tensors->views());
  if (!bytes)
    return bytes.error();
  cost.workspaceBytes = double(*bytes);

  // The workspace is fresh, so on a CPU every page of it that the run touches
  // shows up as growth. Writing 5 resets the peak to what is resident now.
  bool host = device->name().starts_with("cpu");
  Result<Buffer> workspace = makeWorkspace(*device, *bytes, host);
  if (!workspace)
    return workspace.error();
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  double before = procBytes("/proc/self/status", "VmRSS:");
  auto runOnce = [&]() -> Status {
    return program.run(azulejo::Stream{}, tensors->views(),
                       {workspace->data(), *bytes});
  };
  if (Status status = runOnce(); !status)
    return status.error();
  if (Status status = device->synchronize(); !status)
    return status.error();
  if (host)
    cost.residentGrowth =
        std::max(0.0, procBytes("/proc/self/status", "VmHWM:") - before);

  std::vector<double> times;
  for (int i = 0; i < std::max(1, repeats); ++i) {
    Result<double> milliseconds = timed(*device, runOnce);
    if (!milliseconds)
      return milliseconds.error();
    times.push_back(*milliseconds);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  cost.milliseconds = times[times.size() / 2];
  if (Status status = download(program, *tensors); !status)
    return status.error();
  return cost;
}

} // namespace measure
