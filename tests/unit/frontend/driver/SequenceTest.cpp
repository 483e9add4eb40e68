//===- SequenceTest.cpp - regions that several kernels run ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "TestRegions.h"
#include "frontend/driver/CandidateRunner.h"
#include "frontend/driver/RegionFacts.h"
#include "frontend/driver/RegionReference.h"
#include "frontend/driver/WorkerProtocol.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::test;
using driver::KernelCode;

namespace {

schedule::Schedule inParts(const std::string &region,
                           const target::TargetDesc &target, int64_t splits) {
  Result<driver::RegionSchedules> known = driver::schedulesOf(region, target);
  EXPECT_TRUE(known) << known.error().str();
  schedule::Schedule schedule = known ? known->fallback : schedule::Schedule();
  EXPECT_EQ(schedule.family, "AttentionDecode");
  schedule.knobs["splits"] = splits;
  return schedule;
}

KernelCode compiled(const std::string &region, const target::TargetDesc &target,
                    int64_t splits) {
  Result<KernelCode> code =
      driver::compileKernel(region, inParts(region, target, splits), target);
  EXPECT_TRUE(code) << code.error().str();
  return code ? *code : KernelCode();
}

plan::Plan planOf(const std::string &region, const KernelCode &code,
                  const target::TargetDesc &target) {
  Result<graph::Graph> graph = driver::regionGraph(region);
  EXPECT_TRUE(graph) << graph.error().str();
  Result<plan::Plan> plan = driver::regionPlan(region, *graph, code, target);
  EXPECT_TRUE(plan) << plan.error().str();
  if (!plan)
    return {};
  Result<plan::Plan> parsed = plan::parse(plan::serialize(*plan), "test");
  EXPECT_TRUE(parsed) << parsed.error().str();
  return parsed ? *parsed : plan::Plan();
}

int64_t at(const plan::Expr &expr, int64_t keys) {
  int64_t value = -1;
  EXPECT_TRUE(expr.evaluate(std::span(&keys, 1), value));
  return value;
}

TEST(Sequence, TensorsBetweenKernelsLieInTheWorkspace) {
  std::string region = decodeRegion();
  KernelCode code = compiled(region, target::hostTarget(), 4);
  ASSERT_EQ(code.later.size(), 1u);
  ASSERT_EQ(code.intermediates.size(), 2u);
  EXPECT_EQ(code.tensors, (std::vector<int64_t>{0, 1, 2, 4, 5}));
  EXPECT_EQ(code.later[0].tensors, (std::vector<int64_t>{0, 1, 2, 4, 5, 3}));
  plan::Plan plan = planOf(region, code, target::hostTarget());
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[1].kernel, plan.launches[0].kernel + ".2");
  EXPECT_NE(plan.launches[1].image, plan.launches[0].image);
  ASSERT_EQ(plan.buffers.size(), 6u);
  // 4 parts of 2 sequences of 2 key heads of 4 rows.
  const int64_t rows = 4 * 2 * 2 * 4;
  EXPECT_EQ(plan.buffers[4].kind, plan::BufferKind::Workspace);
  EXPECT_EQ(at(plan.workspaceBytes, 100), rows * (64 + 1) * 4);
  EXPECT_EQ(at(plan.launches[1].bytes, 100), rows * (64 + 1) * 4);
  EXPECT_EQ(at(plan.launches[1].flops, 100), 0);
}

TEST(Sequence, OnePartIsOneKernel) {
  KernelCode code = compiled(decodeRegion(), target::hostTarget(), 1);
  EXPECT_TRUE(code.later.empty());
  EXPECT_TRUE(code.intermediates.empty());
}

