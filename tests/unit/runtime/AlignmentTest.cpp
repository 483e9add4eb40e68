//===- AlignmentTest.cpp - which form of a launch runs --------------------===//
//
// The plan doubles x into y. Its general form does so for five of the eight
// columns only: the result shows which one ran.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cpu/ThreadPool.h"
#include "tests/unit/runtime/AllocationCount.h"
#include "tests/unit/runtime/LogLines.h"
#include "tests/unit/runtime/TestPlan.h"

#include <array>

using namespace azulejo;
using namespace azulejo::runtime;

namespace {

std::unique_ptr<Executable> make(plan::Plan plan) {
  Result<std::unique_ptr<Executable>> exe =
      Executable::prepare(std::move(plan), testBackend());
  EXPECT_TRUE(exe) << (exe ? "" : exe.error().str());
  return exe ? *std::move(exe) : nullptr;
}

/// Where the tensors lie: floats past a multiple of 64 bytes, and row strides.
struct Placed {
  int64_t xAt = 0, xStride = 8, yAt = 0, yStride = 8, rows = 4;
};

class Bound {
public:
  explicit Bound(const Placed &where) : where(where), shape{where.rows, 8} {
    for (size_t i = 0; i < xs.size(); ++i) {
      xs[i] = static_cast<float>(i + 1);
      ys[i] = -1;
    }
    tensors[0] = tensorOf(xs.data() + where.xAt, shape, xStrides);
    tensors[1] = tensorOf(ys.data() + where.yAt, shape, yStrides);
  }
  Status operator()(const Executable &exe, Pool *pool = nullptr) {
    Queue queue{nullptr, pool};
    Result<int64_t> bytes = exe.workspaceBytesFor(Tensors(tensors, 2), queue);
    if (!bytes)
      return bytes.error();
    EXPECT_LE(static_cast<size_t>(*bytes), sizeof workspace);
    return exe.run(Tensors(tensors, 2), workspace, sizeof workspace, queue);
  }
  /// Columns that were written, the same in every row; -1 if results are wrong.
  int64_t columns(float factor = 2) const {
    int64_t count = 0;
    while (count < 8 && y(0, count) != -1)
      ++count;
    for (int64_t row = 0; row < where.rows; ++row)
      for (int64_t j = 0; j < 8; ++j)
        if (y(row, j) != (j < count ? factor * x(row, j) : -1))
          return -1;
    return count;
  }
  float x(int64_t row, int64_t j) const {
    return xs[static_cast<size_t>(where.xAt + row * where.xStride + j)];
  }
  float y(int64_t row, int64_t j) const {
    return ys[static_cast<size_t>(where.yAt + row * where.yStride + j)];
  }

  Placed where;
  int64_t shape[2];
  int64_t xStrides[2] = {where.xStride, 1}, yStrides[2] = {where.yStride, 1};
  az_tensor tensors[2];
  alignas(64) std::array<float, 512> xs, ys;
  alignas(64) char workspace[4096];
};

/// Columns that a run wrote: 8 is the fast form, 5 the general one.
int64_t formAt(const Executable &exe, const Placed &where) {
  Bound run(where);
  Status status = run(exe);
  EXPECT_TRUE(status) << status.error().str();
  return run.columns();
}

} // namespace

TEST(Alignment, AddressAndStridesOfTheNamedBuffersDecide) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0});
  auto exe = make(plan);
  EXPECT_EQ(formAt(*exe, {}), 8);
  for (int64_t at : {1, 2, 3, 5})
    EXPECT_EQ(formAt(*exe, {.xAt = at}), 5) << at;
  EXPECT_EQ(formAt(*exe, {.xAt = 4}), 8);
  for (int64_t stride : {9, 10, 11, 13})
    EXPECT_EQ(formAt(*exe, {.xStride = stride}), 5) << stride;
  EXPECT_EQ(formAt(*exe, {.xStride = 12}), 8);
  EXPECT_EQ(formAt(*exe, {.xStride = 0}), 8) << "a row for all";
  // Nobody asked about y.
  EXPECT_EQ(formAt(*exe, {.yAt = 1, .yStride = 9}), 8);

  plan.launches[0].aligned = {0, 1};
  exe = make(plan);
  EXPECT_EQ(formAt(*exe, {}), 8);
  EXPECT_EQ(formAt(*exe, {.yAt = 1}), 5);
  EXPECT_EQ(formAt(*exe, {.yStride = 9}), 5);
  EXPECT_EQ(formAt(*exe, {.xAt = 1}), 5);
  EXPECT_EQ(formAt(*exe, {.xAt = 4, .yAt = 8, .yStride = 16}), 8);
}

