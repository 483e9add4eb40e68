//===- Explain.h - what was compiled, and why -------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXPLAIN_H
#define AZULEJO_EXPLAIN_H

#include "azulejo/Compile.h"

namespace azulejo {
inline namespace v0 {

/// Per kernel: the ops it computes, its schedule, FLOPs, bytes unfused, fused
/// and at the lower bound; then what was not fused and why. Counts are for the
/// given dimensions, by default each one's maximum.
inline Result<std::string> explainText(const Executable &executable,
                                       const std::vector<DimValue> &dims = {}) {
  return executable.explain(dims, false);
}
inline Result<std::string> explainJson(const Executable &executable,
                                       const std::vector<DimValue> &dims = {}) {
  return executable.explain(dims, true);
}

/// The text of a stage of compilation ("graph", "fused", "tiled", ...).
inline Result<std::string> emit(const Graph &graph, const Device &device,
                                const std::string &stage,
                                const CompileOptions &options = {}) {
  if (Status status = graph.status(); !status)
    return status.error();
  az_compile_options c = detail::optionsOf(options);
  return detail::callForText(
      az_emit, static_cast<const az_graph *>(graph.handle()), device.handle(),
      static_cast<const az_compile_options *>(&c), stage.c_str());
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_EXPLAIN_H
