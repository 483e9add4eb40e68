//===- CompilerEntry.h - the door to the compiler library -------*- C++ -*-===//
//
// libazulejo.so holds no compiler. On a cache miss it opens
// libazulejo-compiler.so and calls its single exported function:
//
//   extern "C" const azulejo::api::CompilerApi *
//   azulejo_compiler_api(uint32_t abi, const char *buildId);
//
// Both libraries come from one build, so the graph value and std types cross
// the door as they are. Equal build ids are the proof of that: the function
// returns null for any other abi or build id, and the caller then reports a
// Toolchain error instead of guessing at layouts.
//
// The driver (frontend/driver) implements the table. Nothing may throw through
// it. All functions may be called from several threads at once.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_COMPILERENTRY_H
#define AZULEJO_FRONTEND_API_COMPILERENTRY_H

#include "frontend/api/KernelDebugging.h"
#include "frontend/graph/Graph.h"
#include "ir/target/TargetDesc.h"
#include "runtime/plan/Plan.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace azulejo::api {

enum class CacheAccess { ReadWrite, ReadOnly, Off };

/// What az_compile_options::max_variants is by default.
inline constexpr int kDefaultVariants = 4, kMostVariants = 16;

/// Everything a compilation depends on besides graph and target. All values
/// are resolved: no environment variable is looked at behind this door.
struct CompileRequest {
  double tuneSeconds = 0; ///< 0: default schedules, no measuring
  bool strict = false;
  bool deterministic = false;
  bool batchInvariant = false;
  bool allowFusion = true;
  std::string pin; ///< as az_compile_options::pin
  /// Buckets of az_compile_options::typical_sizes, as the caller lists them.
  std::map<std::string, std::vector<int64_t>> typicalSizes;
  int maxVariants = kDefaultVariants; ///< of a region, at least 1
  /// Of the plan's kernels for a GPU; what the tuner measures has none of it.
  KernelDebugging debugKernels;

  /// The cache of tuning records (plans are the caller's affair).
  CacheAccess cacheAccess = CacheAccess::ReadWrite;
  std::string cacheDir;    ///< empty with Off only
  std::string cachePathRo; ///< colon list of read-only layers
  std::string workerPath;  ///< empty: beside the compiler library
  int threads = 1;         ///< for compiling and for timing on a CPU
  /// For GPUs: "driver" (images stay PTX), "nvjitlink", "ptxas", or "auto", the
  /// first of those that works. Paths may be empty.
  std::string assembler = "driver";
  std::string nvJitLink, ptxas;
  /// The GPU that candidates are timed on, as the driver counts; -1: the target
  /// is not in this machine. The worker opens it, never this process.
  int gpuOrdinal = -1;
  std::string cudaLibrary;   ///< of its driver; empty: as the system finds it
  std::string driverVersion; ///< for records

  /// Levels as az_log_fn. Never empty.
  std::function<void(int level, const std::string &message)> log;
  /// Told of trouble with the cache, which other stores of this process may
  /// have, too. Empty: the log is.
  std::function<void(const Error &)> cacheTrouble;
  /// Returns false to stop early. Never empty.
  std::function<bool(const std::string &phase, int64_t done, int64_t total,
                     double secondsLeft)>
      progress;
};

struct CompiledPlan {
  std::string plan;       ///< plan::serialize
  std::string candidates; ///< JSON array: one object per schedule tried
  bool final = true;      ///< false: tuning was cut short; not to be cached
};

/// What a plan does not keep of a kernel and `explain` wants to show.
struct KernelAnalysis {
  plan::Expr unfusedBytes; ///< if each of its ops were a kernel of its own
  /// Attention only: how many queries and keys one head has.
  std::optional<plan::Expr> queries, keys;
};

/// A plan without images, and an analysis per launch.
struct Analysis {
  plan::Plan plan;
  std::vector<KernelAnalysis> kernels;
};

struct CompilerApi {
  static constexpr uint32_t kAbi = 1;
  static constexpr const char *kSymbol = "azulejo_compiler_api";

  uint32_t abi;
  const char *buildId;
  Result<CompiledPlan> (*compile)(const graph::Graph &graph,
                                  const target::TargetDesc &target,
                                  const CompileRequest &request);
  /// `name` is what errors call the text.
  Result<graph::Graph> (*parseGraph)(std::string_view text,
                                     const std::string &name);
  Result<std::string> (*printGraph)(const graph::Graph &graph);
  /// The text of a stage; an unknown stage's error lists the stages.
  Result<std::string> (*emit)(const graph::Graph &graph,
                              const target::TargetDesc &target,
                              const CompileRequest &request,
                              const std::string &stage);
  /// Fuses and makes no code, so any target will do.
  Result<Analysis> (*analyse)(const graph::Graph &graph,
                              const target::TargetDesc &target,
                              const CompileRequest &request);
};

using CompilerApiFn = const CompilerApi *(*)(uint32_t abi, const char *buildId);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_COMPILERENTRY_H
