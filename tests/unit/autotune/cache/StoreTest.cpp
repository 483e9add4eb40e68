//===- StoreTest.cpp - what a store answers -------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <thread>

namespace azulejo::cache {
namespace {

using namespace testing;

TEST(Store, SecondProcessHits) {
  ScratchDir dir;
  Log log;
  Key plan = planKey("g").key(), other = planKey("d").key();
  std::string payload("bytes \0 and more", 16);
  {
    Store store = Store::open(optionsFor(dir.root(), &log));
    EXPECT_FALSE(store.load(plan));
    store.store(plan, payload);
    store.store(other, "");
    EXPECT_EQ(store.load(plan), payload);
    EXPECT_EQ(store.stats().memoryHits, 1);
  }
  Store store = Store::open(optionsFor(dir.root(), &log));
  EXPECT_EQ(store.load(plan), payload);
  EXPECT_EQ(store.load(other), "");
  EXPECT_EQ(store.stats().diskHits, 2);
  EXPECT_EQ(store.stats().misses, 0);
  EXPECT_EQ(log.errors.size(), 0u) << log.text();
}

TEST(Store, OtherArchitectureMissesAndBothCoexist) {
  ScratchDir dir;
  PlanKey a = planKey("d"), b = planKey("d");
  b.targetArch = "sm_80";
  Store::open(optionsFor(dir.root())).store(a.key(), "nine");
  EXPECT_FALSE(Store::open(optionsFor(dir.root())).load(b.key()));
  Store::open(optionsFor(dir.root())).store(b.key(), "eight");
  Store store = Store::open(optionsFor(dir.root()));
  EXPECT_EQ(store.load(a.key()), "nine");
  EXPECT_EQ(store.load(b.key()), "eight");
}

TEST(Store, TrialsOfSeveralStoresMerge) {
  ScratchDir dir;
  Key key = tuningKey("r").key();
  Store a = Store::open(optionsFor(dir.root()));
  Store b = Store::open(optionsFor(dir.root()));
  a.appendTrials(key, std::vector{trial("s1", 10)});
  b.appendTrials(key, std::vector{trial("s2", 5)});
  a.appendTrials(key, std::vector{trial("s3", 7)});
  EXPECT_EQ(Store::open(optionsFor(dir.root())).loadTuning(key).trials.size(),
            3u);
  EXPECT_EQ(a.loadTuning(key).best()->schedule, "s2");
  EXPECT_TRUE(filesNamed(dir.root(), ".lock").empty());
  EXPECT_TRUE(filesNamed(dir.root(), ".tmp-").empty());
}

TEST(Store, KindsDoNotMix) {
  ScratchDir dir;
  Store store = Store::open(optionsFor(dir.root()));
  Key plan = planKey("g").key(), tuning = tuningKey("r").key();
  store.store(tuning, "x");
  store.appendTrials(plan, std::vector{trial("s", 1)});
  EXPECT_FALSE(store.load(tuning));
  EXPECT_FALSE(store.load(plan));
  EXPECT_TRUE(store.loadTuning(plan).empty());
  EXPECT_TRUE(store.loadTuning(tuning).empty());
}

TEST(Store, ReadOnlyModeChangesNothing) {
  ScratchDir dir;
  Key plan = planKey("g").key();
  Store::open(optionsFor(dir.root())).store(plan, "p");
  auto listing = [&] {
    std::string text;
    for (const auto &item : fs::recursive_directory_iterator(dir.root())) {
      struct stat info;
      ::lstat(item.path().c_str(), &info);
      text += item.path().string() + " " + std::to_string(info.st_mtim.tv_sec) +
              "." + std::to_string(info.st_mtim.tv_nsec) + "\n";
    }
    return text;
  };
  std::string before = listing();
  CacheOptions options = optionsFor(dir.root());
  options.mode = Mode::ReadOnly;
  options.touchAfterSeconds = 0;
  Store store = Store::open(options);
  EXPECT_EQ(store.load(plan), "p");
  store.store(planKey("h").key(), "q");
  store.appendTrials(tuningKey("r").key(), std::vector{trial("s", 1)});
  EXPECT_TRUE(store.lockForTuning(tuningKey("r").key(), 0));
  store.discard(plan, "unloadable");
  EXPECT_EQ(store.load(planKey("h").key()), "q");
  EXPECT_EQ(listing(), before);
  EXPECT_TRUE(store.stats().memoryOnly);
}

TEST(Store, ReadOnlyModeOfNothingIsSilent) {
  ScratchDir dir;
  Log log;
  CacheOptions options = optionsFor(dir.root(), &log);
  options.mode = Mode::ReadOnly;
  EXPECT_FALSE(Store::open(options).load(planKey("g").key()));
  EXPECT_FALSE(fs::exists(dir.root()));
  EXPECT_TRUE(log.errors.empty()) << log.text();
}

TEST(Store, OffIsMemoryOnly) {
  ScratchDir dir;
  CacheOptions options = optionsFor(dir.root());
  options.mode = Mode::Off;
  Store store = Store::open(options);
  store.store(planKey("g").key(), "p");
  EXPECT_EQ(store.load(planKey("g").key()), "p");
  EXPECT_FALSE(fs::exists(dir.root()));
}

TEST(Store, LayersServeBelowTheRoot) {
  ScratchDir vendor, user;
  Key plan = planKey("g").key(), tuning = tuningKey("r").key();
  {
    Store pack = Store::open(optionsFor(vendor.root()));
    pack.store(plan, "vendor");
    pack.appendTrials(tuning, std::vector{trial("packed", 10)});
  }
  CacheOptions options = optionsFor(user.root());
  options.readOnlyLayers = {vendor.root()};
  Store store = Store::open(options);
  EXPECT_EQ(store.load(plan), "vendor");
  EXPECT_EQ(store.stats().layerHits, 1);
  store.appendTrials(tuning, std::vector{trial("own", 5)});
  EXPECT_EQ(store.loadTuning(tuning).trials.size(), 2u);
  // Own records do not copy the vendor's.
  EXPECT_EQ(
      Store::open(optionsFor(user.root())).loadTuning(tuning).trials.size(),
      1u);
  store.store(plan, "own");
  EXPECT_EQ(Store::open(options).load(plan), "own");
}

TEST(Store, DiscardHidesEveryCopyUntilStoredAgain) {
  ScratchDir vendor, user;
  Log log;
  Key other = planKey("d").key();
  Store::open(optionsFor(vendor.root())).store(other, "unloadable");
  CacheOptions options = optionsFor(user.root(), &log);
  options.readOnlyLayers = {vendor.root()};
  Store store = Store::open(options);
  store.store(other, "unloadable");
  store.discard(other, "the driver refuses it");
  EXPECT_FALSE(store.load(other));
  EXPECT_FALSE(fs::exists(entryFile(user.root(), other)));
  EXPECT_EQ(log.count(ErrorCode::CacheRejected), 1u);
  store.store(other, "good");
  EXPECT_EQ(store.load(other), "good");
  EXPECT_EQ(Store::open(options).load(other), "good");
}

TEST(Store, ListShowRemove) {
  ScratchDir dir;
  Store store = Store::open(optionsFor(dir.root()));
  Key a = planKey("a").key(), b = planKey("b").key();
  Key tuning = tuningKey("r").key();
  store.store(a, "same");
  store.store(b, "same");
  store.appendTrials(tuning, std::vector{trial("s1", 10), trial("s2", 12)});
  ASSERT_EQ(store.list().size(), 3u);
  for (const EntryInfo &info : store.list()) {
    EXPECT_TRUE(info.writable);
    EXPECT_GT(info.bytes, 0);
    EXPECT_LT(info.ageSeconds, 60);
    bool isTuning = info.kind == Kind::Tuning;
    EXPECT_EQ(info.label, isTuning ? "" : "rms_norm [64, 1024] f16");
    EXPECT_EQ(info.summary == "2 trials, 2 ok, best 10 ns: s1", isTuning);
  }
  auto shown = store.show(tuning.hex.substr(0, 12));
  ASSERT_TRUE(shown) << shown.error().str();
  EXPECT_EQ(shown->fields, tuning.fields);
  EXPECT_NE(shown->payload.find("\"s2\""), std::string::npos);
  EXPECT_FALSE(store.show(""));
  EXPECT_FALSE(store.show("zz"));

  // The blob is shared: it goes with the last entry that refers to it.
  EXPECT_TRUE(store.remove(a.hex));
  EXPECT_FALSE(store.load(a));
  EXPECT_TRUE(fs::exists(blobFile(dir.root(), a, "same")));
  EXPECT_EQ(Store::open(optionsFor(dir.root())).load(b), "same");
  EXPECT_TRUE(store.remove(b.hex));
  EXPECT_FALSE(fs::exists(blobFile(dir.root(), a, "same")));
  EXPECT_EQ(store.remove(b.hex).error().rule, "cache.key");
}

TEST(Store, VerifyFindsDamage) {
  ScratchDir dir;
  Store store = Store::open(optionsFor(dir.root()));
  Key a = planKey("a").key(), b = planKey("b").key();
  store.store(a, "one");
  store.store(b, "two");
  VerifyReport report = store.verify();
  EXPECT_EQ(report.entries, 2);
  EXPECT_EQ(report.blobs, 2);
  EXPECT_TRUE(report.problems.empty());
  writeFile(blobFile(dir.root(), a, "one"), "onE");
  fs::resize_file(entryFile(dir.root(), b), 10);
  report = store.verify();
  EXPECT_EQ(report.entries, 1);
  EXPECT_EQ(report.blobs, 1);
  EXPECT_EQ(report.problems.size(), 2u);
}

TEST(Store, DamagedBlobIsReplaced) {
  ScratchDir dir;
  Log log;
  Key key = planKey("a").key();
  Store::open(optionsFor(dir.root())).store(key, "payload");
  std::string blob = blobFile(dir.root(), key, "payload");
  for (std::string bad : {"", "p", "paylobd", "payload2"}) {
    writeFile(blob, bad);
    Store store = Store::open(optionsFor(dir.root(), &log));
    EXPECT_FALSE(store.load(key)) << bad;
    EXPECT_EQ(store.stats().rejected, 1);
    store.store(key, "payload");
    EXPECT_EQ(readFile(blob), "payload");
    EXPECT_EQ(Store::open(optionsFor(dir.root())).load(key), "payload");
  }
  fs::remove(blob); // evicted: a plain miss
  Store store = Store::open(optionsFor(dir.root()));
  EXPECT_FALSE(store.load(key));
  EXPECT_EQ(store.stats().rejected, 0);
}

TEST(Store, HitsRenewTheTimeButSeldom) {
  ScratchDir dir;
  Key key = planKey("a").key();
  Store::open(optionsFor(dir.root())).store(key, "p");
  std::string file = entryFile(dir.root(), key);
  auto age = [&](std::chrono::seconds by) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - by);
    return fs::last_write_time(file);
  };
  auto young = age(std::chrono::seconds(1800));
  EXPECT_TRUE(Store::open(optionsFor(dir.root())).load(key));
  EXPECT_EQ(fs::last_write_time(file), young);
  auto old = age(std::chrono::seconds(7200));
  EXPECT_TRUE(Store::open(optionsFor(dir.root())).load(key));
  EXPECT_GT(fs::last_write_time(file), old + std::chrono::seconds(7000));
}

