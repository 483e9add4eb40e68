//===- InParallel.h - the same work on many items ---------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_INPARALLEL_H
#define AZULEJO_FRONTEND_DRIVER_INPARALLEL_H

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace azulejo::driver {

/// Calls work(0) to work(count - 1), each once, on at most `threads` threads,
/// the caller's among them; returns when all are done. Calls for different
/// items run at the same time.
template <typename Work>
void inParallel(size_t count, int threads, const Work &work) {
  std::atomic<size_t> next{0};
  auto drain = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      work(i);
  };
  std::vector<std::thread> helpers;
  size_t wanted = std::min<size_t>(std::max(threads, 1), count);
  for (size_t i = 1; i < wanted; ++i)
    helpers.emplace_back(drain);
  drain();
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_INPARALLEL_H
