//===- ThreadPool.h - threads for CPU launches ------------------*- C++ -*-===//
//
// Persistent threads share the items of whatever jobs are open. A job lives on
// its caller's stack and is linked into a list, so that opening one allocates
// nothing and any number of threads may open jobs at once, also from within a
// body. The caller works on its own job, hence a job always finishes, even
// when every pool thread is busy elsewhere.
//
// Items are handed out in chunks, first come first served. Which thread runs
// an item never changes a result: items are independent.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_RUNTIME_CPU_THREADPOOL_H
#define AZULEJO_RUNTIME_CPU_THREADPOOL_H

#include "runtime/Pool.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace azulejo::runtime {

class ThreadPool : public Pool {
public:
  /// `threads` counts the caller; 0 means the CPUs this process may use. Where
  /// the system refuses a thread, the pool has fewer and warns once.
  explicit ThreadPool(int32_t threads);
  ~ThreadPool() override;

  int32_t workers() const override {
    return static_cast<int32_t>(threads.size()) + 1;
  }
  void parallelFor(int64_t items, Body body, void *context) override;

  /// The CPUs in this process's affinity mask.
  static int32_t usableCpus();

private:
  struct Job {
    Body body;
    void *context;
    int64_t items, chunk;
    std::atomic<int64_t> next{0};
    int32_t helpers = 0; ///< pool threads inside; guarded by mutex
    Job *following = nullptr;
    /// Takes chunks until none is left.
    void work(int32_t worker);
  };

  void threadMain(int32_t worker);
  Job *openJob() const;

  std::mutex mutex;
  std::condition_variable jobOpened, helperLeft;
  Job *jobs = nullptr;
  /// Lets threads look for work for a moment before they sleep.
  std::atomic<uint64_t> openings{0};
  std::atomic<bool> ending{false};
  std::vector<std::thread> threads;
};

/// The application's own threads, through its C callback.
class HostPool : public Pool {
public:
  using ParallelFor = void (*)(void *user, int64_t items, Body body,
                               void *context);
  HostPool(ParallelFor function, void *user, int32_t workerCount)
      : function(function), user(user), workerCount(workerCount) {}
  int32_t workers() const override { return workerCount; }
  void parallelFor(int64_t items, Body body, void *context) override {
    function(user, items, body, context);
  }

private:
  ParallelFor function;
  void *user;
  int32_t workerCount;
};

} // namespace azulejo::runtime

#endif // AZULEJO_RUNTIME_CPU_THREADPOOL_H
