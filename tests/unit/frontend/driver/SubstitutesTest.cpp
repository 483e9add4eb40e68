//===- SubstitutesTest.cpp - schedules that the lowering refuses ----------===//
//
// No graph is known whose default schedule is refused, so refusals are planted.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/Substitutes.h"
#include "TestRegions.h"
#include "frontend/driver/PlanCode.h"

#include <gtest/gtest.h>

#include <set>

using namespace azulejo;
using namespace azulejo::test;

namespace {

Error planted(const schedule::Schedule &schedule) {
  return makeError(ErrorCode::Unsupported, "kernel " + schedule.family,
                   "a planted refusal", "kernel.lower",
                   "pin another schedule (--pin)");
}

class Substitutes : public testing::Test {
protected:
  void SetUp() override {
    graph::Dim M = *graph.dim("M", 1, 4096);
    auto x = graph.input("x", {graph::DType::BF16, {M, graph::Dim(1024)}});
    auto w = graph.input(
        "w", {graph::DType::BF16, {graph::Dim(1024), graph::Dim(1024)}});
    ASSERT_TRUE(x && w);
    auto y = graph.append("matmul", {*x, *w}, {}, "project");
    ASSERT_TRUE(y);
    ASSERT_TRUE(graph.output("y", y->front()));
    auto made = driver::fuseGraph(session, graph, target, true);
    ASSERT_TRUE(made) << made.error().str();
    fused.emplace(std::move(*made));
    table = driver::regionsOf(*fused);
    ASSERT_EQ(table.texts.size(), 1u);
    auto schedules = driver::schedulesOf(table.texts[0], target);
    ASSERT_TRUE(schedules) << schedules.error().str();
    known.emplace(std::move(*schedules));
    ASSERT_GT(known->fallback.knob("consumers"), 0);
    request.threads = 2;
    request.assembler = "driver";
    request.log = [this](int, const std::string &text) {
      messages += text + "\n";
    };
  }

  /// Under the default schedule, where `refuses` says which are refused.
  Result<std::vector<driver::KernelCode>>
  compile(const std::function<bool(const schedule::Schedule &)> &refuses) {
    tried.clear();
    chosen = {known->fallback};
    driver::PlanRegions regions{table.texts, chosen,
                                [](size_t) { return "kernel 'project'"; }};
    regions.mayLower = [&](const schedule::Schedule &schedule) -> Status {
      EXPECT_TRUE(tried.insert(schedule.str()).second) << schedule.str();
      return refuses(schedule) ? Status(planted(schedule)) : Status();
    };
    return driver::compileRegions(regions, target, request);
  }

  /// The only code's schedule; it says why it is not the default's.
  schedule::Schedule
  replaced(const std::function<bool(const schedule::Schedule &)> &refuses) {
    auto codes = compile(refuses);
    EXPECT_TRUE(codes) << codes.error().str();
    if (!codes)
      return {};
    const driver::KernelCode &code = codes->front();
    EXPECT_EQ(code.imageKind, "ptx");
    EXPECT_TRUE(code.note);
    if (code.note) {
      EXPECT_EQ(code.note->rule, "schedule.refused");
      EXPECT_EQ(code.note->text,
                "the lowering refuses " + known->fallback.str() +
                    ": a planted refusal; " + code.schedule.str() + " instead");
      EXPECT_NE(messages.find(code.note->text), std::string::npos) << messages;
    }
    auto plan = driver::buildPlan(*fused, graph, table, *codes, target);
    EXPECT_TRUE(plan) << plan.error().str();
    if (!plan)
      return {};
    EXPECT_EQ(plan->launches[0].schedule, code.schedule.str());
    bool told = false;
    for (const plan::Note &note : plan->notes)
      told |= note.rule == "schedule.refused" &&
              note.ops == std::vector<std::string>{"project"} &&
              note.text == code.note->text;
    EXPECT_TRUE(told);
    return code.schedule;
  }

