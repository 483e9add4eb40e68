//===- ArchiveTest.cpp - export and import --------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

namespace azulejo::cache {
namespace {

using namespace testing;

std::string exportAll(Store &store) {
  std::string archive;
  Status done = store.exportArchive([](const EntryInfo &) { return true; },
                                    [&](std::string_view part) {
                                      archive += part;
                                      return Status();
                                    });
  EXPECT_TRUE(done);
  return archive;
}

struct Filled {
  Key plan = planKey("g").key(), other = planKey("d").key(),
      tuning = tuningKey("r").key();
  void into(Store &store) {
    store.store(plan, "plan bytes");
    store.store(other, std::string("\0\n\xff", 3));
    store.appendTrials(tuning, std::vector{trial("s1", 10), trial("s2", 12)});
  }
};

TEST(Archive, CarriesEverythingAndMergesTrials) {
  ScratchDir from, to;
  Filled filled;
  Store source = Store::open(optionsFor(from.root()));
  filled.into(source);
  std::string archive = exportAll(source);

  Store target = Store::open(optionsFor(to.root()));
  target.appendTrials(filled.tuning, std::vector{trial("s3", 5)});
  auto report = target.importArchive(archive, "pack.azc");
  ASSERT_TRUE(report) << report.error().str();
  EXPECT_EQ(report->imported, 3);
  EXPECT_TRUE(report->problems.empty());
  Store fresh = Store::open(optionsFor(to.root()));
  EXPECT_EQ(fresh.load(filled.plan), "plan bytes");
  EXPECT_EQ(fresh.load(filled.other), std::string("\0\n\xff", 3));
  EXPECT_EQ(fresh.loadTuning(filled.tuning).trials.size(), 3u);
  EXPECT_TRUE(fresh.verify().problems.empty());
  // Once more changes nothing.
  auto again = fresh.importArchive(archive, "pack.azc");
  ASSERT_TRUE(again);
  EXPECT_EQ(fresh.loadTuning(filled.tuning).trials.size(), 3u);
}

TEST(Archive, FilterChoosesEntries) {
  ScratchDir from, to;
  Filled filled;
  Store source = Store::open(optionsFor(from.root()));
  filled.into(source);
  std::string archive;
  EXPECT_TRUE(source.exportArchive(
      [](const EntryInfo &info) { return info.kind == Kind::Tuning; },
      [&](std::string_view part) {
        archive += part;
        return Status();
      }));
  Store target = Store::open(optionsFor(to.root()));
  ASSERT_TRUE(target.importArchive(archive, "pack.azc"));
  EXPECT_EQ(target.list().size(), 1u);
}

TEST(Archive, SinkFailureIsReported) {
  ScratchDir dir;
  Store source = Store::open(optionsFor(dir.root()));
  Filled().into(source);
  for (int allowed = 0; allowed < 4; ++allowed) {
    int parts = 0;
    Status done = source.exportArchive([](const EntryInfo &) { return true; },
                                       [&](std::string_view) -> Status {
                                         if (parts++ < allowed)
                                           return {};
                                         return makeError(ErrorCode::CacheEnv,
                                                          "out", "disk full");
                                       });
    EXPECT_FALSE(done) << allowed;
  }
}

TEST(Archive, EveryTruncationImportsNothing) {
  ScratchDir from, to;
  Store source = Store::open(optionsFor(from.root()));
  Filled().into(source);
  std::string archive = exportAll(source);
  Store target = Store::open(optionsFor(to.root()));
  for (size_t size = 0; size < archive.size(); ++size) {
    auto report = target.importArchive(archive.substr(0, size), "cut.azc");
    ASSERT_FALSE(report) << size;
    EXPECT_EQ(report.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(report.error().rule, "cache.archive");
  }
  EXPECT_FALSE(target.importArchive(archive + "\n", "long.azc"));
  EXPECT_TRUE(target.list().empty());
}

TEST(Archive, EveryFlipLeavesTheDamagedEntryOut) {
  ScratchDir from, to;
  Filled filled;
  Store source = Store::open(optionsFor(from.root()));
  filled.into(source);
  std::string archive = exportAll(source);
  Store target = Store::open(optionsFor(to.root()));
  for (size_t i = 0; i < archive.size(); i += 3) {
    std::string bad = archive;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    auto report = target.importArchive(bad, "bad.azc");
    if (report) {
      ASSERT_EQ(report->problems.size(), 1u) << i;
    }
  }
  EXPECT_TRUE(target.verify().problems.empty());
  Store fresh = Store::open(optionsFor(to.root()));
  EXPECT_EQ(fresh.load(filled.plan), "plan bytes");
  EXPECT_EQ(fresh.loadTuning(filled.tuning), source.loadTuning(filled.tuning));
}

TEST(Archive, HostileLengths) {
  ScratchDir dir;
  Store store = Store::open(optionsFor(dir.root()));
  std::string magic = "azulejo-cache-archive 1\n";
  for (const char *rest :
       {"entry 18446744073709551615 1\nx", "entry 1 18446744073709551615\nx",
        "entry 99999999999999999999 0\n", "entry -1 0\n", "entry 0\n",
        "entry  0 0\n", "end 1\n", "end -0\n", "end 0", "entry 0 0\nend 2\n"})
    EXPECT_FALSE(store.importArchive(magic + rest, "bad.azc")) << rest;
  auto empty = store.importArchive(magic + "end 0\n", "empty.azc");
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->imported, 0);
  auto hollow = store.importArchive(magic + "entry 0 0\nend 1\n", "hollow.azc");
  ASSERT_TRUE(hollow);
  EXPECT_EQ(hollow->problems.size(), 1u);
}

TEST(Archive, NeedsADirectory) {
  CacheOptions options;
  Store store = Store::open(options);
  auto report =
      store.importArchive("azulejo-cache-archive 1\nend 0\n", "pack.azc");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::CacheEnv);
  EXPECT_EQ(report.error().rule, "cache.import");
  EXPECT_EQ(store.trim().error().rule, "cache.trim");
}

} // namespace
} // namespace azulejo::cache
