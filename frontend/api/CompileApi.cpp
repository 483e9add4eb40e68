//===- CompileApi.cpp - from a graph to an executable ---------------------===//
//
// hash -> cache hit -> executable, and only on a miss the compiler library.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/CompilerLibrary.h"
#include "frontend/api/Environment.h"
#include "frontend/api/Handles.h"
#include "frontend/api/PlanCache.h"
#include "frontend/api/Prepare.h"
#include "frontend/api/TypicalSizes.h"
#include "runtime/cpu/ThreadPool.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

using namespace azulejo;
using namespace azulejo::api;

void az_compile_options_init(az_compile_options *options, size_t size) {
  if (!options || size < sizeof(size_t))
    return;
  az_compile_options defaults{};
  defaults.tune_seconds = -1;
  defaults.allow_fusion = 1;
  size = std::min(size, sizeof(defaults));
  defaults.size = size;
  std::memcpy(options, &defaults, size);
}

namespace azulejo::api {

Result<az_compile_options> optionsOf(const az_compile_options *given,
                                     const char *where) {
  az_compile_options options;
  az_compile_options_init(&options, sizeof(options));
  if (!given)
    return options;
  // A caller built against an older header knows fewer fields; one built
  // against a newer header may use fields that this library does not know.
  if (given->size < sizeof(size_t) || given->size > sizeof(options))
    return invalidCall(where, "az_compile_options::size is " +
                                  std::to_string(given->size));
  std::memcpy(&options, given, given->size);
  options.size = sizeof(options);
  if (std::isnan(options.tune_seconds) || options.tune_seconds > 1e6)
    return makeError(ErrorCode::InvalidArgument, "option tune_seconds",
                     "it must be at most 1000000", "api.option",
                     "give seconds; 10 are enough for most graphs");
  if (options.cache_mode < AZ_CACHE_DEFAULT ||
      options.cache_mode > AZ_CACHE_OFF)
    return makeError(ErrorCode::InvalidArgument, "option cache_mode",
                     std::to_string(options.cache_mode) + " is not a mode",
                     "api.option",
                     "use AZ_CACHE_DEFAULT, AZ_CACHE_READ_WRITE, "
                     "AZ_CACHE_READ_ONLY or AZ_CACHE_OFF");
  if (options.max_variants < 0 || options.max_variants > kMostVariants)
    return makeError(ErrorCode::InvalidArgument, "option max_variants",
                     std::to_string(options.max_variants) +
                         " is not from 0 to " + std::to_string(kMostVariants),
                     "api.option", "0 is the default, 1 divides nothing");
  return options;
}

Result<CompileRequest> requestOf(const az_compile_options &options) {
  Result<Environment> env = readEnvironment();
  if (!env)
    return env.error();
  runtime::setDefaultLogLevel(env->logLevel);
  CompileRequest request;
  request.tuneSeconds =
      options.tune_seconds < 0 ? env->tuneSeconds : options.tune_seconds;
  request.strict = options.strict != 0;
  request.deterministic = options.deterministic != 0;
  request.batchInvariant = options.batch_invariant != 0;
  request.allowFusion = options.allow_fusion != 0;
  request.pin = options.pin ? options.pin : "";
  if (options.max_variants > 0)
    request.maxVariants = options.max_variants;
  request.cacheAccess =
      options.cache_mode == AZ_CACHE_DEFAULT
          ? static_cast<CacheAccess>(env->cache)
          : static_cast<CacheAccess>(options.cache_mode - AZ_CACHE_READ_WRITE);
  request.cacheDir = options.cache_dir ? options.cache_dir : env->cacheDir;
  request.cachePathRo =
      options.cache_path_ro ? options.cache_path_ro : env->cachePathRo;
  request.workerPath =
      options.worker_path ? options.worker_path : env->workerPath;
  request.debugKernels = env->debugKernels;
  if (options.debug_kernels) {
    Result<KernelDebugging> given = parseKernelDebugging(
        options.debug_kernels, "option debug_kernels", "api.option");
    if (!given)
      return given.error();
    request.debugKernels = *given;
  }
  request.assembler = env->assembler;
  request.nvJitLink = env->nvJitLink;
  request.ptxas = env->ptxas;
  request.threads = options.pool   ? options.pool->pool->workers()
                    : env->threads ? env->threads
                                   : runtime::ThreadPool::usableCpus();
  request.log = [log = options.log, user = options.log_user](
                    int level, const std::string &message) {
    if (log)
      log(user, level, message.c_str());
    else
      runtime::log(static_cast<runtime::LogLevel>(level), message);
  };
  request.cacheTrouble = [log = request.log, request](const Error &error) {
    if (isNews(request, error))
      log(AZ_LOG_WARN, error.str());
  };
  request.progress = [step = options.progress, user = options.progress_user](
                         const std::string &phase, int64_t done, int64_t total,
                         double secondsLeft) {
    return !step || step(user, phase.c_str(), done, total, secondsLeft) == 0;
  };
  return request;
}

Result<CompileRequest> requestOf(const az_compile_options &options,
                                 const graph::Graph &graph) {
  Result<CompileRequest> request = requestOf(options);
  if (!request || !options.typical_sizes)
    return request;
  Result<TypicalSizes> buckets = bucketsOf(options.typical_sizes, graph);
  if (!buckets)
    return buckets.error();
  request->typicalSizes = *std::move(buckets);
  return request;
}

Result<const CompilerApi *> compilerOf(const az_compile_options &options,
                                       const std::string &purpose) {
  Result<Environment> env = readEnvironment();
  if (!env)
    return env.error();
  return loadCompiler(options.compiler_path ? options.compiler_path
                                            : env->compilerPath,
                      purpose);
}

} // namespace azulejo::api

