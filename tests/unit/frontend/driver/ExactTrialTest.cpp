//===- ExactTrialTest.cpp - candidates on integers that never round -------===//
//
// Candidates whose results a tolerance accepts and that are wrong all the same,
// and right ones of every kind that the exact test applies to.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TunerFixture.h"

#include "PlantedCode.h"
#include "TestRegions.h"
#include "autotune/search/Candidates.h"

using namespace azulejo;
using namespace azulejo::test;
namespace json = llvm::json;

namespace {

driver::LocalRunner runnerHere() {
  driver::RunnerOptions options;
  options.threads = 2;
  options.redzoneBytes = 4096;
  return {target::hostTarget(), options};
}

/// Compiles by a schedule of the region's, its default if none is given.
driver::KernelCode compile(const std::string &region,
                           const schedule::Schedule *schedule = nullptr) {
  auto known = driver::schedulesOf(region, target::hostTarget());
  EXPECT_TRUE(known) << known.error().str();
  auto code =
      driver::compileKernel(region, schedule ? *schedule : known->fallback,
                            target::hostTarget(), nullptr, false);
  EXPECT_TRUE(code) << code.error().str();
  return *code;
}

TEST(ExactTrial, RightCandidatesOfEveryKindAreExact) {
  std::vector<std::string> regions = {
      exactRowsRegion(),         rowSumsRegion(),
      roundedRegion(false),      pickedRowsRegion(),
      fewRowsRegion(DType::F16), fewRowsRegion(DType::BF16)};
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    regions.push_back(residualRegion(dtype));
    regions.push_back(residualRegion(dtype, /*batches=*/3));
  }
  // Sums of so many that bf16 needs zeros between the ones.
  regions.push_back(residualRegion(DType::BF16, 1, 2048));
  for (const std::string &region : regions) {
    driver::LocalRunner runner = runnerHere();
    ASSERT_TRUE(openIn(runner, region));
    auto known = driver::schedulesOf(region, target::hostTarget());
    ASSERT_TRUE(known);
    for (const schedule::Schedule &schedule :
         search::pickCandidates(known->space, known->fallback, 4)) {
      auto verdict = runner.verify(compile(region, &schedule));
      ASSERT_TRUE(verdict) << verdict.error().str() << "\n"
                           << schedule.str() << "\n"
                           << region;
      EXPECT_GE(verdict->exactCases, 1) << verdict->noExact << region;
      EXPECT_TRUE(verdict->exactFull) << verdict->noExact << region;
      EXPECT_EQ(verdict->noExact, "");
    }
  }
}

TEST(ExactTrial, SaysWhyItWasNotMade) {
  std::pair<std::string, const char *> regions[] = {
      {attentionRegion(), "attention: it rounds"},
      {matmulRegion(), "gelu_erf: it rounds"},
      {rowChainRegion(), "softmax: it rounds"}};
  for (const auto &[region, why] : regions) {
    driver::LocalRunner runner = runnerHere();
    ASSERT_TRUE(openIn(runner, region));
    auto verdict = runner.verify(compile(region));
    ASSERT_TRUE(verdict) << verdict.error().str();
    EXPECT_EQ(verdict->noExact, why);
    EXPECT_EQ(verdict->exactCases, 0);
    EXPECT_FALSE(verdict->exactFull);
    EXPECT_GE(verdict->oracleCases, 1);
  }
}

/// Rounded once more on the way, by 3 bits fewer in the end: no tolerance that
/// is fair to orders of summation sees it.
TEST(ExactTrial, AnExtraRoundingIsWrong) {
  std::string region = roundedRegion(false);
  driver::LocalRunner runner = runnerHere();
  ASSERT_TRUE(openIn(runner, region));
  driver::KernelCode twice = compile(roundedRegion(true));
  ASSERT_NE(driver::KernelCode(compile(region)).image, twice.image);
  auto verdict = runner.verify(twice);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::CandidateWrong);
  EXPECT_EQ(verdict.error().rule, "candidate.exact") << verdict.error().str();
  for (const char *part : {"output 0", "seed 3", "M = 37", "element [",
                           "wanted", "of 5920 differ"})
    EXPECT_NE(verdict.error().message.find(part), std::string::npos)
        << part << ": " << verdict.error().message;
}

