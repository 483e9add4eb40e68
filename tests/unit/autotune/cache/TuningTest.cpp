//===- TuningTest.cpp - trials, their text and their merge ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace azulejo::cache {
namespace {

using namespace testing;

TEST(Tuning, RoundTrips) {
  TuningEntry entry;
  entry.add(trial("RowChain{rowTile=4}", 1234.5678901234567));
  Trial bad = trial("RowChain{rowTile=8}", 0);
  bad.status = trialStatus::crashed;
  bad.reason = "illegal address \"x\"\n";
  bad.provisional = true;
  entry.add(bad);
  auto back = parseTuning(encodeTuning(entry), "here");
  ASSERT_TRUE(back) << back.error().str();
  EXPECT_EQ(*back, entry);
  EXPECT_EQ(back->best()->medianNs, 1234.5678901234567);
}

TEST(Tuning, UnknownOutcomesSurvive) {
  TuningEntry entry;
  Trial odd = trial("a", 1);
  odd.status = "melted";
  entry.add(odd);
  auto back = parseTuning(encodeTuning(entry), "here");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->trials.at("a").status, "melted");
  EXPECT_EQ(back->best(), nullptr);
}

// What a caller hands over must never produce an entry that is refused later.
TEST(Tuning, OddNumbersAndTextStayReadable) {
  Trial odd = trial(std::string("\xff\xfe"), NAN);
  odd.ciLowNs = -INFINITY;
  odd.ciHighNs = -5;
  odd.samples = -1;
  odd.dateMs = -1;
  odd.reason = std::string("\x80");
  TuningEntry entry;
  entry.add(odd);
  auto back = parseTuning(encodeTuning(entry), "here");
  ASSERT_TRUE(back) << back.error().str();
  EXPECT_EQ(back->trials.begin()->second.medianNs, 0);
}

TEST(Tuning, BestIsTheFastestThatIsRight) {
  TuningEntry entry;
  entry.add(trial("slow", 20));
  entry.add(trial("b", 10));
  entry.add(trial("a", 10));
  Trial wrong = trial("wrong", 1);
  wrong.status = trialStatus::wrong;
  entry.add(wrong);
  ASSERT_NE(entry.best(), nullptr);
  EXPECT_EQ(entry.best()->schedule, "a");
}

TEST(Tuning, LaterTrialWinsAndFailureWinsATie) {
  TuningEntry entry;
  entry.add(trial("s", 10, 5));
  entry.add(trial("s", 99, 4));
  EXPECT_EQ(entry.trials.at("s").medianNs, 10);
  entry.add(trial("s", 20, 6));
  EXPECT_EQ(entry.trials.at("s").medianNs, 20);
  Trial wrong = trial("s", 1, 6);
  wrong.status = trialStatus::wrong;
  entry.add(wrong);
  EXPECT_FALSE(entry.trials.at("s").isOk());
  entry.add(trial("s", 20, 6));
  EXPECT_FALSE(entry.trials.at("s").isOk());
}

TEST(Tuning, MergeIsASemilattice) {
  std::mt19937 random(1);
  auto some = [&] {
    TuningEntry entry;
    for (int i = 0; i < 6; ++i) {
      Trial made = trial("s" + std::to_string(random() % 5),
                         double(random() % 3), random() % 3);
      if (random() % 3 == 0)
        made.status = trialStatus::wrong;
      entry.add(made);
    }
    return entry;
  };
  auto join = [](TuningEntry a, const TuningEntry &b) {
    a.merge(b);
    return a;
  };
  for (int round = 0; round < 300; ++round) {
    TuningEntry a = some(), b = some(), c = some();
    EXPECT_EQ(join(a, b), join(b, a));
    EXPECT_EQ(join(join(a, b), c), join(a, join(b, c)));
    EXPECT_EQ(join(a, a), a);
  }
}

TEST(Tuning, NewDriverMakesTimingsProvisional) {
  TuningEntry entry;
  entry.add(trial("s", 10));
  Environment same = entry.trials.at("s").environment;
  entry.markProvisional(same);
  EXPECT_FALSE(entry.trials.at("s").provisional);
  Environment driver = same;
  driver.driver = "999";
  entry.markProvisional(driver);
  EXPECT_TRUE(entry.trials.at("s").provisional);
  EXPECT_NE(entry.best(), nullptr);
}

TEST(Tuning, MalformedTrialsAreRejected) {
  TuningEntry entry;
  entry.add(trial("s", 10));
  std::string good = encodeTuning(entry);
  for (const char *name :
       {"schedule", "status", "medianNs", "ciLowNs", "ciHighNs", "samples",
        "reason", "details", "environment", "provisional", "dateMs", "driver",
        "assembler", "llvm", "product", "trials"}) {
    std::string bad = good;
    size_t at = bad.find("\"" + std::string(name) + "\"");
    ASSERT_NE(at, std::string::npos) << name;
    bad[at + 1] = 'X';
    EXPECT_FALSE(parseTuning(bad, "here")) << name;
  }
  for (const char *bad : {"", "[]", "{}", "{\"trials\":1}", "{\"trials\":[1]}",
                          "{\"trials\":[]}x", "{\"trials\":[{}]}"})
    EXPECT_FALSE(parseTuning(bad, "here")) << bad;
  EXPECT_FALSE(parseTuning(std::string(1 << 20, '['), "here"));
}

} // namespace
} // namespace azulejo::cache
