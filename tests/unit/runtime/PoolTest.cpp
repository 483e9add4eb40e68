//===- PoolTest.cpp - the thread pool -------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cpu/ThreadPool.h"

#include "runtime/Log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace azulejo::runtime;

namespace {

/// Counts visits per item and checks worker numbers.
struct Visits {
  explicit Visits(int64_t items, int32_t workers)
      : counts(items), busy(workers) {}
  static void body(void *opaque, int64_t begin, int64_t end, int32_t worker) {
    auto &self = *static_cast<Visits *>(opaque);
    if (worker < 0 || worker >= static_cast<int32_t>(self.busy.size())) {
      self.bad = true;
      return;
    }
    // Two bodies at once with one number would find it taken.
    if (self.busy[worker].exchange(true))
      self.bad = true;
    for (int64_t i = begin; i < end; ++i)
      ++self.counts[i];
    self.busy[worker] = false;
  }
  bool allOnce() const {
    for (const std::atomic<int> &count : counts)
      if (count != 1)
        return false;
    return !bad;
  }
  std::vector<std::atomic<int>> counts;
  std::vector<std::atomic<bool>> busy;
  std::atomic<bool> bad{false};
};

} // namespace

TEST(ThreadPool, CoversEveryItemOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.workers(), threads);
    for (int64_t items : {0, 1, 2, 3, 64, 1001}) {
      Visits visits(items, threads);
      pool.parallelFor(items, &Visits::body, &visits);
      EXPECT_TRUE(visits.allOnce()) << threads << " threads, " << items;
    }
  }
}

TEST(ThreadPool, OneThreadRunsOnTheCaller) {
  ThreadPool pool(1);
  std::thread::id seen;
  pool.parallelFor(
      5,
      [](void *id, int64_t, int64_t, int32_t) {
        *static_cast<std::thread::id *>(id) = std::this_thread::get_id();
      },
      &seen);
  EXPECT_EQ(seen, std::this_thread::get_id());
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> bad{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 5; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        Visits visits(round % 37, pool.workers());
        pool.parallelFor(round % 37, &Visits::body, &visits);
        bad += !visits.allOnce();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(bad, 0);
}

TEST(ThreadPool, Nests) {
  ThreadPool pool(3);
  struct Outer {
    ThreadPool &pool;
    std::atomic<int> bad{0}, ran{0};
  } outer{pool};
  pool.parallelFor(
      10,
      [](void *opaque, int64_t begin, int64_t end, int32_t) {
        auto &self = *static_cast<Outer *>(opaque);
        for (int64_t i = begin; i < end; ++i) {
          Visits inner(50, self.pool.workers());
          self.pool.parallelFor(50, &Visits::body, &inner);
          self.bad += !inner.allOnce();
          ++self.ran;
        }
      },
      &outer);
  EXPECT_EQ(outer.ran, 10);
  EXPECT_EQ(outer.bad, 0);
}

TEST(ThreadPool, StartsAndStopsWithoutWork) {
  for (int i = 0; i < 20; ++i)
    ThreadPool pool(4);
}

TEST(HostPool, PassesTheCallOn) {
  struct Host {
    int calls = 0;
  } host;
  HostPool pool(
      [](void *user, int64_t items, Pool::Body body, void *context) {
        ++static_cast<Host *>(user)->calls;
        for (int64_t i = items; i-- > 0;)
          body(context, i, i + 1, i % 2);
      },
      &host, 2);
  EXPECT_EQ(pool.workers(), 2);
  Visits visits(9, 2);
  pool.parallelFor(9, &Visits::body, &visits);
  EXPECT_TRUE(visits.allOnce());
  EXPECT_EQ(host.calls, 1);
}

#if !defined(__SANITIZE_THREAD__)
/// Exits with 0 if a pool works in a process that may have no further thread.
/// The limit does not bind a privileged user, so privileges are given up. The
/// leak checker wants a thread at exit, hence _Exit.
static void runWithoutThreads() {
  setLog(
      [](void *, int, const char *message) {
        std::fprintf(stderr, "warned: %s\n", message);
      },
      nullptr, LogLevel::Warn);
  rlimit none{0, 0};
  setrlimit(RLIMIT_NPROC, &none);
  if (getuid() == 0 && setuid(65534) != 0)
    std::exit(2);
  ThreadPool pool(4);
  Visits visits(100, pool.workers());
  pool.parallelFor(100, &Visits::body, &visits);
  std::_Exit(visits.allOnce() && pool.workers() == 1 ? 0 : 1);
}

// In a child, since the limit holds for the whole process.
TEST(ThreadPoolDeathTest, WorksWhereThreadsAreRefused) {
  EXPECT_EXIT(runWithoutThreads(), testing::ExitedWithCode(0),
              "warned: the system gave 0 of 3 threads");
}
#endif
