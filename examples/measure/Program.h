//===- Program.h - an executable, run and measured --------------*- C++ -*-===//
//
// Runs a compiled graph on host tensors, which it copies to the device and
// back, and says what the run itself cost: time, the memory it touched, and the
// traffic that explain reports for it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_EXAMPLES_MEASURE_PROGRAM_H
#define AZULEJO_EXAMPLES_MEASURE_PROGRAM_H

#include "HostTensor.h"

#include "azulejo/Azulejo.h"

#include <optional>
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
  /// Bytes by which a run grew the process; of a CPU only.
  std::optional<double> residentGrowth;
  Traffic traffic;
};

class Program {
public:
  /// The device must outlive the program.
  static azulejo::Result<Program> compile(const azulejo::Graph &graph,
                                          const azulejo::Device &device,
                                          bool allowFusion);

  /// One run on the bindings' values; the outputs receive theirs.
  azulejo::Status run(const std::vector<azulejo::TensorView> &bindings) const;
  /// One run that measures memory, then `repeats` ones timed by the device,
  /// copies apart. `dims` are the sizes for which explain counts bytes.
  azulejo::Result<Cost>
  measure(const std::vector<azulejo::TensorView> &bindings,
          const std::vector<azulejo::DimValue> &dims, int repeats) const;

private:
  Program(azulejo::Executable program, const azulejo::Device &device)
      : program(std::move(program)), device(&device) {}
  azulejo::Executable program;
  const azulejo::Device *device;
};

/// Reads the totals from explain's JSON.
azulejo::Result<Traffic> readTraffic(const std::string &explainJson);

/// The bytes that the system can still give out, or 0 where it does not say.
double availableMemory();

/// "12.3 MB": decimal units, as bandwidths are given.
std::string bytesText(double bytes);
/// The same, or "-".
std::string bytesText(const std::optional<double> &bytes);

} // namespace measure

#endif // AZULEJO_EXAMPLES_MEASURE_PROGRAM_H
