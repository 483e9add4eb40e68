//===- InParallel.h - the same work on many items ---------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_INPARALLEL_H
#define AZULEJO_FRONTEND_DRIVER_INPARALLEL_H

#include "frontend/driver/HelperThreads.h"

#include <algorithm>
#include <atomic>

namespace azulejo::driver {

/// Calls work(0) to work(count - 1), each once, on at most `threads` threads,
/// the caller's among them and fewer where the system refuses some; returns
/// when all are done. Calls for different items run at the same time.
template <typename Work>
void inParallel(size_t count, int threads, const Work &work) {
  std::atomic<size_t> next{0};
  auto drain = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      work(i);
  };
  HelperThreads helpers;
  size_t wanted = std::min<size_t>(std::max(threads, 1), count);
  if (wanted > 1)
    helpers.start(wanted - 1, drain);
  drain();
}

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_INPARALLEL_H
