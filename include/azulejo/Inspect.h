//===- Inspect.h - looking into graphs, devices and the cache ---*- C++ -*-===//
//
// What tools want and an engine's hot path does not. c/inspect.h says what each
// JSON text holds.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_INSPECT_H
#define AZULEJO_INSPECT_H

#include "azulejo/Compile.h"
#include "azulejo/c/inspect.h"

namespace azulejo {
inline namespace v0 {

/// Fuses the graph for a device that need not be present, and makes no code.
/// The result can be explained and not run.
inline Result<Executable> analyse(const Graph &graph, const Device &device,
                                  const CompileOptions &options = {}) {
  if (Status status = graph.status(); !status)
    return status.error();
  az_compile_options c = detail::optionsOf(options);
  az_executable *raw = nullptr;
  Status status = detail::call(
      az_analyse, static_cast<const az_graph *>(graph.handle()),
      device.handle(), static_cast<const az_compile_options *>(&c), &raw);
  return status ? Result<Executable>(Executable(raw)) : status.error();
}

/// Compares outputs with the float64 reference: a report as JSON.
inline Result<std::string>
checkAgainstReference(const Graph &graph, const std::vector<DimValue> &dims,
                      std::span<const TensorView> bindings) {
  std::vector<az_dim_value> values;
  for (const DimValue &dim : dims)
    values.push_back({dim.name.c_str(), dim.value});
  return detail::callForText(
      az_graph_check, static_cast<const az_graph *>(graph.handle()),
      static_cast<const az_dim_value *>(values.data()), values.size(),
      static_cast<const az_tensor *>(bindings.data()), bindings.size());
}

/// Copy bandwidth and multiply-add rate of this machine, as JSON.
inline Result<std::string> measureHost(int32_t threads = 0) {
  return detail::callForText(az_device_measure,
                             static_cast<az_device *>(nullptr), threads);
}

/// The same of a device, which takes the rates over: `explain` then uses them
/// in the place of nominal ones.
inline Result<std::string> measure(Device &device, int32_t threads = 0) {
  return detail::callForText(az_device_measure,
                             const_cast<az_device *>(device.handle()), threads);
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_INSPECT_H
