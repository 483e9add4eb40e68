//===- Environment.h - the AZULEJO_ variables -------------------*- C++ -*-===//
//
// The only reader of the environment in both libraries. Options of a call win
// over variables, variables over defaults. A malformed value is an error that
// names the variable; it is never ignored. docs/environment.md is this table.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_ENVIRONMENT_H
#define AZULEJO_FRONTEND_API_ENVIRONMENT_H

#include "azulejo/Error.h"
#include "frontend/api/KernelDebugging.h"
#include "runtime/Log.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace azulejo::api {

enum class CacheSetting { ReadWrite, ReadOnly, Off };

struct Environment {
  std::string cacheDir; ///< AZULEJO_CACHE_DIR, or the user's default place
  CacheSetting cache = CacheSetting::ReadWrite;
  std::string cachePathRo;
  double tuneSeconds = 0;
  runtime::LogLevel logLevel = runtime::LogLevel::Warn;
  int32_t threads = 0; ///< 0: all CPUs this process may use
  std::string device = "cpu";
  std::string compilerPath; ///< empty: beside the library
  std::string workerPath;
  std::string assembler = "auto"; ///< as CompileRequest::assembler
  std::string nvJitLink;          ///< empty: as the system finds it
  std::string ptxas;              ///< empty: there is none
  std::string cudaLibrary;        ///< empty: as the system finds it
  bool checkPointers = false;     ///< what runs on GPUs do that do not say
  KernelDebugging debugKernels;
};

struct Variable {
  const char *name;
  const char *meaning;
};

std::span<const Variable> variables();
/// The value of one of them, if set.
std::optional<std::string> valueOf(const Variable &variable);

/// Reads and checks all of them.
Result<Environment> readEnvironment();

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_ENVIRONMENT_H
