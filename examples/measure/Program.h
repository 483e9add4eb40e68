//===- Program.h - an executable, run and measured --------------*- C++ -*-===//
//
// Runs a compiled graph and says what the run cost: time, the memory it
// touched, and the traffic that explain reports for it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MEASURE_PROGRAM_H
#define AZULEJO_EXAMPLES_MEASURE_PROGRAM_H

#include "HostTensor.h"

#include "azulejo/Azulejo.h"

#include <string>

namespace measure {

/// What explain says about the main-memory traffic of one run, in bytes. It is
/// a model (each kernel reads its inputs and writes its outputs once), not a
/// measurement.
struct Traffic {
  size_t kernels = 0;
  double planBytes = 0;       ///< of the plan as compiled
  double unfusedBytes = 0;    ///< if every op were a kernel of its own
  double lowerBoundBytes = 0; ///< the graph's inputs and outputs, once
};

struct Cost {
  double milliseconds = 0;   ///< median of the timed runs
  double workspaceBytes = 0; ///< what the plan asks for
  double residentGrowth = 0; ///< bytes by which a run grew the process
  Traffic traffic;
};

class Program {
public:
  static azulejo::Result<Program> compile(const azulejo::Graph &graph,
                                          const azulejo::Device &device,
                                          bool allowFusion);

  /// One run, checked for its status only.
  azulejo::Status run(const std::vector<azulejo::TensorView> &bindings) const;
  /// One run that measures memory, then `repeats` timed ones. `dims` are the
  /// sizes for which explain counts bytes.
  azulejo::Result<Cost>
  measure(const std::vector<azulejo::TensorView> &bindings,
          const std::vector<azulejo::DimValue> &dims, int repeats) const;

private:
  explicit Program(azulejo::Executable program) : program(std::move(program)) {}
  azulejo::Executable program;
};

/// Reads the totals from explain's JSON.
azulejo::Result<Traffic> readTraffic(const std::string &explainJson);

/// The bytes that the system can still give out, or 0 where it does not say.
double availableMemory();

/// "12.3 MB": decimal units, as bandwidths are given.
std::string bytesText(double bytes);

} // namespace measure

#endif // AZULEJO_EXAMPLES_MEASURE_PROGRAM_H