TEST(Sequence, AWorkersAnswerHasAllKernels) {
  KernelCode code = compiled(decodeRegion(), target::hostTarget(), 2);
  std::optional<KernelCode> back = driver::codeFrom(driver::toMessage(code));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->intermediates, code.intermediates);
  EXPECT_EQ(back->tensors, code.tensors);
  EXPECT_EQ(back->image, code.image);
  ASSERT_EQ(back->later.size(), 1u);
  EXPECT_EQ(back->later[0].image, code.later[0].image);
  EXPECT_EQ(driver::imageKey(*back), driver::imageKey(code));

  driver::Message cut = driver::toMessage(code);
  cut.blob.pop_back();
  EXPECT_FALSE(driver::codeFrom(cut)) << "an image is cut";
  cut = driver::toMessage(code);
  cut.blob += "x";
  EXPECT_FALSE(driver::codeFrom(cut)) << "something is left over";
  cut = driver::toMessage(code);
  (*cut.json.getArray("later"))[0].getAsObject()->erase("tensors");
  EXPECT_FALSE(driver::codeFrom(cut));
}

// Two candidates that differ in the second kernel alone are two candidates.
TEST(Sequence, EveryKernelCountsInTheKeyOfAnImage) {
  KernelCode code = compiled(decodeRegion(), target::hostTarget(), 2);
  KernelCode other = code;
  other.later[0].image += "x";
  EXPECT_NE(driver::imageKey(other), driver::imageKey(code));
}

// The forms share what lies between the kernels, so the general one has as many
// parts, whatever its own schedule would like.
TEST(Sequence, FormsArePairedKernelByKernel) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  for (int64_t splits : {2, 16}) {
    std::string region = decodeRegion();
    KernelCode code = compiled(region, *h200, splits);
    EXPECT_FALSE(code.alignedViews.empty());
    ASSERT_EQ(code.general.size(), 1u);
    EXPECT_EQ(code.general[0].schedule.knob("splits"), splits);
    EXPECT_TRUE(code.general[0].later.empty());
    ASSERT_EQ(code.later.size(), 1u);
    plan::Plan plan = planOf(region, code, *h200);
    EXPECT_EQ(plan.launches.size(), 2u);
    ASSERT_EQ(plan.alternates.size(), 1u + code.later[0].general.size());
    EXPECT_EQ(plan.alternates[0].args.size(), plan.launches[0].args.size());
  }
}

TEST(Sequence, PartsOfAProductHaveOnePartialSumEach) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  std::string region = fewRowsRegion();
  Result<driver::RegionSchedules> known = driver::schedulesOf(region, *h200);
  ASSERT_TRUE(known) << known.error().str();
  for (int64_t splits : {1, 2, 16}) {
    schedule::Schedule schedule = known->fallback;
    ASSERT_EQ(schedule.family, "SmallM");
    schedule.knobs["splits"] = splits;
    Result<KernelCode> code = driver::compileKernel(region, schedule, *h200);
    ASSERT_TRUE(code) << code.error().str();
    EXPECT_EQ(code->later.size(), splits == 1 ? 0u : 1u);
    EXPECT_EQ(code->intermediates.size(), splits == 1 ? 0u : 1u);
    ASSERT_EQ(code->general.size(), 1u);
    EXPECT_EQ(code->general[0].schedule.knob("splits"), splits);
    plan::Plan plan = planOf(region, *code, *h200);
    EXPECT_EQ(at(plan.workspaceBytes, 1000),
              splits == 1 ? 0 : splits * 3 * 160 * 4);
  }
}

// What the tuner does with a candidate: against the oracle, against the unfused
// plan, and timed as a whole.
TEST(Sequence, ACandidateIsVerifiedAndTimedAsAWhole) {
  driver::RunnerOptions options;
  auto runner = driver::makeRunnerHere(target::hostTarget(), options);
  std::string region = decodeRegion();
  ASSERT_TRUE(openIn(*runner, region));
  KernelCode code = compiled(region, target::hostTarget(), 4);
  Result<driver::Verdict> verdict = runner->verify(code);
  ASSERT_TRUE(verdict) << verdict.error().str();
  EXPECT_GT(verdict->oracleCases, 0);
  EXPECT_TRUE(verdict->full);
  Result<measure::Timing> timing = runner->time(code, {});
  ASSERT_TRUE(timing) << timing.error().str();
  EXPECT_FALSE(timing->samplesNs.empty());
  // Without its second kernel the candidate writes no output.
  code.later.clear();
  code.schedule.knobs["splits"] = 2;
  EXPECT_FALSE(runner->verify(code));
}

} // namespace
