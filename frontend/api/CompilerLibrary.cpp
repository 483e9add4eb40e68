//===- CompilerLibrary.cpp - finding the compiler on a miss ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/CompilerLibrary.h"

#include "frontend/api/BuildId.h"

#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>

namespace azulejo::api {

static constexpr const char *kFileName = "libazulejo-compiler.so";

/// The library beside the code of this function: in the same folder when this
/// is libazulejo.so, in ../lib when it is linked into a program of the build.
static std::string installedPath() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void *>(&installedPath), &info) ||
      !info.dli_fname)
    return kFileName;
  std::error_code ignored;
  std::filesystem::path folder =
      std::filesystem::path(info.dli_fname).parent_path();
  for (const char *step : {"", "../lib"})
    if (std::filesystem::exists(folder / step / kFileName, ignored))
      return (folder / step / kFileName).string();
  return (folder / kFileName).string();
}

namespace {
struct Loaded {
  std::mutex mutex;
  std::map<std::string, const CompilerApi *> byPath;
};
} // namespace

static Loaded &loaded() {
  static Loaded *instance = new Loaded;
  return *instance;
}

bool isCompilerLoaded() {
  std::lock_guard<std::mutex> lock(loaded().mutex);
  return !loaded().byPath.empty();
}

Result<const CompilerApi *> loadCompiler(const std::string &path,
                                         const std::string &purpose) {
  std::string file = path.empty() ? installedPath() : path;
  std::lock_guard<std::mutex> lock(loaded().mutex);
  if (auto it = loaded().byPath.find(file); it != loaded().byPath.end())
    return it->second;
  auto fail = [&](std::string message, const char *rule, const char *hint) {
    return makeError(ErrorCode::Toolchain, "compiler library '" + file + "'",
                     purpose + ", and " + std::move(message), rule, hint);
  };
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return fail("it cannot be loaded: " +
                    std::string(reason ? reason : "no reason is given"),
                "compiler.missing",
                "install the compiler component, or set AZULEJO_COMPILER or "
                "the option compiler_path, or ship a cache that has the plan");
  }
  auto entry =
      reinterpret_cast<CompilerApiFn>(dlsym(handle, CompilerApi::kSymbol));
  const CompilerApi *api =
      entry ? entry(CompilerApi::kAbi, buildId()) : nullptr;
  if (!api || api->abi != CompilerApi::kAbi ||
      std::string_view(api->buildId) != buildId()) {
    dlclose(handle);
    return fail(entry ? "it is of another build than this library (" +
                            std::string(buildId()) + ")"
                      : "it is not azulejo's compiler library",
                "compiler.build", "install both libraries from one build");
  }
  loaded().byPath[file] = api;
  return api;
}

} // namespace azulejo::api
