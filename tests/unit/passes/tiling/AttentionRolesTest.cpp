//===- AttentionRolesTest.cpp - which blocks of attention stay ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/MatrixSchedules.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::tiling;

namespace {

AttentionFacts attention(int64_t heads, int64_t length, bool causal = true,
                         int64_t window = 0) {
  AttentionFacts facts;
  facts.queries = facts.keys = length;
  facts.heads = heads;
  facts.headSize = facts.valueSize = 128;
  facts.elementBytes = 2;
  facts.plain = true;
  facts.causal = causal;
  facts.window = window;
  return facts;
}

/// Clocks with blocks that stay over clocks with one item per block, tiles of
/// 128 x 128.
double staying(const AttentionFacts &facts) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200"); // 132 units
  EXPECT_TRUE(h200);
  schedule::KnobSpace space = attentionSpace(facts, *h200);
  auto cost = [&](int64_t stay) {
    auto s = schedule::Schedule::defaults("Attention", target::Kind::Gpu);
    s.knobs["tileM"] = s.knobs["tileN"] = 128;
    s.knobs["warpsM"] = s.knobs["minBlocks"] = 1;
    s.knobs["consumers"] = s.knobs["stages"] = 2;
    s.knobs["stay"] = stay;
    EXPECT_FALSE(space.illegal(s));
    return space.cost(s);
  };
  return cost(1) / cost(0);
}

/// Pairs fill all rounds but for three in a hundred; what the device deals out,
/// the longest items of a strip of heads first, does about as well.
TEST(AttentionRoles, PairsKeepUnitsBusyUnderACausalMask) {
  EXPECT_NEAR(staying(attention(16, 4096)), 0.98, 0.02);
  EXPECT_LT(staying(attention(16 * 33, 512)), 0.9);
}

/// With many heads the device has others to deal out; what is left is that
/// items begin under the ends of those before.
TEST(AttentionRoles, ShortItemsHaveManyEnds) {
  double one = staying(attention(512, 512)),
         full = staying(attention(512, 512, /*causal=*/false));
  EXPECT_LT(one, 0.85);
  EXPECT_LT(full, 0.9);
  EXPECT_GT(staying(attention(16 * 64, 16384)), 0.95);
}

/// 144 pairs are two rounds on 132 units, the second nearly empty.
TEST(AttentionRoles, RoundsOfPairsMayBeEmpty) {
  EXPECT_GT(staying(attention(9, 4096)), 1.2);
  EXPECT_LT(staying(attention(8, 4096)), 1);
}

/// Fewer items than units: a pair is twice the work of one.
TEST(AttentionRoles, FewItemsHaveUnitsOfTheirOwn) {
  EXPECT_GT(staying(attention(32, 256)), 1.1);
  EXPECT_NEAR(staying(attention(1, 16384, /*causal=*/false)), 1, 1e-9);
}

/// Pairs of nine tiles reach over two heads and are as long as any others.
TEST(AttentionRoles, OddTilesMakeEvenPairs) {
  double even = staying(attention(264, 1024)),
         odd = staying(attention(264, 1024 + 128));
  EXPECT_NEAR(even, odd, 0.05);
}

/// Under a window all items are about equally long and nothing is paired.
TEST(AttentionRoles, WindowsAreNotPaired) {
  EXPECT_LT(staying(attention(9, 4096, true, 512)), 1);
  EXPECT_GT(staying(attention(9, 4096)), 1);
}

TEST(AttentionRoles, TheDefaultFollows) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  auto stay = [&](const AttentionFacts &facts) {
    schedule::Schedule s = defaultAttention(facts, *h200);
    EXPECT_GT(s.knob("consumers"), 0);
    return s.knob("stay");
  };
  EXPECT_EQ(stay(attention(16, 4096)), 1);
  EXPECT_EQ(stay(attention(512, 512)), 1);
  EXPECT_EQ(stay(attention(1, 4096)), 0);
  AttentionFacts unknown = attention(0, 0);
  unknown.heads = unknown.queries = unknown.keys = std::nullopt;
  EXPECT_EQ(stay(unknown), 1);
}

/// A counter needs blocks that stay, and is worth its zeros where the matrix
/// units decide a step and there are more items than units.
TEST(AttentionRoles, ACounterDealsOutLongSteps) {
  Result<target::TargetDesc> h200 = target::resolveTarget("h200");
  ASSERT_TRUE(h200);
  for (bool causal : {false, true})
    for (auto [heads, size, counted] :
         {std::tuple<int64_t, int64_t, bool>{64, 128, true},
          {512, 128, true},
          {64, 256, true},
          {128, 64, false},
          {4, 128, false}}) {
      AttentionFacts facts = attention(heads, heads == 4 ? 512 : 4096, causal);
      facts.headSize = facts.valueSize = size;
      schedule::KnobSpace space = attentionSpace(facts, *h200);
      schedule::Schedule schedule = defaultAttention(facts, *h200);
      ASSERT_GT(schedule.knob("consumers"), 0) << schedule.str();
      EXPECT_EQ(schedule.knob("dynamic"), counted) << schedule.str();
      schedule.knobs["dynamic"] = 1;
      schedule.knobs["stay"] = 1;
      EXPECT_TRUE(space.contains(schedule)) << schedule.str();
      schedule.knobs["stay"] = 0;
      EXPECT_FALSE(space.contains(schedule)) << schedule.str();
      schedule.knobs["consumers"] = 0;
      EXPECT_TRUE(space.illegal(schedule)) << schedule.str();
    }
}

} // namespace
