//===- ProcessTest.cpp - many processes, some of them killed --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace azulejo::cache {
namespace {

using namespace testing;

/// Memory that parent and children share.
struct Shared {
  std::atomic<int> go{0}, count{0}, acknowledged{0}, bad{0};
  static Shared *make() {
    void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return new (memory) Shared;
  }
};

template <typename Body> pid_t spawn(Body body) {
  pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  return child;
}

// Starts all bodies at one moment; returns how many did not exit with 0.
template <typename Body>
int runTogether(int processes, Shared *shared, Body body) {
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i)
    children.push_back(spawn([&] {
      while (!shared->go)
        std::this_thread::yield();
      body(i);
    }));
  shared->go = 1;
  int failures = 0;
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failures += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  return failures;
}

std::string payloadOf(int i) {
  return "payload " + std::to_string(i) + std::string(300 + i % 1000, 'x');
}

Key keyOf(int i) { return planKey("graph " + std::to_string(i)).key(); }

TEST(Process, ManyAppendToOneKeyAndLoseNothing) {
  ScratchDir dir;
  Shared *shared = Shared::make();
  Key key = tuningKey("r").key();
  constexpr int processes = 64, each = 3;
  int failures = runTogether(processes, shared, [&](int i) {
    CacheOptions options = optionsFor(dir.root());
    options.lockWaitMs = 120000;
    Store store = Store::open(options);
    for (int j = 0; j < each; ++j)
      store.appendTrials(
          key,
          std::vector{trial(std::to_string(i) + "." + std::to_string(j), 1)});
    shared->bad += static_cast<int>(store.stats().troubles);
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(shared->bad, 0);
  Store store = Store::open(optionsFor(dir.root()));
  EXPECT_EQ(store.loadTuning(key).trials.size(), size_t(processes * each));
  EXPECT_TRUE(filesNamed(dir.root(), ".tmp-").empty());
  EXPECT_TRUE(filesNamed(dir.root(), ".lock").empty());
}

TEST(Process, OneTunesAndTheOthersWait) {
  ScratchDir dir;
  Shared *shared = Shared::make();
  Key key = tuningKey("r").key();
  int failures = runTogether(16, shared, [&](int) {
    Store store = Store::open(optionsFor(dir.root()));
    auto lock = store.lockForTuning(key, 60000);
    if (!lock)
      ::_exit(1);
    if (store.loadTuning(key).empty()) {
      ++shared->count;
      store.appendTrials(key, std::vector{trial("s", 1)});
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(shared->count, 1);
}

// Also the test of unique temporaries: every process seeds alike, all store
// the same key at once.
TEST(Process, ManyStoreTheSameKey) {
  ScratchDir dir;
  Shared *shared = Shared::make();
  int failures = runTogether(32, shared, [&](int) {
    std::srand(0);
    Store store = Store::open(optionsFor(dir.root()));
    store.store(keyOf(1), payloadOf(1));
    if (store.stats().troubles || store.load(keyOf(1)) != payloadOf(1))
      ::_exit(1);
  });
  EXPECT_EQ(failures, 0);
  Store store = Store::open(optionsFor(dir.root()));
  EXPECT_EQ(store.load(keyOf(1)), payloadOf(1));
  EXPECT_EQ(store.list().size(), 1u);
  EXPECT_TRUE(filesNamed(dir.root(), ".tmp-").empty());
}

TEST(Process, DifferentKeysAllArrive) {
  ScratchDir dir;
  Shared *shared = Shared::make();
  int failures = runTogether(16, shared, [&](int i) {
    Store store = Store::open(optionsFor(dir.root()));
    for (int j = 0; j < 25; ++j)
      store.store(keyOf(i * 25 + j), payloadOf(i * 25 + j));
    if (store.stats().troubles)
      ::_exit(1);
  });
  EXPECT_EQ(failures, 0);
  Store store = Store::open(optionsFor(dir.root()));
  for (int i = 0; i < 400; ++i)
    ASSERT_EQ(store.load(keyOf(i)), payloadOf(i)) << i;
}

TEST(Process, ConstantEvictionHurtsNobody) {
  ScratchDir dir;
  Shared *shared = Shared::make();
  constexpr int processes = 12, largestEntry = 4096;
  constexpr int64_t limit = 64 << 10;
  int failures = runTogether(processes, shared, [&](int i) {
    CacheOptions options = optionsFor(dir.root());
    options.limitBytes = limit;
    for (int j = 0; j < 60; ++j) {
      // A new store each time, so that answers come from the disk.
      Store store = Store::open(options);
      int n = (i * 37 + j) % 200;
      auto found = store.load(keyOf(n));
      if (found && *found != payloadOf(n))
        ::_exit(1);
      store.store(keyOf(n), payloadOf(n));
      if (store.load(keyOf(n)) != payloadOf(n) || store.stats().troubles ||
          store.stats().rejected)
        ::_exit(2);
      if (bytesBelow(dir.root()) > limit + processes * largestEntry)
        ++shared->bad;
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(shared->bad, 0);
  EXPECT_LE(bytesBelow(dir.root()), limit + processes * largestEntry);
  EXPECT_TRUE(Store::open(optionsFor(dir.root())).verify().problems.empty());
}

// One child stores, appends and evicts until it is killed at a random moment.
// Acknowledged work is there afterwards, and nothing is damaged.
void killRound(int round, Shared *shared, std::mt19937 &random) {
  ScratchDir dir;
  bool evicting = round % 2;
  CacheOptions options = optionsFor(dir.root());
  if (evicting)
    options.limitBytes = 16 << 10;
  Key tuning = tuningKey("r").key();
  shared->acknowledged = 0;
  pid_t child = spawn([&] {
    Store store = Store::open(options);
    for (int i = 0;; ++i) {
      store.store(keyOf(i % 40), payloadOf(i % 40));
      store.appendTrials(tuning, std::vector{trial(std::to_string(i), 1)});
      shared->acknowledged = i + 1;
    }
  });
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  Log log;
  CacheOptions after = optionsFor(dir.root(), &log);
  Store store = Store::open(after);
  auto begin = std::chrono::steady_clock::now();
  store.appendTrials(tuning, std::vector{trial("after", 1)});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  for (int i = 0; i < 40; ++i) {
    auto found = store.load(keyOf(i));
    EXPECT_TRUE(!found || *found == payloadOf(i));
    EXPECT_TRUE(found || evicting || i >= shared->acknowledged)
        << "round " << round << " entry " << i;
  }
  TuningEntry trials = store.loadTuning(tuning);
  for (int i = 0; !evicting && i < shared->acknowledged; ++i)
    EXPECT_EQ(trials.trials.count(std::to_string(i)), 1u) << i;
  EXPECT_TRUE(store.verify().problems.empty());
  EXPECT_TRUE(log.errors.empty()) << log.text();
}

TEST(Process, KilledAtRandomMoments) {
  Shared *shared = Shared::make();
  std::mt19937 random(20240607);
  for (int round = 0; round < 200 && !HasFailure(); ++round)
    killRound(round, shared, random);
}

TEST(Process, LockOfADeadOwnerIsFree) {
  ScratchDir dir;
  Shared *shared = Shared::make();
  Key key = tuningKey("r").key();
  pid_t child = spawn([&] {
    Store store = Store::open(optionsFor(dir.root()));
    auto lock = store.lockForTuning(key, 0);
    shared->go = lock ? 1 : 2;
    for (;;)
      ::pause();
  });
  while (!shared->go)
    std::this_thread::yield();
  ASSERT_EQ(shared->go, 1);
  Store store = Store::open(optionsFor(dir.root()));
  EXPECT_FALSE(store.lockForTuning(key, 0));
  EXPECT_FALSE(store.lockForTuning(key, 50));
  EXPECT_TRUE(store.lockForTuning(tuningKey("other").key(), 0));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(store.lockForTuning(key, 5000));
  EXPECT_TRUE(store.lockForTuning(key, 0));
}

} // namespace
} // namespace azulejo::cache