// No index but zero is multiplied by it.
TEST(Alignment, TheStrideOfASingleRowIsIgnored) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0, 1});
  auto exe = make(plan);
  for (int64_t stride : {int64_t{9}, int64_t{1}, INT64_MAX})
    EXPECT_EQ(formAt(*exe, {.xStride = stride, .yStride = stride, .rows = 1}),
              8)
        << stride;
  EXPECT_EQ(formAt(*exe, {.xAt = 1, .rows = 1}), 5);
}

TEST(Alignment, TensorsWithoutElementsAreAligned) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0, 1});
  plan.launches[0].grid = plan.alternates[0].grid = plan::Expr(1);
  // The general form would run outside of everything.
  plan.alternates[0].grid = plan::Expr(1) + plan::Expr(int64_t{1} << 62);
  plan.launches[0].args.back().size = plan::Expr(0);
  auto exe = make(plan);
  Bound run({.xStride = 9, .rows = 0});
  run.tensors[0].data = reinterpret_cast<char *>(run.xs.data()) + 1;
  Status status = run(*exe);
  EXPECT_TRUE(status) << status.error().str();
  run.tensors[0].data = nullptr;
  EXPECT_TRUE(run(*exe));

  // Without another form they are no reason to refuse a run, either.
  plan = testPlan();
  plan.launches[0].aligned = {0, 1};
  exe = make(plan);
  run.tensors[0].data = reinterpret_cast<char *>(run.xs.data()) + 1;
  EXPECT_TRUE(run(*exe));
}

// Kernels may compute addresses of rows that are not there before they mask
// them out; what they compute with is benign, too.
TEST(Alignment, StridesThatDoNotMatterAreBoundAsZero) {
  plan::Plan plan = testPlan();
  // The stride of x's rows, as the number of columns.
  plan.launches[0].args.back() = plan.launches[0].args[1];
  auto exe = make(plan);
  Bound one({.xStride = 3, .rows = 1});
  ASSERT_TRUE(one(*exe));
  EXPECT_EQ(one.columns(), 0);
  Bound two({.xStride = 8, .rows = 2});
  ASSERT_TRUE(two(*exe));
  EXPECT_EQ(two.columns(), 8);
}

TEST(Alignment, WorkspaceBuffersAreTestedByTheirRows) {
  plan::Plan plan = testPlan("twice", true);
  addGeneralForm(plan, {2});
  plan.launches[1].args.back().size = plan::Expr(5);
  auto exe = make(plan);
  Bound eight({.xAt = 1});
  ASSERT_TRUE(eight(*exe));
  EXPECT_EQ(eight.columns(4), 5);
  // Rows of nine floats are not aligned; the address of the buffer always is.
  plan.launches[1].args.back().size = plan::Expr(8);
  plan.buffers[2].shape[1] = plan::Expr(9);
  plan.workspaceBytes = plan::Expr::dim(0) * plan::Expr(36);
  plan.alternates[0].args.back().size = plan::Expr(0);
  exe = make(plan);
  Bound nine({.rows = 4});
  std::fill(std::begin(nine.workspace), std::end(nine.workspace), 0);
  ASSERT_TRUE(nine(*exe));
  EXPECT_EQ(nine.y(3, 7), 0) << "the general form wrote nothing";
  Bound single({.rows = 1});
  ASSERT_TRUE(single(*exe));
  EXPECT_EQ(single.columns(4), 8) << "one row has no step to the next";
}

