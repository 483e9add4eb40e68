//===- ExplainTest.cpp - what is said of a plan's launches ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Explain.h"
#include "tests/unit/runtime/TestPlan.h"

#include "gmock/gmock.h"

using namespace azulejo;
using testing::HasSubstr;
using testing::Not;

static plan::Plan guarded() {
  plan::Plan plan = runtime::testPlan("twice", true);
  plan.buffers[2].name = "";
  runtime::addGeneralForm(plan, {0, 2});
  plan.launches[0].schedule = "RowChain{the fast one}";
  plan.alternates[0].schedule = "RowChain{the general one}";
  return plan;
}

TEST(Explain, ShowsTheFastFormAndNotesTheOther) {
  std::vector<int64_t> dims = {4};
  std::string text = api::explain(guarded(), dims, /*json=*/false);
  EXPECT_THAT(text, HasSubstr("schedule  RowChain{the fast one}\n"));
  EXPECT_THAT(text, Not(HasSubstr("schedule  RowChain{the general one}")));
  EXPECT_THAT(text,
              HasSubstr("note [launch.aligned] double: kernel k0 needs "
                        "multiples of 16 bytes for addresses and outer strides "
                        "of x, workspace buffer 2; otherwise its general form "
                        "runs, RowChain{the general one}\n"));
  // Each kernel counts once.
  EXPECT_THAT(text, HasSubstr("fused 512 B"));
  std::string json = api::explain(guarded(), dims, /*json=*/true);
  EXPECT_THAT(json, HasSubstr("\"rule\":\"launch.aligned\""));
  EXPECT_THAT(json, Not(HasSubstr("k0.general")));
}

TEST(Explain, SaysWhereThereIsNoOtherForm) {
  plan::Plan plan = guarded();
  plan.launches[0].otherwise = -1;
  plan.alternates.clear();
  std::vector<int64_t> dims = {4};
  std::string text = api::explain(plan, dims, /*json=*/false);
  EXPECT_THAT(text,
              HasSubstr("workspace buffer 2; otherwise the run is refused\n"));
  plan.launches[0].aligned.clear();
  EXPECT_THAT(api::explain(plan, dims, false), Not(HasSubstr("aligned")));
}

TEST(Explain, NotesWhatARunSetsToZero) {
  plan::Plan plan = guarded();
  std::vector<int64_t> dims = {4};
  EXPECT_THAT(api::explain(plan, dims, false), Not(HasSubstr("zero")));
  plan.zeroed = {2};
  EXPECT_THAT(api::explain(plan, dims, false), HasSubstr("note [plan.zeroed]"));
  EXPECT_THAT(api::explain(plan, dims, false),
              HasSubstr("a run sets workspace buffer 2 to zero before its "
                        "first launch\n"));
}

TEST(Explain, NotesWhatTensorMapsAskFor) {
  plan::Plan plan = guarded();
  plan.images[0].kind = "ptx";
  plan.launches[0].aligned.clear();
  plan.launches[0].tensorMaps = {
      {2, {1, 1}, {8, 64}, 32}, {0, {2}, {8}, 32}, {2, {2}, {8}, 32}};
  std::vector<int64_t> dims = {4};
  EXPECT_THAT(
      api::explain(plan, dims, /*json=*/false),
      HasSubstr("note [launch.tensorMaps] double: kernel k0 copies boxes of "
                "workspace buffer 2, x, which have elements and no stride of "
                "0, and whose addresses and outer strides are multiples of 16 "
                "bytes; otherwise its general form runs, RowChain{the general "
                "one}\n"));
  plan.launches[0].tensorMaps.clear();
  EXPECT_THAT(api::explain(plan, dims, false), Not(HasSubstr("tensorMaps")));
}

// A plan that was loaded says no less of its products than one just made.
TEST(Explain, JudgesProductsByTheRateThatThePlanNames) {
  plan::Plan plan = runtime::testPlan("twice");
  plan.target = "h200";
  plan.launches[0].flops = plan::Expr(int64_t{1} << 40);
  std::vector<int64_t> dims = {4};
  std::string exact = api::explain(plan, dims, /*json=*/true);
  EXPECT_THAT(exact, HasSubstr("\"matrix_share\":0,"));
  plan.launches[0].matrixPercent = 50;
  Result<plan::Plan> loaded = plan::parse(plan::serialize(plan), "test");
  ASSERT_TRUE(loaded) << loaded.error().str();
  std::string rounded = api::explain(*loaded, dims, /*json=*/true);
  EXPECT_THAT(rounded, HasSubstr("\"matrix_share\":0.5,"));
  auto floorOf = [](const std::string &json) {
    size_t at = json.find("\"floor_us\":");
    return at == std::string::npos ? 0 : std::atof(json.c_str() + at + 11);
  };
  // 2^40 operations at 66.9 and at 494.5 TFLOP/s.
  EXPECT_NEAR(floorOf(exact) / floorOf(rounded), 494.5 / 66.9, 0.2);
}
