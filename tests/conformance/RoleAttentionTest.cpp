//===- RoleAttentionTest.cpp - attention by warps with roles --------------===//
//
// Attention under every kind of schedule that has the knob `consumers`, with
// queries and keys that fill no tile. A device without the schedules runs the
// same by its own.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/RoleCheck.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

struct Roles {
  int64_t consumers = 2, tileN = 64, stages = 2, stay = 1, dynamic = 0;

  std::string text() const {
    auto knob = [](const char *name, int64_t value) {
      return std::string(name) + "=" + std::to_string(value);
    };
    return "Attention{" + knob("tileM", 64 * consumers) + "," +
           knob("tileN", tileN) + "," + knob("consumers", consumers) + "," +
           knob("stages", stages) + "," + knob("stay", stay) + "," +
           knob("dynamic", dynamic) + ",warpsM=1,minBlocks=1}";
  }
};

struct Case {
  DType dtype = DType::BF16;
  int64_t queries = 333, keys = 401, heads = 4, kvHeads = 2;
  int64_t size = 64, valueSize = 64, window = 0;
  bool bshd = false, bias = false, mask = false, slopes = false, lse = false;
  std::string causal = "none";
  double softcap = 0;
  std::vector<double> lengths = {}; ///< of both sequences; none: all keys
  double steepest = 0; ///< scores grow (fall) from key to key; 0: at random

  Shape shape(int64_t count, int64_t length, int64_t channels) const {
    return bshd ? Shape{Dim(2), Dim(length), Dim(count), Dim(channels)}
                : Shape{Dim(2), Dim(count), Dim(length), Dim(channels)};
  }

  /// Keys and values; behind the length of their sequence they are NaN.
  Fill poisoned() const {
    if (lengths.empty())
      return uniform();
    return [*this](DType type, Ints shape, uint64_t seed) {
      HostTensor tensor = randomTensor(type, shape, seed);
      int64_t inner = shape[3] * (bshd ? shape[2] : 1),
              sequence = tensor.elements() / shape[0];
      for (int64_t i = 0; i < tensor.elements(); ++i)
        if (static_cast<double>(i / inner % keys) >= lengths[i / sequence])
          tensor.setFlat(i, std::nan(""));
      return tensor;
    };
  }

  Sketch sketch() const {
    Sketch s;
    std::vector<ValueId> operands{
        s.input(dtype, shape(heads, queries, size),
                steepest > 0 ? uniform(-steepest, steepest) : uniform()),
        s.input(dtype, shape(kvHeads, keys, size),
                steepest > 0 ? ramp(bshd ? 1 : 2) : poisoned()),
        s.input(dtype, shape(kvHeads, keys, valueSize), poisoned())};
    std::string roles;
    auto give = [&](const char *role, ValueId id) {
      roles += (roles.empty() ? "" : ",") + std::string(role);
      operands.push_back(id);
    };
    if (bias)
      give("bias", s.input(DType::F32, {Dim(heads), Dim(queries), Dim(keys)}));
    if (mask)
      give("mask", s.input(DType::I1, {Dim(2), Dim(1), Dim(queries), Dim(keys)},
                           uniform(-0.5, 2)));
    if (!lengths.empty())
      give("lengths", s.input(DType::I32, {Dim(2)}, values(lengths)));
    if (slopes)
      give("slopes", s.input(DType::F32, {Dim(heads)}, uniform(0.02, 0.5)));
    for (ValueId id : s.ops("attention", operands,
                            {{"causal", causal},
                             {"window", window},
                             {"softcap", softcap},
                             {"layout", std::string(bshd ? "bshd" : "bhsd")},
                             {"lse", lse},
                             {"roles", roles}}))
      s.output(id);
    return s;
  }

  std::string text() const {
    return std::to_string(queries) + " queries, " + std::to_string(keys) +
           " keys, size " + std::to_string(size) + "/" +
           std::to_string(valueSize) + (bshd ? " bshd " : " bhsd ") + causal +
           " window " + std::to_string(window) + (bias ? " bias" : "") +
           (mask ? " mask" : "") +
           (lengths.empty() ? ""
                            : " lengths " + std::to_string(lengths[0]) + " " +
                                  std::to_string(lengths[1])) +
           (slopes ? " slopes" : "") + (lse ? " lse" : "");
  }
};

void check(const Case &one, const Roles &roles,
           const std::string &debugKernels = {}) {
  SCOPED_TRACE(one.text() + ", " + roles.text() + " " + debugKernels);
  Options options;
  options.perRow = true;
  options.debugKernels = debugKernels;
  checkWithRoles(one.sketch(), options, roles.text(), roles.consumers);
}