/// A run learns a dimension from an axis that is exactly that dimension; say
/// here, in terms of the graph, when there is none.
static Status checkBindable(const graph::Graph &graph) {
  std::set<std::string> known, used;
  auto learn = [&](const opset::TensorType &type) {
    for (const opset::Dim &dim : type.shape)
      if (std::optional<std::string> name = dim.asSymbol())
        known.insert(*name);
  };
  for (graph::ValueId id : graph.inputs())
    learn(graph.type(id));
  for (const graph::Output &output : graph.outputs())
    learn(graph.type(output.value));
  for (const graph::Value &value : graph.values())
    for (const opset::Dim &dim : value.type.shape) {
      std::vector<std::string> names;
      dim.collectSymbols(names);
      used.insert(names.begin(), names.end());
    }
  for (const std::string &name : used)
    if (!known.count(name))
      return makeError(ErrorCode::InvalidGraph, "dimension '" + name + "'",
                       "no input or output has an axis of exactly this size, "
                       "so a run cannot know its value",
                       "graph.bind",
                       "give an input such an axis, or make it a number");
  return {};
}

static Status compile(const az_graph *graph, const az_device *device,
                      const az_compile_options *given,
                      az_executable **executable) {
  if (!graph || !device || !executable)
    return invalidCall("az_compile", "an argument is null");
  Result<az_compile_options> options = optionsOf(given, "az_compile");
  if (!options)
    return options.error();
  if (Status status = graph->graph.verify(); !status)
    return status;
  if (Status status = checkBindable(graph->graph); !status)
    return status;
  Result<CompileRequest> request = requestOf(*options, graph->graph);
  if (!request)
    return request.error();
  // An older generation's PTX serves a GPU that its machine code does not.
  if (!device->native)
    request->assembler = "driver";
  if (device->gpu) {
    request->gpuOrdinal = device->gpu->ordinal();
    request->cudaLibrary = device->gpu->driver().library();
    request->driverVersion = device->gpu->driver().versionText();
  }
  // For a device that is here, a plan that does not run is an error at once.
  bool mustRun = device->backend != nullptr;
  PlanCache cache(*request);
  if (std::optional<CachedPlan> hit =
          cache.find(graph->graph, device->target, *request)) {
    Result<std::unique_ptr<az_executable>> made =
        prepareExecutable(std::move(hit->plan), device, options->pool, mustRun);
    // A plan for this very machine that it refuses is a damaged entry: compile.
    // A device in trouble would refuse the next one as well.
    if (!made && (made.error().code == ErrorCode::DeviceLost ||
                  made.error().code == ErrorCode::DriverEnv ||
                  made.error().code == ErrorCode::OutOfMemory))
      return made.error();
    if (made) {
      (*made)->candidates = std::move(hit->candidates);
      (*made)->fromCache = true;
      *executable = made->release();
      return {};
    }
    runtime::log(runtime::LogLevel::Warn,
                 "a cached plan is not used: " + made.error().str());
  }
  Result<const CompilerApi *> compiler =
      compilerOf(*options, "the plan is not in the cache");
  if (!compiler)
    return compiler.error();
  Result<CompiledPlan> compiled =
      (*compiler)->compile(graph->graph, device->target, *request);
  if (!compiled)
    return compiled.error();
  Result<plan::Plan> plan = plan::parse(compiled->plan, "compiled plan");
  if (!plan) {
    Error error = plan.error();
    error.code = ErrorCode::Internal;
    error.hint = "report it with the graph that caused it";
    return error;
  }
  Result<std::unique_ptr<az_executable>> made =
      prepareExecutable(*std::move(plan), device, options->pool, mustRun);
  if (!made)
    return made.error();
  cache.insert(graph->graph, device->target, *request, *compiled);
  (*made)->candidates = std::move(compiled->candidates);
  *executable = made->release();
  return {};
}

