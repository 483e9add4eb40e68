//===- TunerTest.cpp - tuning regions, with good and bad candidates -------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TunerFixture.h"

#include "PlantedCode.h"
#include "TestRegions.h"
#include "autotune/search/Candidates.h"

#include <chrono>
#include <fstream>
#include <thread>

using namespace azulejo;
using namespace azulejo::test;
namespace json = llvm::json;

namespace {

/// Processes whose parent is this one.
int childProcesses() {
  int count = 0;
  for (auto &entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat");
    std::string text;
    if (!std::getline(stat, text))
      continue;
    size_t paren = text.rfind(')');
    char state;
    int parent;
    if (paren != std::string::npos &&
        std::sscanf(text.c_str() + paren + 1, " %c %d", &state, &parent) == 2)
      count += parent == getpid();
  }
  return count;
}

class TunerTest : public TunerFixture {
protected:
  void TearDown() override {
    EXPECT_EQ(childProcesses(), 0);
    TunerFixture::TearDown();
  }

  /// Bad candidates would end this process if there were no worker.
  static Status workerStarts() {
    return driver::WorkerClient(driver::findWorker({}), target::hostTarget(),
                                {}, {}, {})
        .start();
  }
};

/// Two dozen variants that differ in code, at least three knobs varying.
void expectManyVariants(const std::string &region) {
  const target::TargetDesc &target = target::hostTarget();
  Result<driver::RegionSchedules> known = driver::schedulesOf(region, target);
  ASSERT_TRUE(known) << known.error().str();
  std::vector<schedule::Schedule> picked =
      search::pickCandidates(known->space, known->fallback, 48);
  std::set<std::string> digests;
  std::vector<schedule::Schedule> distinct;
  for (const schedule::Schedule &schedule : picked) {
    if (digests.size() == 24)
      break;
    Result<driver::KernelCode> code =
        driver::compileKernel(region, schedule, target);
    ASSERT_TRUE(code) << schedule.str() << "\n" << code.error().str();
    if (digests.insert(plan::digestOf(code->image)).second)
      distinct.push_back(schedule);
  }
  EXPECT_GE(digests.size(), 24u);
  EXPECT_GE(search::varyingKnobs(distinct).size(), 3u);
}

TEST(Variants, RowChain) { expectManyVariants(rowChainRegion()); }
TEST(Variants, Matmul) { expectManyVariants(matmulRegion()); }
TEST(Variants, Attention) { expectManyVariants(attentionRegion()); }

TEST_F(TunerTest, PicksAndRecordsAWinner) {
  std::string region = rowChainRegion();
  std::vector<json::Object> rows = tune(region);
  EXPECT_TRUE(complete) << messages;
  EXPECT_EQ(messages, "");
  for (const char *phase : {"compile", "verify", "time"})
    EXPECT_TRUE(phases.count(phase)) << phase;
  ASSERT_EQ(rows.size(), 8u);
  for (const json::Object &row : rows) {
    EXPECT_EQ(row.getString("status"), "ok")
        << row.getString("reason").value_or("").str();
    EXPECT_GT(row.getNumber("median_ns").value_or(0), 0);
    EXPECT_LE(row.getNumber("percent_of_best").value_or(1000), 100.0);
    EXPECT_GT(row.getNumber("gbps").value_or(0), 0);
    EXPECT_EQ(row.getString("image_digest").value_or("").size(), 64u);
  }

  // The next compilation finds it without measuring, tuning or not.
  for (double tuneSeconds : {30.0, 0.0}) {
    request.tuneSeconds = tuneSeconds;
    driver::Tuner later(target::hostTarget(), request, options);
    std::optional<schedule::Schedule> found =
        later.recorded(region, known(region));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->str(), winner);
    EXPECT_EQ(rowsOf(later).size(), 8u);
  }
}

TEST_F(TunerTest, ANewDriverKeepsTheWinnerAndVerifiesItAgain) {
  std::string region = rowChainRegion();
  options.candidates = 4;
  std::atomic<int> compiled{0};
  options.afterCompile = [&](driver::KernelCode &) { ++compiled; };
  request.driverVersion = "1";
  tune(region);
  ASSERT_TRUE(complete) << messages;
  auto lookUp = [&](const char *driver, double tuneSeconds) {
    compiled = 0;
    request.driverVersion = driver;
    request.tuneSeconds = tuneSeconds;
    driver::Tuner later(target, request, options);
    auto found = later.recorded(region, known(region));
    EXPECT_TRUE(later.complete());
    int provisional = 0;
    for (const json::Object &row : rowsOf(later))
      provisional += row.getBoolean("provisional").value_or(false);
    return std::tuple(found ? found->str() : "", compiled.load(), provisional);
  };
  using Found = std::tuple<std::string, int, int>;
  // Without seconds it is used as it is, and said to be provisional.
  EXPECT_EQ(lookUp("2", 0), (Found{winner, 0, 4}));
  // With them it is verified, once.
  EXPECT_EQ(lookUp("2", 30), (Found{winner, 1, 4}));
  EXPECT_EQ(lookUp("2", 30), (Found{winner, 0, 4}));
  EXPECT_EQ(messages, "");
}

