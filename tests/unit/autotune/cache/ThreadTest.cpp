//===- ThreadTest.cpp - one store, many threads ---------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace azulejo::cache {
namespace {

using namespace testing;

TEST(Thread, ManyShareOneStore) {
  ScratchDir dir;
  Log log;
  CacheOptions options = optionsFor(dir.root(), &log);
  options.limitBytes = 256 << 10;
  options.touchAfterSeconds = 0;
  options.lockWaitMs = 120000;
  Store store = Store::open(options);
  Key tuning = tuningKey("r").key();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j) {
        int n = (i + j) % 16;
        Key key = planKey(std::to_string(n)).key();
        std::string payload(1000 + n, 'a' + n);
        auto found = store.load(key);
        wrong += found && *found != payload;
        store.store(key, payload);
        wrong += store.load(key) != payload;
        store.appendTrials(
            tuning,
            std::vector{trial(std::to_string(i) + "." + std::to_string(j), 1)});
        if (j == 5) {
          (void)store.list();
          (void)store.trim();
          (void)store.stats();
          (void)store.lockForTuning(tuning, 0);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store.loadTuning(tuning).trials.size(), 320u);
  EXPECT_EQ(
      Store::open(optionsFor(dir.root())).loadTuning(tuning).trials.size(),
      320u);
  EXPECT_TRUE(log.errors.empty()) << log.text();
  EXPECT_TRUE(store.verify().problems.empty());
}

} // namespace
} // namespace azulejo::cache
