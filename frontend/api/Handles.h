//===- Handles.h - what the opaque handles hold -----------------*- C++ -*-===//
//
// And the frame of every entry point: `guarded` runs the body, turns its
// Status into an az_status with an az_error, and lets no exception out.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_API_HANDLES_H
#define AZULEJO_FRONTEND_API_HANDLES_H

#include "azulejo/c/azulejo.h"
#include "frontend/api/CompilerEntry.h"
#include "frontend/graph/Graph.h"
#include "ir/target/TargetDesc.h"
#include "runtime/Executable.h"
#include "runtime/Pool.h"
#include "runtime/cuda/CudaDevice.h"

#include <exception>
#include <memory>
#include <new>
#include <string>

struct az_error {
  azulejo::Error error;
};
struct az_string {
  std::string text;
};
struct az_graph {
  azulejo::graph::Graph graph;
};
struct az_device {
  azulejo::target::TargetDesc target;
  std::string name; ///< as it was opened: "cpu", "cuda:0", "h200"
  /// Null for a device that is not of this machine: it can be compiled for.
  std::shared_ptr<azulejo::runtime::Device> memory;
  std::shared_ptr<const azulejo::runtime::Backend> backend;
  /// The same as `memory`, if it is a GPU.
  std::shared_ptr<azulejo::runtime::cuda::CudaDevice> gpu;
  /// Whether it runs machine code for target.arch; else it takes PTX.
  bool native = true;
};
struct az_pool {
  std::unique_ptr<azulejo::runtime::Pool> pool;
};
struct az_executable {
  azulejo::plan::Plan plan; ///< what save and explain show
  /// Where it runs. Keeps the backend alive, so it stands before `runnable`.
  std::optional<az_device> device;
  /// Null when this machine cannot run the plan; then `refusal` says why.
  std::unique_ptr<azulejo::runtime::Executable> runnable;
  azulejo::Error refusal;
  az_pool *pool = nullptr; ///< the caller's default, or null
  std::string candidates = "[]";
  bool fromCache = false;
  bool checkPointers = false; ///< what runs do that do not say
  /// Of az_analyse only: one per launch, and the device it was asked about.
  std::vector<azulejo::api::KernelAnalysis> analysis;
  std::optional<azulejo::target::TargetDesc> target;
};

namespace azulejo::api {

/// A malformed call; `where` is the function.
inline Error invalidCall(const char *where, std::string message) {
  return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                   "api.argument",
                   "the header that declares the function says what it takes");
}

/// Hands `error` to the caller, if it wants it.
az_status report(Error error, az_error **out);

template <typename Fn>
az_status guarded(const char *where, az_error **error, Fn &&body) {
  try {
    Status status = body();
    return status ? AZ_OK : report(status.error(), error);
  } catch (const std::bad_alloc &) {
    return report(makeError(ErrorCode::OutOfMemory, where,
                            "the host's memory is exhausted", "api.memory",
                            "free memory and try again"),
                  error);
  } catch (const std::exception &exception) {
    return report(makeError(ErrorCode::Internal, where, exception.what(),
                            "api.exception",
                            "report it with the graph that caused it"),
                  error);
  }
}

/// Makes an az_string for the caller.
inline Status give(std::string text, az_string **out) {
  *out = new az_string{std::move(text)};
  return {};
}

/// The pool of a run: the given one, the executable's, or the shared one.
runtime::Pool &poolFor(const az_pool *given, const az_executable &executable);

} // namespace azulejo::api

#endif // AZULEJO_FRONTEND_API_HANDLES_H
