//===- Compile.h - from a graph to an executable ----------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_COMPILE_H
#define AZULEJO_COMPILE_H

#include "azulejo/Cache.h"
#include "azulejo/Device.h"
#include "azulejo/Executable.h"
#include "azulejo/Graph.h"

#include <chrono>
#include <functional>

namespace azulejo {
inline namespace v0 {

enum class LogLevel : int32_t { Error, Warn, Info, Debug };

struct Progress {
  std::string phase;
  int64_t done = 0, total = 0; ///< total 0: not known
  double secondsLeft = -1;     ///< negative: not known
};

struct CompileOptions {
  /// How long to look for faster schedules. 0: the default schedules at once;
  /// negative: what AZULEJO_TUNE says, else none.
  std::chrono::duration<double> tune{-1};
  bool strict = false;         ///< refuse every fallback
  bool deterministic = false;  ///< bitwise equal between runs
  bool batchInvariant = false; ///< a row does not depend on its batch
  bool allowFusion = true;     ///< false: one kernel per op, for comparison
  CacheOptions cache = {};
  std::string workerPath = {};   ///< empty: found beside the library
  std::string compilerPath = {}; ///< empty: found beside the library
  /// Called during compile() only. Empty: the process-wide sink.
  std::function<void(LogLevel, const std::string &)> log = {};
  /// Return false to stop; what was measured is kept.
  std::function<bool(const Progress &)> progress = {};
  /// Schedules to use, "Family{knob=value,...};...", for every kernel of the
  /// named families; knobs not named keep the default. An illegal combination
  /// is an error.
  std::string pin = {};
  /// The sizes that runs will mostly have, "B=8,S=4096", for choosing and
  /// tuning schedules; dimensions not named: the middle of their range. Any
  /// other size is right, too. Of a dimension several may be given,
  /// "T=1,T=4096": each gets the schedule that is best for it.
  std::string typicalSizes = {};
  /// How many schedules a kernel may have for different symbolic sizes; each
  /// run takes the one for its sizes. 1: one for all, but for several
  /// typicalSizes, each of which has its own. 0: the default, 4.
  int32_t maxVariants = 0;
  /// Kernels for GPUs that find their own bugs, slowly: "waits", "delays=7", or
  /// both, with a comma; "off". Empty: what AZULEJO_DEBUG_KERNELS says.
  std::string debugKernels = {};
  /// Threads of the executable's runs; must outlive it. Null: a shared pool.
  const ThreadPool *pool = nullptr;
};

namespace detail {

inline az_compile_options optionsOf(const CompileOptions &options) {
  az_compile_options c{};
  az_compile_options_init(&c, sizeof(c));
  c.tune_seconds = options.tune.count();
  c.strict = options.strict;
  c.deterministic = options.deterministic;
  c.batch_invariant = options.batchInvariant;
  c.allow_fusion = options.allowFusion;
  c.cache_mode = static_cast<int32_t>(options.cache.mode);
  c.cache_dir = orNull(options.cache.directory);
  c.cache_path_ro = orNull(options.cache.readOnlyPath);
  c.worker_path = orNull(options.workerPath);
  c.compiler_path = orNull(options.compilerPath);
  c.pin = orNull(options.pin);
  c.typical_sizes = orNull(options.typicalSizes);
  c.debug_kernels = orNull(options.debugKernels);
  c.max_variants = options.maxVariants;
  if (options.log) {
    c.log = [](void *user, int32_t level, const char *message) {
      static_cast<const CompileOptions *>(user)->log(
          static_cast<LogLevel>(level), message);
    };
    c.log_user = const_cast<CompileOptions *>(&options);
  }
  if (options.progress) {
    c.progress = [](void *user, const char *phase, int64_t done, int64_t total,
                    double secondsLeft) -> int32_t {
      return !static_cast<const CompileOptions *>(user)->progress(
          {phase, done, total, secondsLeft});
    };
    c.progress_user = const_cast<CompileOptions *>(&options);
  }
  c.pool = options.pool ? options.pool->handle() : nullptr;
  return c;
}

} // namespace detail

/// Compiles, or finds the plan in the cache (then no compiler is loaded). The
/// graph's first building error comes back from here too.
inline Result<Executable> compile(const Graph &graph, const Device &device,
                                  const CompileOptions &options = {}) {
  if (Status status = graph.status(); !status)
    return status.error();
  az_compile_options c = detail::optionsOf(options);
  az_executable *raw = nullptr;
  Status status = detail::call(
      az_compile, static_cast<const az_graph *>(graph.handle()),
      device.handle(), static_cast<const az_compile_options *>(&c), &raw);
  return status ? Result<Executable>(Executable(raw)) : status.error();
}

/// A graph from its text, and the text of a graph. Both need the compiler
/// library. `name` is what errors call the text, for example its path.
inline Result<Graph> parseGraph(const std::string &text,
                                const std::string &name = "graph",
                                const CompileOptions &options = {}) {
  az_compile_options c = detail::optionsOf(options);
  az_graph *raw = nullptr;
  Status status =
      detail::call(az_graph_parse, text.data(), text.size(), name.c_str(),
                   static_cast<const az_compile_options *>(&c), &raw);
  return status ? Result<Graph>(Graph(raw)) : status.error();
}
inline Result<std::string> printGraph(const Graph &graph,
                                      const CompileOptions &options = {}) {
  if (Status status = graph.status(); !status)
    return status.error();
  az_compile_options c = detail::optionsOf(options);
  return detail::callForText(az_graph_print,
                             static_cast<const az_graph *>(graph.handle()),
                             static_cast<const az_compile_options *>(&c));
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_COMPILE_H