TEST(Alignment, AnswersAreTheSameWithoutTables) {
  // More buffers than the stack of a run holds.
  plan::Plan plan = testPlan("twice", true);
  plan.workspaceBytes = plan::Expr(1024);
  while (plan.buffers.size() < 5000)
    plan.buffers.push_back(plan.buffers[2]);
  addGeneralForm(plan, {0, 4999});
  plan.launches[0].args[2].buffer = plan.launches[0].args[3].buffer = 1;
  plan.alternates[0].args = plan.launches[0].args;
  plan.alternates[0].args.back().size = plan::Expr(5);
  plan.launches.pop_back();
  auto exe = make(plan);
  EXPECT_EQ(formAt(*exe, {}), 8);
  EXPECT_EQ(formAt(*exe, {.xAt = 1}), 5);
  EXPECT_EQ(formAt(*exe, {.xStride = 9}), 5);
  plan.buffers[4999].shape[1] = plan::Expr(3);
  EXPECT_EQ(formAt(*make(plan), {}), 5);
}

// Who asks does not say where the tensors will lie.
TEST(Alignment, TheWorkspaceIsEnoughForEitherForm) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0});
  auto exe = make(plan);
  ThreadPool pool(3);
  Result<int64_t> alone = exe->workspaceBytes(std::vector<int64_t>{4}, {});
  Result<int64_t> three =
      exe->workspaceBytes(std::vector<int64_t>{4}, {nullptr, &pool});
  ASSERT_TRUE(alone && three);
  EXPECT_EQ(*alone, 256);
  EXPECT_EQ(*three, 3 * 256);
  Bound run({.xAt = 1, .rows = 30});
  ASSERT_TRUE(run(*exe, &pool));
  EXPECT_EQ(run.columns(), 5);
}

TEST(Alignment, MoreArgumentsOfTheGeneralFormFit) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0});
  plan::Arg zero;
  zero.kind = plan::Arg::Size;
  plan.alternates[0].args.resize(2048, zero);
  auto exe = make(plan);
  EXPECT_EQ(formAt(*exe, {.xAt = 1}), 5);
  plan.alternates[0].args.resize(2049, zero);
  Result<std::unique_ptr<Executable>> refused =
      Executable::prepare(plan, testBackend());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().rule, "plan.size");
}

TEST(Alignment, FormsMayDifferInTheirGrid) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0});
  plan.alternates[0].grid = plan::Expr(0);
  auto exe = make(plan);
  EXPECT_EQ(formAt(*exe, {}), 8);
  EXPECT_EQ(formAt(*exe, {.xAt = 1}), 0);
}

TEST(Alignment, ADimensionThatOnlyTheGeneralFormReadsIsBound) {
  plan::Plan plan = testPlan();
  plan.dims.push_back({"T", 0, 100});
  addGeneralForm(plan, {0});
  plan.alternates[0].grid = plan::Expr::dim(1);
  Result<std::unique_ptr<Executable>> exe =
      Executable::prepare(plan, testBackend());
  ASSERT_FALSE(exe) << "nothing says what T is";
  EXPECT_EQ(exe.error().rule, "plan.dims");
}

TEST(Alignment, WithoutAGeneralFormARunIsRefusedByName) {
  plan::Plan plan = testPlan("twice", true);
  plan.launches[0].aligned = {0};
  plan.launches[1].aligned = {1, 2};
  auto exe = make(plan);
  Bound good({});
  ASSERT_TRUE(good(*exe));
  EXPECT_EQ(good.columns(4), 8);
  auto refuse = [&](const Placed &where, const char *what, const char *kernel) {
    Bound run(where);
    Status status = run(*exe);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(status.error().rule, "run.alignment");
    EXPECT_EQ(status.error().where, what);
    EXPECT_NE(status.error().message.find(kernel), std::string::npos)
        << status.error().str();
    EXPECT_EQ(run.columns(), 0) << "a refused run wrote";
  };
  refuse({.xAt = 1}, "input 'x'", "kernel 'k0'");
  refuse({.xStride = 9}, "input 'x'", "kernel 'k0'");
  refuse({.yStride = 9}, "output 'y'", "kernel 'k1'");
  plan.buffers[2].shape[1] = plan::Expr(9);
  plan.workspaceBytes = plan::Expr::dim(0) * plan::Expr(36);
  exe = make(plan);
  refuse({}, "workspace buffer 2", "kernel 'k1'");
}

