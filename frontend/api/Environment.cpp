//===- Environment.cpp - the AZULEJO_ variables ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Environment.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <unistd.h>

namespace azulejo::api {

static const Variable kVariables[] = {
    {"AZULEJO_CACHE_DIR", "cache directory; default $XDG_CACHE_HOME/azulejo, "
                          "else ~/.cache/azulejo"},
    {"AZULEJO_CACHE", "rw (default), ro or off"},
    {"AZULEJO_CACHE_PATH_RO", "colon list of read-only cache layers"},
    {"AZULEJO_TUNE", "off (default), quick (5 s) or full (60 s)"},
    {"AZULEJO_TUNE_BUDGET_S", "seconds of tuning, instead of AZULEJO_TUNE's"},
    {"AZULEJO_LOG", "error, warn (default), info or debug"},
    {"AZULEJO_NUM_THREADS", "threads of CPU kernels; default: all usable CPUs"},
    {"AZULEJO_DEVICE", "default device; cpu (default), cuda, cuda:1, cpu-avx2, "
                       "h200, ..."},
    {"AZULEJO_COMPILER", "path of the compiler library"},
    {"AZULEJO_WORKER", "path of the azulejo-worker program"},
    {"AZULEJO_ASSEMBLER", "what assembles GPU code: auto (default), nvjitlink, "
                          "ptxas or driver"},
    {"AZULEJO_NVJITLINK", "path of the library nvJitLink; default: as the "
                          "system finds it"},
    {"AZULEJO_PTXAS", "path of the program ptxas, which is then used; default: "
                      "ptxas on PATH, where there is no nvJitLink"},
    {"AZULEJO_CUDA_LIBRARY", "path of NVIDIA's driver library; default: "
                             "libcuda.so.1 as the system finds it"},
    {"AZULEJO_CHECK_POINTERS", "on or off (default): whether runs on a GPU ask "
                               "the driver about pointers and the stream"},
    {"AZULEJO_DEBUG_KERNELS", "kernels for GPUs that find their own bugs: off "
                              "(default), waits, delays=SEED or both"},
};

std::span<const Variable> variables() { return kVariables; }

static std::string get(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::optional<std::string> valueOf(const Variable &variable) {
  const char *value = std::getenv(variable.name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

static Error malformed(const char *name, const std::string &value,
                       const char *hint) {
  return makeError(ErrorCode::InvalidArgument, name,
                   "the value '" + value + "' is not understood", "env.value",
                   hint);
}

/// The index of `value` among `choices`, 0 for an empty value.
static Result<size_t> choose(const char *name,
                             std::span<const char *const> choices,
                             const char *hint) {
  std::string value = get(name);
  if (value.empty())
    return size_t{0};
  for (size_t i = 0; i < choices.size(); ++i)
    if (value == choices[i])
      return i;
  return malformed(name, value, hint);
}

/// AZULEJO_PTXAS, or the first program of that name on PATH; may be empty.
static std::string findPtxas() {
  if (std::string given = get("AZULEJO_PTXAS"); !given.empty())
    return given;
  std::string path = get("PATH");
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string program = path.substr(begin, end - begin) + "/ptxas";
    if (end > begin && access(program.c_str(), X_OK) == 0)
      return program;
    begin = end + 1;
  }
  return {};
}

/// A path that is named says what is wanted, too.
static Status readAssembler(Environment &env) {
  static constexpr const char *kNames[] = {"", "auto", "nvjitlink", "ptxas",
                                           "driver"};
  Result<size_t> name = choose("AZULEJO_ASSEMBLER", kNames,
                               "use auto, nvjitlink, ptxas or driver");
  if (!name)
    return name.error();
  env.nvJitLink = get("AZULEJO_NVJITLINK");
  env.ptxas = findPtxas();
  if (*name > 0)
    env.assembler = kNames[*name];
  else if (env.nvJitLink.empty() && !get("AZULEJO_PTXAS").empty())
    env.assembler = "ptxas";
  return {};
}

static Status readTuning(Environment &env) {
  static constexpr const char *kTune[] = {"off", "quick", "full"};
  static constexpr double kSeconds[] = {0, 5, 60};
  Result<size_t> tune = choose("AZULEJO_TUNE", kTune, "use off, quick or full");
  if (!tune)
    return tune.error();
  env.tuneSeconds = kSeconds[*tune];
  std::string budget = get("AZULEJO_TUNE_BUDGET_S");
  if (budget.empty())
    return {};
  char *end = nullptr;
  env.tuneSeconds = std::strtod(budget.c_str(), &end);
  if (*end || !(env.tuneSeconds >= 0 && env.tuneSeconds <= 1e6))
    return malformed("AZULEJO_TUNE_BUDGET_S", budget,
                     "use a number of seconds, 0 to 1000000");
  return {};
}

static Status readThreads(Environment &env) {
  std::string threads = get("AZULEJO_NUM_THREADS");
  if (threads.empty())
    return {};
  char *end = nullptr;
  long count = std::strtol(threads.c_str(), &end, 10);
  if (*end || count < 1 || count > 4096)
    return malformed("AZULEJO_NUM_THREADS", threads, "use 1 to 4096");
  env.threads = static_cast<int32_t>(count);
  return {};
}

Result<Environment> readEnvironment() {
  Environment env;
  env.cacheDir = get("AZULEJO_CACHE_DIR");
  if (env.cacheDir.empty()) {
    std::string xdg = get("XDG_CACHE_HOME"), home = get("HOME");
    // A relative XDG path is to be ignored, says its specification.
    if (!xdg.empty() && xdg[0] == '/')
      env.cacheDir = xdg + "/azulejo";
    else if (!home.empty())
      env.cacheDir = home + "/.cache/azulejo";
  }
  static constexpr const char *kCache[] = {"rw", "ro", "off"};
  Result<size_t> cache = choose("AZULEJO_CACHE", kCache, "use rw, ro or off");
  if (!cache)
    return cache.error();
  env.cache = static_cast<CacheSetting>(*cache);
  env.cachePathRo = get("AZULEJO_CACHE_PATH_RO");
  if (Status status = readTuning(env); !status)
    return status.error();
  static constexpr const char *kLog[] = {"", "error", "warn", "info", "debug"};
  Result<size_t> level =
      choose("AZULEJO_LOG", kLog, "use error, warn, info or debug");
  if (!level)
    return level.error();
  if (*level > 0)
    env.logLevel = static_cast<runtime::LogLevel>(*level - 1);
  if (Status status = readThreads(env); !status)
    return status.error();
  if (std::string device = get("AZULEJO_DEVICE"); !device.empty())
    env.device = device;
  env.compilerPath = get("AZULEJO_COMPILER");
  env.workerPath = get("AZULEJO_WORKER");
  if (Status status = readAssembler(env); !status)
    return status.error();
  env.cudaLibrary = get("AZULEJO_CUDA_LIBRARY");
  static constexpr const char *kSwitch[] = {"off", "on"};
  Result<size_t> check =
      choose("AZULEJO_CHECK_POINTERS", kSwitch, "use on or off");
  if (!check)
    return check.error();
  env.checkPointers = *check != 0;
  static constexpr char kDebug[] = "AZULEJO_DEBUG_KERNELS";
  Result<KernelDebugging> debug =
      parseKernelDebugging(get(kDebug), kDebug, "env.value");
  if (!debug)
    return debug.error();
  env.debugKernels = *debug;
  return env;
}

} // namespace azulejo::api