#if defined(__x86_64__)
/// What is too large for the oracle is compared with the unfused plan, bit by
/// bit.
TEST(ExactTrial, LargeFixedSizesAreComparedWithTheUnfusedPlan) {
  std::string region = squareRegion(DType::F32, 384);
  driver::LocalRunner runner = runnerHere();
  ASSERT_TRUE(openIn(runner, region));
  driver::KernelCode good = compile(region), bad = good;
  auto verdict = runner.verify(good);
  ASSERT_TRUE(verdict) << verdict.error().str();
  EXPECT_EQ(verdict->oracleCases, 0);
  EXPECT_EQ(verdict->exactCases, 0);
  EXPECT_TRUE(verdict->exactFull);
  EXPECT_EQ(verdict->noExact, "");
  // Tensors of two dimensions: address and stride.
  plant(bad, Plant::LastBit, 4, 0, 0, 0);
  verdict = runner.verify(bad);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().rule, "candidate.exact") << verdict.error().str();
  EXPECT_NE(verdict.error().message.find("element [0, 0] is "),
            std::string::npos)
      << verdict.error().message;
  EXPECT_NE(verdict.error().message.find("(1 of 147456 differ)"),
            std::string::npos)
      << verdict.error().message;
}

class ExactTuning : public TunerFixture {};

/// One bit of one element, in a worker: found where nothing rounds, and not
/// where softmax does.
TEST_F(ExactTuning, RecordsSayWhatTheTestWasAndWhatItFound) {
  for (bool exact : {true, false}) {
    SetUp(); // a cache of its own
    std::string region = exact ? exactRowsRegion() : rowChainRegion();
    std::string spoiled =
        search::pickCandidates(known(region).space, known(region).fallback, 4)
            .at(1)
            .str();
    options.candidates = 4;
    request.tuneSeconds = 240; // it ends with the fourth
    options.afterCompile = [&](driver::KernelCode &code) {
      if (code.schedule.str() == spoiled)
        plant(code, Plant::LastBit, 3, 0, 5, 768 * 4);
    };
    std::vector<json::Object> rows = tune(region);
    EXPECT_TRUE(complete) << messages;
    ASSERT_EQ(rows.size(), 4u);
    for (const json::Object &row : rows) {
      bool bad = exact && row.getString("schedule") == spoiled;
      std::string reason = row.getString("reason").value_or("").str();
      EXPECT_EQ(row.getString("status"), bad ? "wrong" : "ok") << reason;
      if (bad) {
        EXPECT_NE(reason.find("element [0, 0] is "), std::string::npos);
        EXPECT_NE(reason.find("[candidate.exact]"), std::string::npos)
            << reason;
        continue;
      }
      const json::Object *test = row.getObject("exact");
      ASSERT_TRUE(test);
      EXPECT_EQ(test->getInteger("cases").value_or(-1) > 0, exact);
      EXPECT_EQ(test->getBoolean("at_full_size"), exact);
      EXPECT_EQ(test->getString("why_not").value_or(""),
                exact ? "" : "softmax: it rounds");
    }
  }
}
#endif

TEST(ExactTrial, VerdictsAndCasesTravel) {
  driver::Verdict verdict{2, true, 0.5, 3, true, "a reason"};
  auto back = driver::verdictFrom(driver::toMessage(verdict));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->exactCases, 3);
  EXPECT_TRUE(back->exactFull);
  EXPECT_EQ(back->noExact, "a reason");
  driver::Message broken = driver::toMessage(verdict);
  broken.json.erase("noExact");
  EXPECT_FALSE(driver::verdictFrom(broken));

  driver::References references;
  references.cases.push_back({{{"S", 3}}, {}, {}, {}, 77});
  references.cases.push_back({{{"S", 3}}, {}, {}, {}});
  auto cases = driver::referencesFrom(driver::toMessage(references));
  ASSERT_TRUE(cases);
  ASSERT_EQ(cases->cases.size(), 2u);
  EXPECT_EQ(cases->cases[0].exactSeed, 77u);
  EXPECT_EQ(cases->cases[1].exactSeed, std::nullopt);
}

} // namespace