#if defined(__x86_64__)
TEST_F(TunerTest, AWinnerThatANewDriverSpoilsIsTunedAnew) {
  std::string region = rowChainRegion();
  options.candidates = 4;
  request.driverVersion = "1";
  tune(region);
  ASSERT_TRUE(complete) << messages;
  std::string spoiled = winner;
  options.afterCompile = [&](driver::KernelCode &code) {
    if (code.schedule.str() == spoiled)
      plant(code, Plant::Wrong, 3, 0, 5, 768 * 4);
  };
  request.driverVersion = "2";
  driver::Tuner later(target, request, options);
  EXPECT_FALSE(later.recorded(region, known(region)));
  EXPECT_NE(messages.find("holds no longer"), std::string::npos) << messages;
  std::vector<json::Object> rows = tune(region);
  EXPECT_NE(winner, spoiled);
  for (const json::Object &row : rows)
    EXPECT_EQ(row.getString("status") == "wrong",
              row.getString("schedule") == spoiled);
}
#endif

TEST_F(TunerTest, NeighboursOfTheBestAreTriedToo) {
  options.candidates = 2;
  options.neighbours = 3;
  std::vector<json::Object> rows = tune(matmulRegion());
  EXPECT_TRUE(complete) << messages;
  EXPECT_GT(rows.size(), 2u);
  int winners = 0;
  for (const json::Object &row : rows) {
    EXPECT_EQ(row.getString("status"), "ok");
    if (row.getBoolean("winner").value_or(false)) {
      ++winners;
      EXPECT_EQ(row.getString("schedule"), winner);
    }
  }
  EXPECT_EQ(winners, 1);
}

TEST_F(TunerTest, MatmulAndAttentionCandidatesAreRight) {
  for (const std::string &region : {matmulRegion(), attentionRegion()}) {
    std::vector<json::Object> rows = tune(region);
    EXPECT_EQ(messages, "");
    EXPECT_GE(rows.size(), 4u);
    for (const json::Object &row : rows)
      EXPECT_EQ(row.getString("status"), "ok")
          << row.getString("schedule").value_or("").str() << ": "
          << row.getString("reason").value_or("").str();
  }
}

#if defined(__x86_64__)
TEST_F(TunerTest, BadCandidatesAreMarkedAndTheBestGoodOneWins) {
  ASSERT_TRUE(workerStarts());
  std::string region = rowChainRegion();
  std::vector<schedule::Schedule> picked =
      search::pickCandidates(known(region).space, known(region).fallback, 16);
  ASSERT_EQ(picked.size(), 16u);
  // Most candidates are bad, each in its own way, the default first of all.
  std::map<std::string, Plant> plants;
  for (size_t i = 0; i < std::size(kAllPlants); ++i)
    plants[picked[i].str()] = kAllPlants[i];
  options.candidates = 16;
  options.limits.runSeconds = 0.5;
  options.afterCompile = [&](driver::KernelCode &code) {
    if (auto it = plants.find(code.schedule.str()); it != plants.end())
      plant(code, it->second, /*outputArg=*/3, /*inputArg=*/0, /*rowsArg=*/5,
            /*rowBytes=*/768 * 4);
  };
  std::vector<json::Object> rows = tune(region);
  EXPECT_EQ(plants.count(winner), 0u);
  std::map<std::string, std::pair<const char *, const char *>> expected = {
      {"null", {"crashed", "signal 11"}},
      {"trap", {"crashed", "signal 4"}},
      {"loop", {"timeout", "no answer"}},
      {"nothing", {"wrong", "output 0"}},
      {"half", {"wrong", "output 0"}},
      {"one byte over", {"wrong", "past the end"}},
      {"one byte under", {"wrong", "before the start"}},
      {"wrong", {"wrong", "output 0"}},
      {"writes input", {"wrong", "input 0 was written"}},
      {"wrong if large", {"wrong", "[candidate.unfused]"}},
      {"unsteady", {"wrong", "[candidate.deterministic]"}},
      {"memory", {"crashed", "signal 11"}},
      {"stack", {"crashed", "signal 11"}}};
  int good = 0, bad = 0;
  for (const json::Object &row : rows) {
    auto it = plants.find(row.getString("schedule").value_or("").str());
    std::string status = row.getString("status").value_or("").str();
    std::string reason = row.getString("reason").value_or("").str();
    if (it == plants.end()) {
      EXPECT_EQ(status, "ok") << reason;
      ++good;
      continue;
    }
    ++bad;
    auto [wantedStatus, wantedReason] = expected.at(plantName(it->second));
    EXPECT_EQ(status, wantedStatus) << plantName(it->second) << reason;
    EXPECT_NE(reason.find(wantedReason), std::string::npos)
        << plantName(it->second) << ": " << reason;
  }
  EXPECT_EQ(good, 3);
  EXPECT_EQ(bad, 13);
}