TEST(RoleAttention, EveryTile) {
  for (int64_t consumers : {1, 2, 3})
    for (int64_t tileN : {64, 96, 128})
      if (consumers < 3 || tileN < 96) // what registers allow
        check({.causal = "bottom_right"},
              Roles{consumers, tileN, 2 + (tileN / 32 + consumers) % 3,
                    consumers % 2});
}

TEST(RoleAttention, EveryHeadSize) {
  for (int64_t size : {48, 80, 96, 128, 192})
    check({.dtype = size == 80 ? DType::F16 : DType::BF16,
           .size = size,
           .valueSize = size},
          Roles{2, 64, 2});
  check({.size = 256, .valueSize = 256}, Roles{1, 64, 2});
  check({.size = 16, .valueSize = 64}, Roles{2, 64, 3});
  check({.size = 128, .valueSize = 48, .bshd = true}, Roles{2, 128, 2});
}

/// Up to 16 queries are AttentionDecode's.
TEST(RoleAttention, RaggedSizes) {
  for (auto [queries, keys] :
       {std::pair<int64_t, int64_t>{17, 1}, {63, 65}, {65, 63}, {129, 1}})
    for (const char *causal : {"none", "top_left", "bottom_right"})
      check({.queries = queries, .keys = keys, .causal = causal},
            Roles{1, 64, 2});
  // Queries that see no key, items without a step.
  check({.queries = 300, .keys = 70, .lse = true, .causal = "bottom_right"},
        Roles{1, 64, 2});
}

/// Under a causal mask a long and a short item come in turns; nine tiles of
/// queries, so that pairs reach over heads.
TEST(RoleAttention, ManyItemsPerBlock) {
  for (const char *causal : {"none", "top_left", "bottom_right"})
    check({.queries = 560,
           .keys = 300,
           .heads = 28,
           .kvHeads = 7,
           .causal = causal},
          Roles{1, 64, 2});
  check({.queries = 560,
         .keys = 300,
         .heads = 28,
         .kvHeads = 7,
         .causal = "bottom_right"},
        Roles{1, 64, 3}, "delays=7");
}

TEST(RoleAttention, Masks) {
  check({.window = 100, .causal = "bottom_right"}, Roles{2, 64, 2});
  check({.lse = true, .causal = "top_left", .softcap = 20}, Roles{2, 128, 2});
  check({.bshd = true, .bias = true}, Roles{2, 64, 2});
  check({.mask = true, .lse = true, .causal = "bottom_right"}, Roles{1, 64, 2});
  check({.slopes = true, .causal = "bottom_right"}, Roles{2, 128, 3});
}

/// Rows whose reference follows in every step, now and then, and never.
TEST(RoleAttention, ScoresThatGrowStepByStep) {
  for (double steepest : {0.005, 0.03, 0.3})
    for (const char *causal : {"none", "bottom_right"})
      check({.dtype = steepest > 0.1 ? DType::F16 : DType::BF16,
             .keys = 250,
             .lse = true,
             .causal = causal,
             .steepest = steepest},
            Roles{2, 64, 2});
}

/// Lengths that end a step, within one, before the first, and behind the keys;
/// what is behind them is NaN.
TEST(RoleAttention, Lengths) {
  for (const char *causal : {"none", "top_left", "bottom_right"}) {
    check({.lse = true, .causal = causal, .lengths = {0, 333}},
          Roles{2, 64, 2});
    check({.bshd = true, .causal = causal, .lengths = {64, 1000}},
          Roles{1, 96, 3});
    check({.size = 128,
           .valueSize = 128,
           .lse = true,
           .causal = causal,
           .lengths = {1, 129}},
          Roles{2, 128, 2, /*stay=*/0});
  }
  // Items of many lengths per block.
  check({.queries = 560,
         .keys = 300,
         .heads = 28,
         .kvHeads = 7,
         .size = 80,
         .valueSize = 80,
         .lengths = {299, 17}},
        Roles{1, 64, 2}, "delays=5");
}

/// Every role late at every boundary, in turn.
TEST(RoleAttention, AnyoneMayBeLate) {
  int seed = 0;
  for (int64_t consumers : {1, 2, 3})
    for (int64_t stages : {2, 3})
      check({.keys = 700, .causal = stages == 2 ? "none" : "bottom_right"},
            Roles{consumers, 64, stages},
            (stages == 2 ? "delays=" : "waits,delays=") +
                std::to_string(++seed));
}

