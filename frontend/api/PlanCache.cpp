//===- PlanCache.cpp - plans found without a compiler ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/PlanCache.h"

#include "frontend/api/BuildId.h"
#include "frontend/api/TypicalSizes.h"
#include "runtime/Log.h"

#include "llvm/Config/llvm-config.h"

#include <map>
#include <mutex>
#include <set>

namespace azulejo::api {

static std::vector<std::string> splitPath(const std::string &path) {
  std::vector<std::string> parts;
  std::string part;
  for (char c : path + ":") {
    if (c != ':') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(part);
      part.clear();
    }
  }
  return parts;
}

bool isNews(const CompileRequest &request, const Error &error) {
  struct Told {
    std::mutex mutex;
    std::set<std::string> places;
  };
  static Told *told = new Told;
  if (error.code != ErrorCode::CacheEnv)
    return true;
  // The directory stands for its files.
  const std::string &root = request.cacheDir;
  bool inRoot = !root.empty() &&
                (error.where == root || error.where.starts_with(root + "/"));
  std::lock_guard<std::mutex> lock(told->mutex);
  return told->places.insert(inRoot ? request.cacheDir : error.where).second;
}

static void warn(const CompileRequest &request, const Error &error) {
  if (isNews(request, error))
    runtime::log(runtime::LogLevel::Warn, error.str());
}

PlanCache::PlanCache(const CompileRequest &request) {
  struct Stores {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<cache::Store>> byPlace;
  };
  static Stores *stores = new Stores;
  std::string place = std::to_string(static_cast<int>(request.cacheAccess)) +
                      '\0' + request.cacheDir + '\0' + request.cachePathRo;
  std::lock_guard<std::mutex> lock(stores->mutex);
  std::shared_ptr<cache::Store> &entry = stores->byPlace[place];
  if (!entry) {
    cache::CacheOptions options;
    if (!request.cacheDir.empty())
      options.root = request.cacheDir;
    options.readOnlyLayers = splitPath(request.cachePathRo);
    options.mode =
        request.cacheAccess == CacheAccess::ReadWrite  ? cache::Mode::ReadWrite
        : request.cacheAccess == CacheAccess::ReadOnly ? cache::Mode::ReadOnly
                                                       : cache::Mode::Off;
    options.log = [request](const Error &error) { warn(request, error); };
    if (!options.root && options.mode == cache::Mode::ReadWrite)
      warn(request,
           makeError(ErrorCode::CacheEnv, "cache directory",
                     "there is none: neither HOME nor XDG_CACHE_HOME is set, "
                     "and what is compiled is kept in memory only",
                     "cache.directory", "set AZULEJO_CACHE_DIR or HOME"));
    entry = std::make_shared<cache::Store>(cache::Store::open(options));
  }
  shared = entry;
}

cache::Key PlanCache::keyOf(const graph::Graph &graph,
                            const target::TargetDesc &target,
                            const CompileRequest &request, bool tuned) {
  // A CPU plan is the same whatever kernels for GPUs are like. Which assembler
  // "auto" finds is not looked up on a hit: code of either runs.
  bool gpu = target.kind == target::Kind::Gpu;
  std::string assembler =
      !gpu ? "" : request.assembler + (request.ptxas.empty() ? "" : "+ptxas");
  cache::PlanKey key;
  key.graph = graph.canonical();
  key.options = std::string("fusion=") + (request.allowFusion ? "1" : "0") +
                " tuned=" + (tuned ? "1" : "0") +
                " threads=" + std::to_string(request.threads) +
                " assembler=" + assembler +
                " debug=" + (gpu ? textOf(request.debugKernels) : "") +
                " variants=" + std::to_string(request.maxVariants) +
                " pin=" + request.pin;
  key.contracts = std::string("deterministic=") +
                  (request.deterministic ? "1" : "0") +
                  " batchInvariant=" + (request.batchInvariant ? "1" : "0") +
                  " strict=" + (request.strict ? "1" : "0");
  // A plan serves the whole range of its dimensions; its schedules follow the
  // sizes that runs mostly have, or the range.
  key.shapeBuckets =
      request.typicalSizes.empty() ? "range" : textOf(request.typicalSizes);
  // One class of each exists: any strides, any alignment, and 64-bit offsets.
  key.layoutClasses = "any";
  key.alignmentClasses = "any";
  key.sizeClass = "64";
  key.targetArch = target.arch;
  key.cpuFeatures = target.features.empty() ? "none" : target.features;
  key.silicon = target.siliconKey();
  key.compilerBuildId = buildId();
  key.llvmVersion = LLVM_VERSION_STRING;
  key.productVersion = version();
  key.label = graph.outputs().empty() ? "" : graph.outputs()[0].name;
  return key.key();
}

// An entry: the plan's size in 8 bytes, the plan, the candidates.
static std::string packed(const CompiledPlan &compiled) {
  std::string payload;
  for (int i = 0; i < 8; ++i)
    payload += static_cast<char>(compiled.plan.size() >> (8 * i) & 0xff);
  return payload + compiled.plan + compiled.candidates;
}

static Result<CachedPlan> unpacked(const std::string &payload) {
  uint64_t size = 0;
  for (size_t i = 0; i < 8 && i < payload.size(); ++i)
    size |= uint64_t{static_cast<unsigned char>(payload[i])} << (8 * i);
  if (payload.size() < 8 || size > payload.size() - 8)
    return makeError(
        ErrorCode::CacheRejected, "plan cache", "the entry is too short",
        "cache.entry",
        "it is compiled again; azulejo cache verify finds such entries");
  CachedPlan found;
  found.bytes = payload.substr(8, size);
  found.candidates = payload.substr(8 + size);
  Result<plan::Plan> plan = plan::parse(found.bytes, "plan cache");
  if (!plan)
    return plan.error();
  found.plan = *std::move(plan);
  return found;
}

std::optional<CachedPlan> PlanCache::find(const graph::Graph &graph,
                                          const target::TargetDesc &target,
                                          const CompileRequest &request) {
  for (bool tuned : {true, false}) {
    if (!tuned && request.tuneSeconds > 0)
      break;
    cache::Key key = keyOf(graph, target, request, tuned);
    std::optional<std::string> payload = shared->load(key);
    if (!payload)
      continue;
    Result<CachedPlan> found = unpacked(*payload);
    if (found)
      return *std::move(found);
    shared->discard(key, found.error().str());
  }
  return std::nullopt;
}

void PlanCache::insert(const graph::Graph &graph,
                       const target::TargetDesc &target,
                       const CompileRequest &request,
                       const CompiledPlan &compiled) {
  // A tuning that was cut short is better than none, and may be taken up again.
  bool tuned = request.tuneSeconds > 0 && compiled.final;
  shared->store(keyOf(graph, target, request, tuned), packed(compiled));
}

} // namespace azulejo::api