TEST_F(TunerTest, ManyBadCandidatesLeaveTheFewGoodOnes) {
  ASSERT_TRUE(workerStarts());
  // Of 16 candidates 10 crash and 5 are wrong, of all a hundred and fifty; no
  // loops, which would only cost time. Under a sanitizer a crash costs seconds.
  size_t sixteens = 10;
#ifdef __has_feature
#if __has_feature(address_sanitizer)
  sixteens = 3;
#endif
#endif
  std::string region = rowChainRegion();
  std::vector<schedule::Schedule> picked = search::pickCandidates(
      known(region).space, known(region).fallback, 16 * sixteens);
  ASSERT_EQ(picked.size(), 16 * sixteens);
  constexpr Plant kCrash[] = {Plant::Null, Plant::Trap};
  constexpr Plant kWrong[] = {Plant::Half, Plant::OneByteOver, Plant::Wrong,
                              Plant::OneByteUnder};
  std::map<std::string, Plant> plants;
  size_t bad = 0;
  for (size_t i = 0; i < picked.size(); ++i)
    if (i % 16 != 7) {
      plants[picked[i].str()] = bad % 3 < 2
                                    ? kCrash[bad % std::size(kCrash)]
                                    : kWrong[bad / 3 % std::size(kWrong)];
      ++bad;
    }
  options.candidates = static_cast<int>(picked.size());
  request.tuneSeconds = 120;
  options.afterCompile = [&](driver::KernelCode &code) {
    if (auto it = plants.find(code.schedule.str()); it != plants.end())
      plant(code, it->second, 3, 0, 5, 768 * 4);
  };
  std::vector<json::Object> rows = tune(region);
  EXPECT_EQ(plants.count(winner), 0u);
  EXPECT_TRUE(complete) << messages;
  ASSERT_EQ(rows.size(), picked.size());
  std::map<std::string, size_t> statuses;
  for (const json::Object &row : rows) {
    std::string status = row.getString("status").value_or("").str();
    ++statuses[status];
    bool planted =
        plants.count(row.getString("schedule").value_or("").str()) > 0;
    EXPECT_EQ(status == "ok", !planted);
    EXPECT_EQ(row.getString("reason").value_or("").empty(), !planted);
  }
  EXPECT_EQ(statuses["crashed"], 10 * sixteens);
  EXPECT_EQ(statuses["wrong"], 5 * sixteens);

  // Another search does not run them again.
  std::atomic<size_t> compiled{0};
  options.afterCompile = [&](driver::KernelCode &) { ++compiled; };
  rows = tune(region);
  EXPECT_EQ(compiled, sixteens);
  EXPECT_EQ(rows.size(), picked.size());
}

TEST_F(TunerTest, NothingGoodGivesTheDefaultAndAWarning) {
  ASSERT_TRUE(workerStarts());
  std::string region = rowChainRegion();
  options.candidates = 3;
  options.afterCompile = [](driver::KernelCode &code) {
    plant(code, Plant::Trap, 3, 0, 5, 768 * 4);
  };
  std::vector<json::Object> rows = tune(region);
  EXPECT_EQ(winner, known(region).fallback.str());
  EXPECT_NE(messages.find("default schedule"), std::string::npos);
  EXPECT_NE(messages.find("[tune.none]"), std::string::npos);
  EXPECT_NE(messages.find("of 3 the budget let 3 be compiled and 0 were right"),
            std::string::npos)
      << messages;
  EXPECT_FALSE(complete);
  EXPECT_EQ(rows.size(), 3u);
  request.tuneSeconds = 0;
  driver::Tuner later(target::hostTarget(), request, options);
  EXPECT_FALSE(later.recorded(region, known(region)));
}
#endif

