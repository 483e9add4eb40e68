//===- SizesTest.cpp - one plan, several schedules, every size ------------===//
//
// A plan whose kernels have variants is right on both sides of each of its
// boundaries, at its ends, and where nothing is to be done; and a run takes
// what its own variant needs of the workspace.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"
#include "tests/conformance/Skips.h"

#include <gtest/gtest.h>

#include <set>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// The dimensions for a value of what decides.
using DimsAt = std::function<DimValues(int64_t)>;

/// Sizes next to the boundaries of the plan's choices, within [0, most].
std::set<int64_t> edgesOf(const plan::Plan &plan, int64_t most) {
  std::set<int64_t> edges{0, 1, most};
  for (const plan::Choice &choice : plan.choices)
    for (const plan::Variant &variant : choice.variants)
      for (int64_t past : {-1, 0, 1, 2})
        edges.insert(std::clamp<int64_t>(variant.max + past, 0, most));
  return edges;
}

/// Schedules of the launches of a choice's variants.
std::set<std::string> schedulesOf(const plan::Plan &plan) {
  std::set<std::string> schedules;
  for (const plan::Choice &choice : plan.choices)
    for (int32_t i = choice.first; i < choice.end(); ++i)
      schedules.insert(plan.launches[static_cast<size_t>(i)].schedule);
  return schedules;
}

/// Compiles once, and checks the sizes around every boundary.
void checkEdges(const Sketch &s, int64_t most, const DimsAt &dimsAt,
                Options options = {}) {
  Result<std::unique_ptr<Subject>> subject = s.compile(options);
  ASSERT_TRUE(subject) << subject.error().str();
  const plan::Plan &plan = (*subject)->plan();
  ASSERT_FALSE(plan.choices.empty()) << kernelsOf(plan);
  EXPECT_GE(schedulesOf(plan).size(), 2u) << kernelsOf(plan);
  EXPECT_FALSE(plan.contracts.at("batchInvariant"));
  for (int64_t size : edgesOf(plan, most))
    for (bool strided : {false, true}) {
      SCOPED_TRACE(size);
      DimValues dims = dimsAt(size);
      options.strided = strided;
      EXPECT_EQ((*subject)->check(dims, s.data(dims), options), "")
          << kernelsOf(plan);
    }
}

DimsAt only(const std::string &name) {
  return [=](int64_t size) { return DimValues{{name, size}}; };
}

} // namespace

TEST(Sizes, Products) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Sketch s;
    Dim T = s.dim("T", 0, 700), K(96), N(160);
    ValueId y =
        s.op("matmul", {s.input(dtype, {T, K}), s.input(dtype, {K, N})});
    y = s.op("add", {y, s.input(dtype, {N})});
    s.output(s.op("gelu_erf", {y}));
    checkEdges(s, 700, only("T"));
  }
}

// Few rows of a long sum are summed in parts, which lie in the workspace.
TEST(Sizes, PartsTakeRoomAtTheirOwnSizesOnly) {
  Sketch s;
  Dim T = s.dim("T", 0, 2000), K(4096), N(64);
  s.output(s.op("matmul",
                {s.input(DType::BF16, {T, K}), s.input(DType::BF16, {K, N})}));
  Options options;
  options.threads = 4;
  Result<std::unique_ptr<Subject>> subject = s.compile(options);
  ASSERT_TRUE(subject) << subject.error().str();
  const plan::Plan &plan = (*subject)->plan();
  ASSERT_EQ(plan.choices.size(), 1u) << kernelsOf(plan);
  bool anyInParts = false;
  for (const plan::Variant &variant : plan.choices[0].variants)
    for (int64_t size : {variant.min, variant.max}) {
      if (size == 0)
        continue;
      int64_t bytes = -1;
      ASSERT_TRUE(plan.workspaceBytes.evaluate(std::array{size}, bytes));
      EXPECT_EQ(bytes > 0, variant.launches == 2) << size;
      anyInParts |= variant.launches == 2;
    }
  EXPECT_TRUE(anyInParts) << kernelsOf(plan);
  checkEdges(s, 200, only("T"), options);
}

TEST(Sizes, RowsOfSeveralSequences) {
  Sketch s;
  Dim B = s.dim("B", 1, 16), S = s.dim("S", 1, 64), K(64), N(96);
  s.output(s.op("matmul",
                {s.input(DType::F32, {B, S, K}), s.input(DType::F32, {K, N})}));
  Result<std::unique_ptr<Subject>> subject = s.compile();
  ASSERT_TRUE(subject) << subject.error().str();
  const plan::Plan &plan = (*subject)->plan();
  ASSERT_EQ(plan.choices.size(), 1u) << kernelsOf(plan);
  // The same number of rows in different ways.
  for (DimValues dims : {DimValues{{"B", 1}, {"S", 1}},
                         {{"B", 1}, {"S", 64}},
                         {{"B", 16}, {"S", 4}},
                         {{"B", 13}, {"S", 5}},
                         {{"B", 2}, {"S", 33}},
                         {{"B", 16}, {"S", 64}}})
    EXPECT_EQ((*subject)->check(dims, s.data(dims)), "") << kernelsOf(plan);
}

TEST(Sizes, AttentionDecodesAndPrefills) {
  Sketch s;
  Dim Q = s.dim("Q", 0, 300), K = s.dim("K", 0, 300), D(64);
  ValueId q = s.input(DType::F16, {Dim(2), Dim(4), Q, D}),
          k = s.input(DType::F16, {Dim(2), Dim(2), K, D}),
          v = s.input(DType::F16, {Dim(2), Dim(2), K, D});
  s.output(s.op("attention", {q, k, v}, {{"causal", "bottom_right"}}));
  Options options;
  options.perRow = true;
  checkEdges(
      s, 300, [](int64_t size) { return DimValues{{"Q", size}, {"K", 300}}; },
      options);
}

// Each kernel of a chain chooses for itself.
TEST(Sizes, SeveralKernels) {
  Sketch s;
  Dim T = s.dim("T", 1, 500), K(64), N(192);
  ValueId x = s.input(DType::F32, {T, K});
  ValueId norm = s.op("rms_norm", {x, s.input(DType::F32, {K})});
  ValueId up = s.op("matmul", {norm, s.input(DType::F32, {K, N})});
  ValueId down =
      s.op("matmul", {s.op("silu", {up}), s.input(DType::F32, {N, K})});
  s.output(s.op("add", {x, down}));
  checkEdges(s, 500, [](int64_t size) {
    return DimValues{{"T", std::max<int64_t>(size, 1)}};
  });
}

TEST(Sizes, OneScheduleIfThatIsAsked) {
  Sketch s;
  Dim T = s.dim("T", 0, 700), K(96), N(160);
  s.output(s.op("matmul",
                {s.input(DType::F32, {T, K}), s.input(DType::F32, {K, N})}));
  Options options;
  options.variants = 1;
  Result<std::unique_ptr<Subject>> subject = s.compile(options);
  ASSERT_TRUE(subject) << subject.error().str();
  EXPECT_TRUE((*subject)->plan().choices.empty());
  EXPECT_EQ((*subject)->plan().launches.size(), 1u);
  for (int64_t size : {0, 1, 64, 65, 700})
    EXPECT_EQ((*subject)->check({{"T", size}}, s.data({{"T", size}})), "");
}
