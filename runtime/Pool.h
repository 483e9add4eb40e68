//===- Pool.h - who runs the items of a CPU launch --------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_POOL_H
#define AZULEJO_RUNTIME_POOL_H

#include <cstdint>

namespace azulejo::runtime {

/// Runs independent work items. Implementations: runtime/cpu/ThreadPool (own
/// threads) and runtime/cpu/HostPool (the application's).
class Pool {
public:
  using Body = void (*)(void *context, int64_t begin, int64_t end,
                        int32_t worker);
  virtual ~Pool() = default;

  /// How many bodies of one parallelFor may run at a time.
  virtual int32_t workers() const = 0;

  /// Covers [0, items) exactly once by calls of `body`, each with a worker
  /// number in [0, workers()) that no other call of this parallelFor has at
  /// the same time; returns when all are done. May be called from several
  /// threads at once and from within a body. Allocates nothing.
  virtual void parallelFor(int64_t items, Body body, void *context) = 0;
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_POOL_H