TEST_F(TunerTest, TwoTunersOfOneRegionShareOneSearch) {
  std::string region = rowChainRegion();
  std::atomic<int> compiled{0};
  options.afterCompile = [&](driver::KernelCode &) { ++compiled; };
  std::string winners[2];
  auto work = [&](int index) {
    // Each with a store of its own, as two processes would have.
    api::CompileRequest mine = request;
    mine.log = [](int, const std::string &) {};
    mine.progress = [](const std::string &, int64_t, int64_t, double) {
      return true;
    };
    driver::Tuner tuner(target::hostTarget(), mine, options);
    Result<schedule::Schedule> best = tuner.tune(region, known(region), 1);
    if (best)
      winners[index] = best->str();
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(winners[0], winners[1]);
  EXPECT_NE(winners[0], "");
  EXPECT_EQ(compiled, 8);
}

TEST_F(TunerTest, EqualImagesAreTimedOnce) {
  std::string region = rowChainRegion();
  options.candidates = 4;
  std::optional<driver::KernelCode> first;
  std::mutex mutex;
  options.afterCompile = [&](driver::KernelCode &code) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!first)
      first = code;
    schedule::Schedule own = code.schedule;
    code = *first;
    code.schedule = own;
  };
  std::vector<json::Object> rows = tune(region);
  ASSERT_EQ(rows.size(), 4u);
  int same = 0;
  for (const json::Object &row : rows)
    same += row.getString("reason").value_or("").contains("same code as");
  EXPECT_EQ(same, 3);
}

TEST_F(TunerTest, BudgetHolds) {
  options.candidates = 48;
  std::vector<json::Object> rows;
  // How much a budget buys depends on the machine and on who else uses it.
  for (double budget = 2; rows.empty() && budget < 200; budget *= 2) {
    request.tuneSeconds = budget;
    rows = tune(attentionRegion());
    // Ending the workers takes a moment.
    EXPECT_LT(seconds, 1.1 * budget + 0.2);
  }
  EXPECT_GE(rows.size(), 1u);
}

TEST_F(TunerTest, InterruptionKeepsWhatWasMeasured) {
  std::string region = rowChainRegion();
  std::chrono::steady_clock::time_point asked;
  int timings = 0;
  request.progress = [&](const std::string &phase, int64_t done, int64_t,
                         double) {
    if (timings == 0 && (phase != "time" || done == 0))
      return true;
    ++timings;
    asked = std::chrono::steady_clock::now();
    return false;
  };
  std::vector<json::Object> rows = tune(region);
  double after =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - asked)
          .count();
  ASSERT_EQ(timings, 1);
  EXPECT_LT(after, 2.0);
  EXPECT_FALSE(complete);
  EXPECT_GE(rows.size(), 1u);
  // Good enough for who does not tune, not for who does.
  driver::Tuner again(target::hostTarget(), request, options);
  EXPECT_FALSE(again.recorded(region, known(region)));
  request.tuneSeconds = 0;
  driver::Tuner later(target::hostTarget(), request, options);
  EXPECT_TRUE(later.recorded(region, known(region)));
}

TEST_F(TunerTest, InterruptionWhileCompilingLeavesAtOnce) {
  options.candidates = 48;
  request.progress = [&](const std::string &, int64_t done, int64_t, double) {
    return done < 1;
  };
  std::string region = attentionRegion();
  tune(region);
  EXPECT_FALSE(complete);
  EXPECT_EQ(winner, known(region).fallback.str());
  EXPECT_LT(seconds, 12.0);
}

TEST_F(TunerTest, WithoutAWorkerItSaysSo) {
  request.workerPath = "/nonexistent/azulejo-worker";
  options.candidates = 3;
  std::vector<json::Object> rows = tune(rowChainRegion());
  EXPECT_NE(messages.find("in this process"), std::string::npos);
  EXPECT_EQ(rows.size(), 3u);
}

TEST_F(TunerTest, AWorkerThatIsNoneIsNoTrouble) {
  request.workerPath = "/bin/true";
  options.candidates = 3;
  std::vector<json::Object> rows = tune(rowChainRegion());
  EXPECT_NE(messages.find("[worker.missing]"), std::string::npos);
  EXPECT_NE(messages.find("in this process"), std::string::npos);
  EXPECT_EQ(rows.size(), 3u);
}

} // namespace
