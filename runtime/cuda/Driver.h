//===- Driver.h - the CUDA driver, found at run time ------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CUDA_DRIVER_H
#define AZULEJO_RUNTIME_CUDA_DRIVER_H

#include "azulejo/Error.h"
#include "runtime/cuda/CudaApi.h"

#include <memory>
#include <string>

namespace azulejo::runtime::cuda {

/// A loaded libcuda. It stays loaded: the driver runs threads of its own.
class Driver {
public:
  /// Opens the library (empty: libcuda.so.1 as the system finds it), resolves
  /// every function and initialises it. What is open already is shared; a
  /// failure is not kept, so that a later call may succeed.
  ///
  /// Errors: DriverEnv where there is none or it refuses, DriverTooOld where
  /// it lacks something.
  static Result<std::shared_ptr<const Driver>> open(const std::string &library);

  const CudaApi &api() const { return functions; }
  /// As the driver reports it: 12040 for 12.4.
  int version() const { return reported; }
  std::string versionText() const { return textOf(reported); }
  const std::string &library() const { return path; }

  /// What a failed call means, in our taxonomy. `where` names the thing that
  /// the call was about, `doing` what it was for.
  Error error(Code code, std::string where, const std::string &doing) const;
  Status check(Code code, const char *where, const char *doing) const {
    return code == 0 ? Status() : Status(error(code, where, doing));
  }
  /// Whether after this code the context answers nothing any more.
  static bool isLoss(Code code);

private:
  Driver() = default;
  static std::string textOf(int version);
  Status load(const std::string &library);
  Status initialise();

  CudaApi functions;
  std::string path;
  int reported = 0;
};

} // namespace azulejo::runtime::cuda

#endif // AZULEJO_RUNTIME_CUDA_DRIVER_H
