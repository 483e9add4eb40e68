//===- FaultTest.cpp - every system call fails in turn --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

namespace azulejo::cache {
namespace {

using namespace testing;

const int allErrors[] = {EIO,    ENOSPC, EDQUOT, EACCES, EROFS,
                         ESTALE, EBUSY,  EINTR,  EMFILE};

struct Scenario {
  Key oldPlan = planKey("old").key(), newPlan = planKey("new").key();
  Key tuning = tuningKey("r").key();
  std::string oldBytes = "old payload", newBytes = "new payload";

  void prepare(const std::string &root) {
    HookedFileSystem unsynced;
    unsynced.skipSync = true;
    CacheOptions options = optionsFor(root);
    options.fileSystem = &unsynced;
    Store store = Store::open(options);
    store.store(oldPlan, oldBytes);
    store.appendTrials(tuning, std::vector{trial("s1", 10)});
  }

  // A whole life of a store; every answer must be right or a miss.
  void run(CacheOptions options) {
    Store store = Store::open(options);
    auto found = store.load(oldPlan);
    if (!found)
      store.store(oldPlan, oldBytes);
    EXPECT_EQ(found ? found : store.load(oldPlan), oldBytes);
    store.store(newPlan, newBytes);
    EXPECT_EQ(store.load(newPlan), newBytes);
    EXPECT_TRUE(store.lockForTuning(tuning, 0));
    store.appendTrials(tuning, std::vector{trial("s2", 5)});
    TuningEntry trials = store.loadTuning(tuning);
    EXPECT_EQ(trials.trials.count("s2"), 1u);
    (void)store.trim();
    (void)store.list();
  }

