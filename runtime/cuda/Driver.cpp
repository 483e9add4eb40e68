//===- Driver.cpp - the CUDA driver, found at run time --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Driver.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <type_traits>

namespace azulejo::runtime::cuda {

// CUDA 12.0: the first whose assembler in the driver knows every PTX version
// that we emit for the generations of Targets.def up to Hopper.
static constexpr int kOldestVersion = 12000;

namespace {
struct Meaning {
  Code value;
  ErrorCode code;
  const char *rule, *hint;
};
constexpr Meaning kMeanings[] = {
#define AZULEJO_CUDA_ERROR(symbol, value, code, rule, hint)                    \
  {value, ErrorCode::code, rule, hint},
#include "runtime/cuda/Driver.def"
};
} // namespace

static const Meaning *meaningOf(Code code) {
  for (const Meaning &meaning : kMeanings)
    if (meaning.value == code)
      return &meaning;
  return nullptr;
}

bool Driver::isLoss(Code code) {
  const Meaning *meaning = code ? meaningOf(code) : nullptr;
  return meaning && meaning->code == ErrorCode::DeviceLost;
}

std::string Driver::textOf(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Error Driver::error(Code code, std::string where,
                    const std::string &doing) const {
  const char *name = nullptr, *text = nullptr;
  if (functions.getErrorName)
    functions.getErrorName(code, &name);
  if (functions.getErrorString)
    functions.getErrorString(code, &text);
  std::string message = doing + ": " + (text ? text : "unknown error") + " (" +
                        (name ? std::string(name) + ", " : "") +
                        std::to_string(code) + ")";
  const Meaning *meaning = meaningOf(code);
  if (!meaning)
    return makeError(ErrorCode::DriverEnv, std::move(where), std::move(message),
                     "cuda.call", "'azulejo doctor' looks at the driver");
  if (meaning->code == ErrorCode::DriverTooOld)
    message += "; the driver is of CUDA " + versionText();
  return makeError(meaning->code, std::move(where), std::move(message),
                   meaning->rule, meaning->hint);
}

Status Driver::load(const std::string &library) {
  path = library.empty() ? "libcuda.so.1" : library;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return makeError(ErrorCode::DriverEnv, "NVIDIA driver",
                     std::string("cannot be loaded: ") +
                         (reason ? reason : path.c_str()),
                     "cuda.noDriver",
                     "install NVIDIA's driver; in a container, let it see the "
                     "host's. CPUs need none");
  }
  const char *missing = nullptr;
  auto find = [&](auto &slot, const char *symbol) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(
        dlsym(handle, symbol));
    return slot != nullptr;
  };
#define AZULEJO_CUDA_FUNCTION(member, symbol, parameters)                      \
  if (!find(functions.member, #symbol) && !missing)                            \
    missing = #symbol;
#define AZULEJO_CUDA_OPTIONAL(member, symbol, parameters)                      \
  find(functions.member, #symbol);
#include "runtime/cuda/Driver.def"
  if (functions.driverGetVersion)
    functions.driverGetVersion(&reported);
  if (missing)
    return makeError(ErrorCode::DriverTooOld, "NVIDIA driver",
                     path + " lacks " + missing +
                         (reported ? " (CUDA " + versionText() + ")" : ""),
                     "cuda.symbol",
                     "update NVIDIA's driver to one of CUDA " +
                         textOf(kOldestVersion) + " or later");
  return {};
}

Status Driver::initialise() {
  if (Code code = functions.init(0))
    return error(code, "NVIDIA driver", "it does not start");
  // Only now: a stub answers no version but says that it is a stub.
  if (reported < kOldestVersion)
    return makeError(ErrorCode::DriverTooOld, "NVIDIA driver",
                     "it is of CUDA " + versionText() + ", at least " +
                         textOf(kOldestVersion) + " is needed",
                     "cuda.tooOld", "update NVIDIA's driver");
  return {};
}

Result<std::shared_ptr<const Driver>> Driver::open(const std::string &library) {
  struct Opened {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const Driver>> byLibrary;
  };
  static Opened *opened = new Opened; // outlives every thread of the driver
  std::lock_guard<std::mutex> lock(opened->mutex);
  std::shared_ptr<const Driver> &entry = opened->byLibrary[library];
  if (entry)
    return entry;
  std::shared_ptr<Driver> driver(new Driver);
  if (Status status = driver->load(library); !status)
    return status.error();
  if (Status status = driver->initialise(); !status)
    return status.error();
  entry = std::move(driver);
  return entry;
}

} // namespace azulejo::runtime::cuda