az_status az_compile(const az_graph *graph, const az_device *device,
                     const az_compile_options *options,
                     az_executable **executable, az_error **error) {
  return guarded("az_compile", error,
                 [&] { return compile(graph, device, options, executable); });
}

az_status az_emit(const az_graph *graph, const az_device *device,
                  const az_compile_options *given, const char *stage,
                  az_string **text, az_error **error) {
  return guarded("az_emit", error, [&]() -> Status {
    if (!graph || !device || !stage || !text)
      return invalidCall("az_emit", "an argument is null");
    Result<az_compile_options> options = optionsOf(given, "az_emit");
    if (!options)
      return options.error();
    if (Status status = graph->graph.verify(); !status)
      return status;
    Result<CompileRequest> request = requestOf(*options, graph->graph);
    if (!request)
      return request.error();
    Result<const CompilerApi *> compiler =
        compilerOf(*options, "emitting a stage needs the compiler");
    if (!compiler)
      return compiler.error();
    Result<std::string> result =
        (*compiler)->emit(graph->graph, device->target, *request, stage);
    return result ? give(*std::move(result), text) : Status(result.error());
  });
}

az_status az_graph_parse(const char *text, size_t text_size, const char *name,
                         const az_compile_options *given, az_graph **graph,
                         az_error **error) {
  return guarded("az_graph_parse", error, [&]() -> Status {
    if ((!text && text_size > 0) || !graph)
      return invalidCall("az_graph_parse", "an argument is null");
    Result<az_compile_options> options = optionsOf(given, "az_graph_parse");
    if (!options)
      return options.error();
    Result<const CompilerApi *> compiler =
        compilerOf(*options, "reading a graph's text needs the compiler");
    if (!compiler)
      return compiler.error();
    Result<graph::Graph> parsed = (*compiler)->parseGraph(
        std::string_view(text, text_size), name ? name : "graph");
    if (!parsed)
      return parsed.error();
    *graph = new az_graph{*std::move(parsed)};
    return {};
  });
}

az_status az_graph_print(const az_graph *graph, const az_compile_options *given,
                         az_string **text, az_error **error) {
  return guarded("az_graph_print", error, [&]() -> Status {
    if (!graph || !text)
      return invalidCall("az_graph_print", "an argument is null");
    Result<az_compile_options> options = optionsOf(given, "az_graph_print");
    if (!options)
      return options.error();
    Result<const CompilerApi *> compiler =
        compilerOf(*options, "printing a graph needs the compiler");
    if (!compiler)
      return compiler.error();
    Result<std::string> result = (*compiler)->printGraph(graph->graph);
    return result ? give(*std::move(result), text) : Status(result.error());
  });
}

az_status az_cache_info(const az_compile_options *given, az_string **json,
                        az_error **error) {
  return guarded("az_cache_info", error, [&]() -> Status {
    if (!json)
      return invalidCall("az_cache_info", "json is null");
    Result<az_compile_options> options = optionsOf(given, "az_cache_info");
    if (!options)
      return options.error();
    Result<CompileRequest> request = requestOf(*options);
    if (!request)
      return request.error();
    PlanCache cache(*request);
    static constexpr const char *modes[] = {"rw", "ro", "off"};
    llvm::json::Array entries;
    for (const cache::EntryInfo &info : cache.store().list())
      entries.push_back(
          llvm::json::Object{{"kind", cache::kindName(info.kind)},
                             {"key", info.key},
                             {"device", info.device},
                             {"label", llvm::json::fixUTF8(info.label)},
                             {"bytes", info.bytes},
                             {"age_seconds", info.ageSeconds},
                             {"layer", llvm::json::fixUTF8(info.layer)},
                             {"writable", info.writable},
                             {"summary", llvm::json::fixUTF8(info.summary)}});
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(llvm::json::Object{
        {"directory", llvm::json::fixUTF8(request->cacheDir)},
        {"mode", modes[static_cast<int>(request->cacheAccess)]},
        {"memory_only", cache.store().stats().memoryOnly},
        {"read_only_layers", llvm::json::fixUTF8(request->cachePathRo)},
        {"entries", std::move(entries)}});
    return give(std::move(text), json);
  });
}