TEST(Alignment, AStrictPlanSaysWhyARunIsRefused) {
  for (bool strict : {false, true}) {
    plan::Plan plan = testPlan("twice", true);
    plan.launches[0].aligned = {0};
    plan.launches[1].aligned = {2};
    plan.contracts["strict"] = strict;
    // Of a tensor, and of the workspace, whose rows nobody can copy.
    for (int64_t row : {8, 9}) {
      plan.buffers[2].shape[1] = plan::Expr(row);
      plan.workspaceBytes = plan::Expr::dim(0) * plan::Expr(4 * row);
      auto exe = make(plan);
      Bound run({.xAt = row == 8 ? 1 : 0});
      Status status = run(*exe);
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().rule, "run.alignment");
      EXPECT_EQ(status.error().hint.find("the plan is strict") !=
                    std::string::npos,
                strict)
          << status.error().hint;
      EXPECT_EQ(run.columns(), 0) << "a refused run wrote";
    }
  }
}

TEST(Alignment, TheGeneralFormIsSaidOncePerLaunch) {
  plan::Plan plan = testPlan("twice", true);
  addGeneralForm(plan, {0});
  plan::Launch second = plan.alternates[0];
  second.kernel = "k1.general";
  second.args = plan.launches[1].args;
  plan.alternates.push_back(second);
  plan.launches[1].aligned = {1};
  plan.launches[1].otherwise = 1;
  auto exe = make(plan);
  auto run = [&](const Placed &where) { EXPECT_TRUE(Bound(where)(*exe)); };
  {
    LogLines quiet(LogLevel::Warn);
    run({.xAt = 1});
    EXPECT_TRUE(quiet.lines.empty());
  }
  // What nobody heard was not said.
  LogLines log(LogLevel::Info);
  run({});
  EXPECT_TRUE(log.lines.empty());
  run({.xAt = 1});
  run({.xStride = 9});
  ASSERT_EQ(log.lines.size(), 1u);
  run({.xAt = 1, .yStride = 9});
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_EQ(log.lines[0].find("input 'x': its address or one of its outer "
                              "strides is not a multiple of 16 bytes"),
            0u)
      << log.lines[0];
  EXPECT_NE(log.lines[0].find("kernel 'k0'"), std::string::npos);
  EXPECT_EQ(log.lines[1].find("output 'y': "), 0u) << log.lines[1];
  EXPECT_NE(log.lines[1].find("kernel 'k1'"), std::string::npos);
  // From then on such runs are as cheap as others, though somebody listens.
  Bound again({.xAt = 1, .yStride = 9});
  startCounting();
  Status status =
      exe->run(Tensors(again.tensors, 2), again.workspace, 4096, {});
  EXPECT_EQ(stopCounting(), 0);
  EXPECT_TRUE(status);
  EXPECT_EQ(log.lines.size(), 2u);
}

TEST(Alignment, ErrorsNameTheFormThatRan) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0});
  plan.alternates[0].grid = plan::Expr::dim(0) * plan::Expr(int64_t{1} << 61);
  auto exe = make(plan);
  EXPECT_EQ(formAt(*exe, {}), 8);
  Bound run({.xAt = 1});
  Status status = run(*exe);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "kernel 'k0.general'");
}

TEST(Alignment, ChoosingAllocatesNothing) {
  plan::Plan plan = testPlan();
  addGeneralForm(plan, {0, 1});
  auto exe = make(plan);
  for (int64_t at : {0, 1}) {
    Bound run({.xAt = at});
    startCounting();
    Status status = exe->run(Tensors(run.tensors, 2), run.workspace, 4096, {});
    EXPECT_EQ(stopCounting(), 0);
    ASSERT_TRUE(status);
    EXPECT_EQ(run.columns(), at ? 5 : 8);
  }
}
