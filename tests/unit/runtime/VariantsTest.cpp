//===- VariantsTest.cpp - launches for the sizes of a run -----------------===//
//
// The plan doubles x into y; its variants do so for different numbers of
// columns, so that the result shows which one ran.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/AllocationCount.h"
#include "tests/unit/runtime/TestPlan.h"

using namespace azulejo;
using namespace azulejo::runtime;
using plan::Expr;

namespace {

/// A variant for S up to 3 that writes one column, up to 7 two, up to 40 three.
plan::Plan variedPlan() {
  plan::Plan plan = testPlan();
  plan.dims = {{"S", 0, 40}};
  plan.launches.resize(3, plan.launches[0]);
  for (size_t i = 0; i < 3; ++i) {
    plan.launches[i].kernel = "k" + std::to_string(i);
    plan.launches[i].args.back().size = Expr(static_cast<int64_t>(i) + 1);
  }
  plan.choices = {{0, Expr::dim(0), {{0, 3, 1}, {4, 7, 1}, {8, 40, 1}}}};
  return plan;
}

class VariedRun {
public:
  explicit VariedRun(plan::Plan plan) {
    Result<std::unique_ptr<Executable>> made =
        Executable::prepare(std::move(plan), testBackend());
    EXPECT_TRUE(made) << (made ? "" : made.error().str());
    exe = made ? *std::move(made) : nullptr;
    for (size_t i = 0; i < sizeof xs / sizeof *xs; ++i)
      xs[i] = static_cast<float>(i + 1);
  }
  Status operator()(int64_t rows, int64_t xAt = 0) {
    shape[0] = rows;
    std::fill_n(ys, sizeof ys / sizeof *ys, -1.0f);
    az_tensor tensors[2] = {tensorOf(xs + xAt, shape), tensorOf(ys, shape)};
    return exe->run(Tensors(tensors, 2), workspace, sizeof workspace, {});
  }
  int64_t columns(int64_t row) const {
    int64_t count = 0;
    while (count < 8 && ys[row * 8 + count] == 2 * xs[row * 8 + count])
      ++count;
    return count;
  }
  int64_t workspaceBytes(int64_t rows) const {
    Result<int64_t> bytes = exe->workspaceBytes(std::array{rows}, {});
    return bytes ? *bytes : -1;
  }

  std::unique_ptr<Executable> exe;
  int64_t shape[2] = {0, 8};
  alignas(64) float xs[512], ys[512];
  alignas(64) char workspace[4096];
};

} // namespace

TEST(Variants, EachSizeRunsItsOwnAndAllocatesNothing) {
  VariedRun run(variedPlan());
  ASSERT_TRUE(run.exe);
  for (int64_t rows = 0; rows <= 40; ++rows) {
    startCounting();
    bool fine = run(rows).ok();
    EXPECT_EQ(stopCounting(), 0);
    ASSERT_TRUE(fine) << rows;
    for (int64_t row = 0; row < rows; ++row)
      ASSERT_EQ(run.columns(row), rows <= 3 ? 1 : rows <= 7 ? 2 : 3) << rows;
  }
  Status status = run(41);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().rule, "run.range");
}

// What runs before, between and after the choices runs for every size.
TEST(Variants, LaunchesOutsideOfChoicesAlwaysRun) {
  plan::Plan plan = variedPlan();
  plan::Launch all = plan.launches[0];
  all.kernel = "all";
  all.args.back().size = Expr(6);
  plan.launches.push_back(all);
  VariedRun after(plan);
  std::rotate(plan.launches.begin(), plan.launches.end() - 1,
              plan.launches.end());
  plan.choices[0].first = 1;
  VariedRun before(plan);
  for (VariedRun *run : {&before, &after})
    for (int64_t rows : {1, 5, 40}) {
      ASSERT_TRUE((*run)(rows));
      EXPECT_EQ(run->columns(0), 6);
    }
}

// A tensor need only be as the launches of this run want it.
TEST(Variants, OnlyTheVariantThatRunsAsksForAlignment) {
  plan::Plan plan = variedPlan();
  plan.launches[1].aligned = {0};
  VariedRun run(plan);
  ASSERT_TRUE(run.exe);
  EXPECT_TRUE(run(3, /*xAt=*/1));
  EXPECT_TRUE(run(8, /*xAt=*/1));
  EXPECT_TRUE(run(4));
  for (int64_t rows : {4, 7}) {
    Status status = run(rows, /*xAt=*/1);
    ASSERT_FALSE(status) << rows;
    EXPECT_EQ(status.error().rule, "run.alignment");
    EXPECT_NE(status.error().message.find("'k1'"), std::string::npos);
  }
}

// A variant's intermediates are empty, and take no room, at other sizes.
TEST(Variants, TheWorkspaceIsThatOfTheVariantThatRuns) {
  plan::Plan plan = testPlan("twice", /*throughWorkspace=*/true);
  plan.dims = {{"S", 0, 40}};
  Expr s = Expr::dim(0);
  Expr few = max(Expr(0), min(Expr(1), Expr(5) - s));
  plan.buffers[2].shape = {few * s, Expr(8)};
  plan.workspaceBytes = few * (s * Expr(32));
  plan::Launch direct = plan.launches[0];
  direct.kernel = "direct";
  direct.args[2].buffer = direct.args[3].buffer = 1;
  plan.launches.push_back(direct);
  plan.choices = {{0, s, {{0, 4, 2}, {5, 40, 1}}}};
  VariedRun run(plan);
  ASSERT_TRUE(run.exe);
  EXPECT_EQ(run.workspaceBytes(3), 128);
  EXPECT_EQ(run.workspaceBytes(4), 128);
  EXPECT_EQ(run.workspaceBytes(5), 0);
  EXPECT_EQ(run.workspaceBytes(40), 0);
  ASSERT_TRUE(run(4));
  EXPECT_EQ(run.ys[0], 4 * run.xs[0]);
  ASSERT_TRUE(run(5));
  EXPECT_EQ(run.ys[0], 2 * run.xs[0]);
}

// The size of a choice may be all that needs a dimension.
TEST(Variants, ADimensionThatOnlyAChoiceReadsNeedsASource) {
  plan::Plan plan = variedPlan();
  plan.dims.push_back({"T", 1, 2});
  plan.choices[0].size = Expr::dim(0) * Expr::dim(1);
  plan.choices[0].variants.back().max = 80;
  Result<std::unique_ptr<Executable>> made =
      Executable::prepare(plan, testBackend());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().rule, "plan.dims");
}
