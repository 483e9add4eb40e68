//===- PlanCodeTest.cpp - a plan's regions, compiled in pieces ------------===//
//
// Both forms of a region are made by different threads: they must come together
// as if one thread had made them, however many there are.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/PlanCode.h"
#include "tests/unit/frontend/driver/TestRegions.h"

#include "gtest/gtest.h"

using namespace azulejo;
using namespace azulejo::test;
using driver::KernelCode;

namespace {

/// A form, all of it that a plan is made of.
std::string written(const KernelCode &code) {
  std::string text = code.family + " " + code.schedule.str() + " " +
                     code.imageKind + " " + code.entry + "\n" + code.image;
  for (int64_t view : code.alignedViews)
    text += " aligned " + std::to_string(view);
  for (const driver::ViewMap &map : code.tensorMaps)
    text += " map " + std::to_string(map.view);
  for (const KernelCode &general : code.general)
    text += "\ngeneral: " + written(general);
  for (const KernelCode &next : code.later)
    text += "\nlater: " + written(next);
  return text;
}

class PlanCode : public testing::Test {
protected:
  void SetUp() override {
    // One that is in parts, one that assumes nothing, and two that do.
    for (const std::string &text : {halfMatmulRegion(), rowChainRegion(),
                                    halfAttentionRegion(), decodeRegion()}) {
      auto known = driver::schedulesOf(text, target);
      ASSERT_TRUE(known) << known.error().str();
      texts.push_back(text);
      schedules.push_back(known->fallback);
    }
    request.log = [this](int, const std::string &text) { said += text; };
  }

  Result<std::vector<KernelCode>> compile(int threads) {
    request.threads = threads;
    return driver::compileRegions(
        {texts, schedules,
         [](size_t i) { return "region " + std::to_string(i); }},
        target, request);
  }

  target::TargetDesc target = *target::resolveTarget("h200");
  std::vector<std::string> texts;
  std::vector<schedule::Schedule> schedules;
  api::CompileRequest request;
  std::string said;
};

TEST_F(PlanCode, IsTheSameOnAnyNumberOfThreads) {
  std::vector<std::string> alone;
  bool someGeneral = false, someWithout = false;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto code = driver::compileKernel(texts[i], schedules[i], target);
    ASSERT_TRUE(code) << code.error().str();
    alone.push_back(written(*code));
    bool general = alone.back().find("general: ") != std::string::npos;
    (general ? someGeneral : someWithout) = true;
  }
  EXPECT_TRUE(someGeneral);
  EXPECT_TRUE(someWithout);
  for (int threads : {1, 2, 3, 9}) {
    auto codes = compile(threads);
    ASSERT_TRUE(codes) << codes.error().str();
    ASSERT_EQ(codes->size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(written((*codes)[i]), alone[i]) << i << ", " << threads;
  }
}

TEST_F(PlanCode, OfAStrictPlanHasOneForm) {
  request.strict = true;
  auto codes = compile(2);
  ASSERT_TRUE(codes) << codes.error().str();
  for (const KernelCode &code : *codes)
    EXPECT_EQ(written(code).find("general: "), std::string::npos);
}

// Whoever waits for an answer that a failure left out would wait for ever.
TEST_F(PlanCode, OfARegionThatFailsIsItsError) {
  texts[1] = "no region";
  for (int threads : {1, 3}) {
    auto codes = compile(threads);
    ASSERT_FALSE(codes);
    EXPECT_EQ(codes.error().code, ErrorCode::Internal);
    EXPECT_NE(codes.error().message.find("no fused region"), std::string::npos)
        << codes.error().str();
  }
}

} // namespace