  driver::Session session;
  graph::Graph graph;
  std::optional<driver::FusedGraph> fused;
  driver::RegionTable table;
  target::TargetDesc target = *target::resolveTarget("h200");
  std::optional<driver::RegionSchedules> known;
  api::CompileRequest request;
  std::vector<schedule::Schedule> chosen;
  std::set<std::string> tried;
  std::string messages;
};

TEST_F(Substitutes, WhatIsNotRefusedStays) {
  auto codes = compile([](const auto &) { return false; });
  ASSERT_TRUE(codes) << codes.error().str();
  EXPECT_EQ(codes->front().schedule.str(), known->fallback.str());
  EXPECT_FALSE(codes->front().note);
  EXPECT_EQ(tried.size(), 1u);
}

TEST_F(Substitutes, TheNextBestIsTaken) {
  schedule::Schedule other = replaced([&](const schedule::Schedule &schedule) {
    return schedule == known->fallback;
  });
  auto ranked = known->space.enumerate(2);
  EXPECT_EQ(other, ranked[0] == known->fallback ? ranked[1] : ranked[0]);
}

TEST_F(Substitutes, WhereRolesAreRefusedAKernelWithoutThemIsTaken) {
  schedule::Schedule other = replaced([](const schedule::Schedule &schedule) {
    return schedule.knob("consumers") > 0;
  });
  EXPECT_EQ(other.knob("consumers"), 0);
  EXPECT_TRUE(known->space.contains(other)) << other.str();
}

TEST_F(Substitutes, FlawsLeadToLessOfTheTileForAWarp) {
  auto area = [](const schedule::Schedule &s) {
    int64_t warps = s.knob("consumers") > 0
                        ? 4 * (s.knob("pingpong") ? 1 : s.knob("consumers"))
                        : s.knob("warpsM") * s.knob("warpsN");
    return s.knob("tileM") * s.knob("tileN") / warps;
  };
  int64_t least = area(known->fallback);
  auto others = driver::insteadOfFlawed(known->fallback, *known);
  ASSERT_GE(others.size(), 2u);
  EXPECT_EQ(others.back(), known->general);
  others.pop_back();
  for (const schedule::Schedule &other : others) {
    EXPECT_LT(area(other), least) << other.str();
    least = area(other);
  }
}

TEST_F(Substitutes, TheGeneralOneIsTheLast) {
  EXPECT_EQ(replaced([&](const schedule::Schedule &schedule) {
              return !(schedule == known->general);
            }),
            known->general);
}

TEST_F(Substitutes, WhereAllAreRefusedTheFirstErrorIsTheAnswer) {
  auto codes = compile([](const auto &) { return true; });
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().rule, "kernel.lower");
  EXPECT_EQ(codes.error().message, "a planted refusal");
  EXPECT_GE(tried.size(), 3u);
}

TEST_F(Substitutes, StrictPinnedAndDebuggedSchedulesHaveNone) {
  auto refuseAll = [](const auto &) { return true; };
  request.strict = true;
  auto codes = compile(refuseAll);
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(codes.error().rule, "compile.strict");
  EXPECT_EQ(codes.error().where, "kernel 'project'");
  for (const std::string &part :
       {known->fallback.str(), std::string("a planted refusal")})
    EXPECT_NE(codes.error().message.find(part), std::string::npos)
        << codes.error().str();
  request.strict = false;
  request.pin = known->fallback.str();
  codes = compile(refuseAll);
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().rule, "kernel.lower");
  EXPECT_EQ(tried.size(), 1u);
  request.pin.clear();
  request.debugKernels.waits = true;
  codes = compile(refuseAll);
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.error().rule, "kernel.lower");
  EXPECT_EQ(tried.size(), 1u);
}

TEST_F(Substitutes, InternalErrorsAreNoRefusals) {
  Error error = planted(known->fallback);
  EXPECT_TRUE(driver::isRefusal(error));
  error.code = ErrorCode::ResourceLimit;
  EXPECT_TRUE(driver::isRefusal(error));
  for (ErrorCode code : {ErrorCode::Internal, ErrorCode::Toolchain,
                         ErrorCode::Interrupted, ErrorCode::InvalidArgument}) {
    error.code = code;
    EXPECT_FALSE(driver::isRefusal(error));
  }
}

} // namespace