TEST(Store, ForeignFilesAndSchemasAreLeftAlone) {
  ScratchDir dir;
  fs::create_directories(dir.root() + "/v2/sm_90a-0/plan/ab");
  fs::create_directories(dir.root() + "/v1/NOT A DEVICE/plan/ab");
  fs::permissions(dir.root(), fs::perms::owner_all);
  fs::permissions(dir.root() + "/v1", fs::perms::owner_all);
  writeFile(dir.root() + "/v2/sm_90a-0/plan/ab/x.json", "future");
  writeFile(dir.root() + "/v1/NOT A DEVICE/plan/ab/x.json", "other");
  CacheOptions options = optionsFor(dir.root());
  options.limitBytes = 1;
  Store store = Store::open(options);
  store.store(planKey("a").key(), "p");
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(readFile(dir.root() + "/v2/sm_90a-0/plan/ab/x.json"), "future");
  EXPECT_EQ(readFile(dir.root() + "/v1/NOT A DEVICE/plan/ab/x.json"), "other");
}

// Two tunings of one device at a time would measure each other, with a
// directory or without.
TEST(Store, ThreadsTakeTurnsWithoutADirectory) {
  CacheOptions off;
  off.mode = Mode::Off;
  Key key = tuningKey("r").key(), other = tuningKey("s").key();
  Store first = Store::open(off), second = Store::open(off);
  {
    auto mine = first.lockForMeasuring(key, 0);
    ASSERT_TRUE(mine);
    EXPECT_FALSE(second.lockForMeasuring(key, 0));
    EXPECT_FALSE(second.lockForMeasuring(key, 20));
    EXPECT_TRUE(second.lockForMeasuring(other, 0));
    std::optional<TuneLock> theirs;
    std::thread waiting([&] { theirs = second.lockForMeasuring(key, 60000); });
    mine.reset();
    waiting.join();
    EXPECT_TRUE(theirs);
    EXPECT_FALSE(first.lockForMeasuring(key, 0));
  }
  EXPECT_TRUE(first.lockForMeasuring(key, 0));
  // Who tunes waits for what the other one finds, which is nowhere to be seen.
  auto tuning = first.lockForTuning(key, 0);
  EXPECT_TRUE(second.lockForTuning(key, 60000));
}

TEST(Store, WhoMeasuresHoldsTheDirectorysLock) {
  ScratchDir dir;
  Key key = tuningKey("r").key();
  Store first = Store::open(optionsFor(dir.root())),
        second = Store::open(optionsFor(dir.root()));
  auto mine = first.lockForMeasuring(key, 0);
  ASSERT_TRUE(mine);
  EXPECT_FALSE(second.lockForMeasuring(key, 0));
  EXPECT_FALSE(second.lockForTuning(key, 0));
  mine.reset();
  EXPECT_TRUE(second.lockForMeasuring(key, 5000));
}

} // namespace
} // namespace azulejo::cache