/// A counter deals items out, the longest first: fewer than blocks, and many
/// for each, of many lengths and of none.
TEST(RoleAttention, Counted) {
  for (const char *causal : {"none", "top_left", "bottom_right"}) {
    check({.lse = true, .causal = causal}, Roles{2, 128, 2, 1, 1});
    check({.queries = 560,
           .keys = 300,
           .heads = 28,
           .kvHeads = 7,
           .causal = causal},
          Roles{1, 64, 2, 1, 1});
    check({.queries = 1100,
           .keys = 200,
           .heads = 12,
           .kvHeads = 3,
           .causal = causal,
           .lengths = {199, 0}},
          Roles{2, 64, 3, 1, 1});
    check({.queries = 1200, .keys = 150, .heads = 16, .causal = causal},
          Roles{3, 64, 2, 1, 1});
  }
}

TEST(RoleAttention, CountedAndLate) {
  int seed = 300;
  for (int64_t consumers : {1, 2, 3})
    for (const char *causal : {"none", "bottom_right"}) {
      std::string late = std::to_string(++seed);
      check({.queries = 800,
             .keys = 200,
             .heads = 14 * consumers,
             .kvHeads = 7 * consumers,
             .causal = causal},
            Roles{consumers, 64, 2, 1, 1},
            (seed % 2 ? "delays=" : "waits,delays=") + late);
    }
}

/// Who computes an item does not matter to its bits.
TEST(RoleAttention, CountedItemsGiveTheSameBits) {
  if (!hasRoles() || !TestDevice::current().canRun())
    GTEST_SKIP() << "roles need a device of capability 9.0 that is here";
  for (const char *causal : {"none", "bottom_right"}) {
    Case one{.queries = 700,
             .keys = 500,
             .heads = 28,
             .kvHeads = 7,
             .lse = true,
             .causal = causal};
    Sketch s = one.sketch();
    std::vector<HostTensor> inputs = s.data({}), first;
    for (int64_t dynamic : {0, 1}) {
      Options options;
      options.pin = Roles{1, 64, 2, 1, dynamic}.text();
      Result<std::unique_ptr<Subject>> subject =
          Subject::compile(s.graph(), options);
      ASSERT_TRUE(subject) << subject.error().str();
      for (int repeat = 0; repeat < (dynamic ? 50 : 1); ++repeat) {
        Result<std::vector<HostTensor>> again =
            (*subject)->run({}, inputs, options);
        ASSERT_TRUE(again) << again.error().str();
        if (!dynamic)
          first = *again;
        for (size_t i = 0; i < first.size(); ++i)
          ASSERT_EQ((*again)[i].bytes, first[i].bytes)
              << "output " << i << ", repeat " << repeat;
      }
    }
  }
}

/// Queries, keys and values of all heads side by side in one row, as a
/// projection leaves them; `kvHeads` share keys.
Sketch packedHeads(DType dtype, int64_t heads, int64_t kvHeads, int64_t size,
                   const std::string &layout) {
  constexpr int64_t kBatch = 2, kLength = 333;
  Sketch s;
  int64_t row = (heads + 2 * kvHeads) * size;
  ValueId packed =
      s.input(dtype, {Dim(kBatch), Dim(kLength), Dim(row)}, uniform());
  int64_t start = 0;
  auto take = [&](int64_t count) {
    ValueId part =
        s.op("slice", {packed},
             {{"starts", Ints{0, 0, start}},
              {"sizes", Shape{Dim(kBatch), Dim(kLength), Dim(count * size)}},
              {"steps", Ints{1, 1, 1}}});
    start += count * size;
    ValueId split = s.op(
        "reshape", {part},
        {{"shape", Shape{Dim(kBatch), Dim(kLength), Dim(count), Dim(size)}}});
    return layout == "bshd"
               ? split
               : s.op("transpose", {split}, {{"perm", Ints{0, 2, 1, 3}}});
  };
  ValueId q = take(heads), k = take(kvHeads), v = take(kvHeads);
  s.output(s.op("attention", {q, k, v},
                {{"causal", std::string("bottom_right")}, {"layout", layout}}));
  return s;
}

TEST(RoleAttention, HeadsOfOnePackedTensor) {
  for (const char *layout : {"bshd", "bhsd"})
    for (DType dtype : {DType::BF16, DType::F16})
      for (auto [heads, kvHeads] : {std::pair<int64_t, int64_t>{3, 3}, {4, 2}})
        for (int64_t size : {48, 64, 128}) {
          SCOPED_TRACE(std::string(layout) + ", size " + std::to_string(size));
          Options options;
          options.perRow = true;
          checkWithRoles(packedHeads(dtype, heads, kvHeads, size, layout),
                         options, Roles{2, 64, 2}.text(), 2);
        }
}

} // namespace
