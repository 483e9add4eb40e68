//===- CandidateRunner.h - compile, verify and time candidates --*- C++ -*-===//
//
// What is done with one candidate of a region, behind an interface with three
// implementations: LocalRunner does it in this process on
// the CPU, GpuRunner (GpuRunner.h) on a GPU, and WorkerClient (WorkerClient.h)
// has a child process do it with a runner of its own.
//
// Verification of a candidate:
//   1. at small, ragged sizes against the float64 oracle, by the rules of
//      ir/reference/Check.h;
//   2. at the same sizes on integers for which nothing can round, where there
//      are any (ir/reference/ExactRange.h): equal to the oracle, bit by bit;
//   3. at the tuned size against the region run op by op (no fusion), twice:
//      the second run must give the same bits; and on integers, equal to it.
// Before each run outputs and workspace are poisoned; after it the redzones of
// every tensor and the inputs are checked. No memory is the user's.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_CANDIDATERUNNER_H
#define AZULEJO_FRONTEND_DRIVER_CANDIDATERUNNER_H

#include "autotune/measure/Timer.h"
#include "frontend/driver/KernelCompiler.h"
#include "ir/reference/HostTensor.h"

namespace azulejo::driver {

/// The GPU that candidates run on. What a runner only compiles needs none of
/// it: a driver is opened, and a context made, when a region is.
struct GpuPlace {
  int ordinal = -1;    ///< as the driver counts; -1: there is none
  std::string library; ///< of the driver; empty: as the system finds it
};

struct RunnerOptions {
  int threads = 1;
  uint64_t seed = 1;
  int64_t redzoneBytes = measure::kDefaultRedzoneBytes;
  bool cold = true;
  codegen::AssemblerRequest assembler = {}; ///< for GPUs
  GpuPlace gpu = {};
  double runSeconds = 2; ///< GPU: one run takes no longer, or never ends
};

/// How a candidate passed verification.
struct Verdict {
  int64_t oracleCases = 0;  ///< compared with the float64 oracle
  bool full = false;        ///< compared with the unfused plan at full size
  double maxUlp = 0;        ///< against the oracle
  int64_t exactCases = 0;   ///< equal to the oracle, on integers
  bool exactFull = false;   ///< equal to the unfused plan, at full size
  std::string noExact = {}; ///< neither: why not
};

using Sizes = std::map<std::string, int64_t>;

/// The oracle's word on one set of sizes.
struct OracleCase {
  Sizes sizes;
  std::vector<reference::HostTensor> inputs, oracle, plain;
  /// The inputs are integers that a seed gave: results must be the oracle's,
  /// which is rounded to their types; there is no plain evaluation.
  std::optional<uint64_t> exactSeed = std::nullopt;
};

/// What a region's candidates are compared with, as far as no device is needed
/// for it. Made once for a region, by any runner, and given to those that open
/// it: a worker that replaces another one does not make it again.
struct References {
  /// The region run op by op, a serialised plan; empty: some op has no kernel
  /// of its own, and `noPlan` says so.
  std::string unfusedPlan;
  std::string noPlan;
  std::vector<OracleCase> cases;
  /// False: there may be cases, too large to be carried from one process to
  /// another. Who opens the region makes them.
  bool hasCases = true;
};

class CandidateRunner {
public:
  virtual ~CandidateRunner() = default;

  virtual Result<KernelCode> compile(const std::string &region,
                                     const schedule::Schedule &schedule) = 0;
  /// Opens what candidates will run on, where that takes time.
  virtual Status warmUp() { return {}; }
  virtual Result<References> makeReferences(const std::string &region) = 0;
  /// Makes inputs of a region and its results at full size; the calls below
  /// refer to it.
  virtual Status open(const std::string &region,
                      const References &references) = 0;
  /// An error of code CandidateWrong: the result is wrong, and how.
  virtual Result<Verdict> verify(const KernelCode &code) = 0;
  virtual Result<measure::Timing> time(const KernelCode &code,
                                       const measure::TimeOptions &options) = 0;
  /// After an error: the process that runs candidates is of no further use, for
  /// one of them broke its context or does not end.
  virtual bool isSpent() const { return false; }
};

/// A runner in this process, for whatever kind of target it is.
std::unique_ptr<CandidateRunner> makeRunnerHere(target::TargetDesc target,
                                                RunnerOptions options);

/// On the CPU, in this process: a candidate that crashes takes it along.
class LocalRunner : public CandidateRunner {
public:
  LocalRunner(target::TargetDesc target, RunnerOptions options);
  ~LocalRunner() override;

  Result<KernelCode> compile(const std::string &region,
                             const schedule::Schedule &schedule) override;
  Result<References> makeReferences(const std::string &region) override;
  Status open(const std::string &region, const References &references) override;
  Result<Verdict> verify(const KernelCode &code) override;
  Result<measure::Timing> time(const KernelCode &code,
                               const measure::TimeOptions &options) override;

  struct Opened; ///< of the implementation

private:
  target::TargetDesc target;
  RunnerOptions options;
  std::unique_ptr<Opened> opened;
};

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_CANDIDATERUNNER_H