  // What is on disk afterwards is intact, whatever failed.
  void check(const std::string &root) {
    Log log;
    Store store = Store::open(optionsFor(root, &log));
    VerifyReport report = store.verify();
    for (const Error &problem : report.problems)
      ADD_FAILURE() << problem.str();
    auto found = store.load(oldPlan);
    EXPECT_TRUE(!found || *found == oldBytes);
    found = store.load(newPlan);
    EXPECT_TRUE(!found || *found == newBytes);
    EXPECT_EQ(store.loadTuning(tuning).trials.count("s1"), 1u);
    EXPECT_TRUE(log.errors.empty()) << log.text();
  }
};

int64_t countCalls() {
  ScratchDir dir;
  Scenario scenario;
  scenario.prepare(dir.root());
  HookedFileSystem hooked;
  int64_t calls = 0;
  hooked.before = [&](const char *) {
    ++calls;
    return 0;
  };
  CacheOptions options = optionsFor(dir.root());
  options.fileSystem = &hooked;
  options.touchAfterSeconds = 0;
  scenario.run(options);
  return calls;
}

// `lasting` calls fail from the chosen one on.
void failEachCall(int64_t lasting) {
  int64_t calls = countCalls();
  ASSERT_GT(calls, 100);
  for (int error : allErrors)
    for (int64_t at = 0; at < calls; ++at) {
      ScratchDir dir;
      Scenario scenario;
      scenario.prepare(dir.root());
      Log log;
      HookedFileSystem hooked;
      hooked.skipSync = true;
      int64_t call = 0;
      std::string failed;
      hooked.before = [&](const char *name) {
        bool now = call >= at && call < at + lasting;
        ++call;
        if (now && failed.empty())
          failed = name;
        return now ? -error : 0;
      };
      CacheOptions options = optionsFor(dir.root(), &log);
      options.fileSystem = &hooked;
      options.touchAfterSeconds = 0;
      options.lockWaitMs = 50;
      SCOPED_TRACE(failed + " call " + std::to_string(at) + " errno " +
                   std::to_string(error));
      scenario.run(options);
      EXPECT_LE(log.errors.size(), 1u) << failed << "\n" << log.text();
      for (const Error &told : log.errors)
        EXPECT_TRUE(told.rule == "cache.access" ||
                    told.rule == "cache.unusable" || told.rule == "cache.entry")
            << told.str();
      scenario.check(dir.root());
      if (::testing::Test::HasFailure())
        return;
    }
}

TEST(Fault, OneCallFails) { failEachCall(1); }
TEST(Fault, ThreeCallsFail) { failEachCall(3); }
TEST(Fault, EveryLaterCallFails) { failEachCall(INT64_MAX / 2); }

// One failure that a retry heals is not even worth a warning.
TEST(Fault, PassingTroubleIsHealed) {
  for (int error : {ESTALE, EBUSY, EINTR})
    for (const char *call : {"openRead", "readAt", "writeAt", "sync", "rename",
                             "createNew", "openLock", "tryLock", "info"}) {
      ScratchDir dir;
      Scenario scenario;
      scenario.prepare(dir.root());
      Log log;
      HookedFileSystem hooked;
      int left = 2;
      hooked.before = [&](const char *name) {
        return std::string_view(name) == call && left-- > 0 ? -error : 0;
      };
      CacheOptions options = optionsFor(dir.root(), &log);
      options.fileSystem = &hooked;
      scenario.run(options);
      EXPECT_TRUE(log.errors.empty()) << call << " " << log.text();
      Store store = Store::open(optionsFor(dir.root()));
      EXPECT_EQ(store.load(scenario.newPlan), scenario.newBytes);
      EXPECT_EQ(store.loadTuning(scenario.tuning).trials.size(), 2u);
    }
}

TEST(Fault, RetriesAreBounded) {
  for (int error : {ESTALE, EBUSY, EINTR}) {
    ScratchDir dir;
    HookedFileSystem hooked;
    int renames = 0;
    hooked.before = [&](const char *name) {
      bool hit = std::string_view(name) == "rename";
      renames += hit;
      return hit ? -error : 0;
    };
    CacheOptions options = optionsFor(dir.root());
    options.fileSystem = &hooked;
    Store::open(options).store(planKey("a").key(), "p");
    EXPECT_EQ(renames, 3); // the blob's; the entry is not tried without it
  }
}

// A crash of the machine must not leave a name without its bytes.
TEST(Fault, BytesAreSyncedBeforeTheyGetTheirName) {
  ScratchDir dir;
  HookedFileSystem hooked;
  std::vector<std::string> calls;
  hooked.before = [&](const char *name) {
    calls.push_back(name);
    return 0;
  };
  CacheOptions options = optionsFor(dir.root());
  options.fileSystem = &hooked;
  Store store = Store::open(options);
  store.store(planKey("a").key(), "p");
  store.appendTrials(tuningKey("r").key(), std::vector{trial("s", 1)});
  int creates = 0, syncs = 0, renames = 0;
  for (const std::string &call : calls) {
    creates += call == "createNew";
    syncs += call == "sync";
    renames += call == "rename";
    EXPECT_LE(syncs, creates);
    EXPECT_LE(renames, syncs);
  }
  EXPECT_EQ(renames, 3);
  EXPECT_EQ(syncs, 3);
}

// Where a file system has no locks, trials are still kept.
TEST(Fault, LocksMayBeMissing) {
  for (int error : {ENOLCK, EOPNOTSUPP, ENOSYS}) {
    ScratchDir dir;
    Log log;
    HookedFileSystem hooked;
    hooked.before = [&](const char *name) {
      return std::string_view(name) == "tryLock" ? -error : 0;
    };
    CacheOptions options = optionsFor(dir.root(), &log);
    options.fileSystem = &hooked;
    Store store = Store::open(options);
    EXPECT_TRUE(store.lockForTuning(tuningKey("r").key(), 0));
    store.appendTrials(tuningKey("r").key(), std::vector{trial("s", 1)});
    EXPECT_EQ(Store::open(optionsFor(dir.root()))
                  .loadTuning(tuningKey("r").key())
                  .trials.size(),
              1u);
    EXPECT_EQ(log.errors.size(), 1u);
  }
}

// An update that the disk refused is made up for by the next one.
TEST(Fault, RefusedTrialsAreWrittenLater) {
  ScratchDir dir;
  HookedFileSystem hooked;
  bool full = true;
  hooked.before = [&](const char *name) {
    return full && std::string_view(name) == "writeAt" ? -ENOSPC : 0;
  };
  CacheOptions options = optionsFor(dir.root());
  options.fileSystem = &hooked;
  Store store = Store::open(options);
  Key key = tuningKey("r").key();
  store.appendTrials(key, std::vector{trial("s1", 1)});
  EXPECT_TRUE(Store::open(optionsFor(dir.root())).loadTuning(key).empty());
  full = false;
  store.appendTrials(key, std::vector{trial("s2", 1)});
  EXPECT_EQ(Store::open(optionsFor(dir.root())).loadTuning(key).trials.size(),
            2u);
  EXPECT_TRUE(filesNamed(dir.root(), ".tmp-").empty());
}

} // namespace
} // namespace azulejo::cache
