//===- DecodeTest.cpp - attention of few queries over many keys -----------===//
//
// What generation runs: one or a few queries, heads that share keys, keys that
// end somewhere, keys in pages; whole and in parts that are combined.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <limits>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One decode with K keys and Q queries (or a constant number of them).
struct Decode {
  DType dtype = DType::F32;
  int64_t batch = 2, heads = 4, kvHeads = 2, size = 32, valueSize = 32;
  int64_t queries = 1; ///< 0: a dimension of 1 to 16
  bool bshd = false, bias = false, mask = false, lengths = false,
       slopes = false, lse = false;
  std::string causal = "bottom_right";
  int64_t window = 0;
  double softcap = 0;

  Shape shape(int64_t count, const Dim &length, int64_t channels) const {
    return bshd ? Shape{Dim(batch), length, Dim(count), Dim(channels)}
                : Shape{Dim(batch), Dim(count), length, Dim(channels)};
  }

  std::vector<ValueId> attention(Sketch &s, const Dim &Q, const Dim &K,
                                 ValueId k, ValueId v) const {
    std::vector<ValueId> operands{s.input(dtype, shape(heads, Q, size)), k, v};
    std::string roles;
    auto give = [&](const char *role, ValueId id) {
      roles += (roles.empty() ? "" : ",") + std::string(role);
      operands.push_back(id);
    };
    if (bias)
      give("bias", s.input(DType::F32, {Dim(heads), Q, K},
                           values({0.5, -1, 2, 0, -kInfinity, 1.25, -0.75})));
    if (mask)
      give("mask",
           s.input(DType::I1, {Dim(batch), Dim(1), Q, K}, uniform(-0.5, 2)));
    if (lengths)
      give("lengths",
           s.input(DType::I32, {Dim(batch)}, values({40, 0, 100000, 129, 1})));
    if (slopes)
      give("slopes", s.input(DType::F32, {Dim(heads)}, uniform(0.02, 0.5)));
    return s.ops("attention", operands,
                 {{"causal", causal},
                  {"window", window},
                  {"softcap", softcap},
                  {"layout", std::string(bshd ? "bshd" : "bhsd")},
                  {"lse", lse},
                  {"roles", roles}});
  }

  Sketch sketch() const {
    Sketch s;
    Dim Q = queries ? Dim(queries) : s.dim("Q", 1, 16), K = s.dim("K");
    ValueId k = s.input(dtype, shape(kvHeads, K, size)),
            v = s.input(dtype, shape(kvHeads, K, valueSize));
    for (ValueId id : attention(s, Q, K, k, v))
      s.output(id);
    return s;
  }

  std::vector<DimValues> sizes() const {
    std::vector<DimValues> all;
    int64_t q = 1;
    for (int64_t keys : {0, 1, 17, 64, 129, 300, 1025}) {
      all.push_back({{"K", keys}});
      if (!queries)
        all.back()["Q"] = q;
      q = q == 16 ? 5 : std::min<int64_t>(q * 3, 16);
    }
    return all;
  }
};

std::string pinned(int64_t splits, int64_t tileN = 64) {
  return "AttentionDecode{splits=" + std::to_string(splits) +
         ",tileN=" + std::to_string(tileN) + "}";
}

Options perRow(std::string pin = {}) {
  Options options;
  options.perRow = true;
  options.pin = std::move(pin);
  return options;
}

plan::Plan planOf(const Sketch &sketch, const Options &options) {
  Result<std::unique_ptr<Subject>> subject = sketch.compile(options);
  if (subject)
    return (*subject)->plan();
  ADD_FAILURE() << subject.error().str();
  return {};
}

int decodeLaunches(const plan::Plan &plan) {
  int count = 0;
  for (const plan::Launch &launch : plan.launches)
    count += launch.family == "AttentionDecode";
  return count;
}

} // namespace

TEST(Decode, PartsAreCombinedByASecondKernel) {
  Sketch s = Decode().sketch();
  plan::Plan whole = planOf(s, perRow(pinned(1))),
             parts = planOf(s, perRow(pinned(4)));
  EXPECT_EQ(decodeLaunches(whole), 1) << kernelsOf(whole);
  EXPECT_EQ(decodeLaunches(parts), 2) << kernelsOf(parts);
  int64_t keys[] = {1000}, bytes = -1;
  ASSERT_TRUE(parts.workspaceBytes.evaluate(keys, bytes));
  // Four parts of two sequences of two key heads, each with two rows of 32
  // outputs and one sum.
  EXPECT_EQ(bytes, 4 * 2 * 2 * 2 * (32 + 1) * 4);
  ASSERT_TRUE(whole.workspaceBytes.evaluate(keys, bytes));
  EXPECT_EQ(bytes, 0);
}

TEST(Decode, EveryNumberOfQueries) {
  for (int64_t queries : {0, 1, 2, 3, 7, 15, 16})
    for (int64_t splits : {1, 4}) {
      Decode one;
      one.queries = queries;
      one.lse = splits > 1;
      SCOPED_TRACE("queries " + std::to_string(queries) + ", splits " +
                   std::to_string(splits));
      checkFused(one.sketch(), one.sizes(), perRow(pinned(splits)));
    }
}

TEST(Decode, MoreQueriesAreNotFew) {
  Decode one;
  one.queries = 17;
  plan::Plan plan = planOf(one.sketch(), perRow());
  EXPECT_EQ(decodeLaunches(plan), 0) << kernelsOf(plan);
}

TEST(Decode, EveryNumberOfParts) {
  for (int64_t splits : {2, 4, 8, 16, 32, 64})
    for (int dtype = 0; dtype < 3; ++dtype) {
      Decode one;
      one.dtype = std::array{DType::F32, DType::F16, DType::BF16}[dtype];
      one.lse = true;
      SCOPED_TRACE(std::to_string(splits) + " parts, " +
                   std::string(dtypeName(one.dtype)));
      checkFused(one.sketch(), one.sizes(), perRow(pinned(splits, 16)));
    }
}

TEST(Decode, HeadsShareKeys) {
  for (auto [heads, kvHeads] :
       {std::pair{1, 1}, {3, 3}, {6, 2}, {8, 1}, {16, 2}, {24, 1}})
    for (int64_t queries : {1, 5})
      for (bool bshd : {false, true}) {
        Decode one;
        one.heads = heads;
        one.kvHeads = kvHeads;
        one.queries = queries;
        one.bshd = bshd;
        one.dtype = bshd ? DType::BF16 : DType::F32;
        SCOPED_TRACE(std::to_string(heads) + "/" + std::to_string(kvHeads) +
                     " heads, " + std::to_string(queries) + " queries");
        checkFused(one.sketch(), one.sizes(), perRow(pinned(bshd ? 4 : 1)));
      }
}

TEST(Decode, EveryMask) {
  for (int64_t splits : {1, 4})
    for (int which = 0; which < 9; ++which) {
      Decode one;
      one.queries = 3;
      one.lse = which != 7;
      one.bias = which == 0;
      one.mask = which == 1;
      one.lengths = which == 2 || which == 5;
      one.slopes = which == 3 || which == 7;
      one.softcap = which == 4 ? 5 : 0;
      one.window = which == 5 || which == 6 ? 37 : 0;
      one.causal = which == 6   ? "top_left"
                   : which == 7 ? "none"
                                : "bottom_right";
      one.bias |= which == 8;
      one.lengths |= which == 8;
      SCOPED_TRACE("mask " + std::to_string(which) + ", splits " +
                   std::to_string(splits));
      checkFused(one.sketch(), one.sizes(), perRow(pinned(splits)));
    }
}

TEST(Decode, EveryHeadSize) {
  for (int64_t size : {1, 7, 16, 40, 64, 80, 100, 128, 256}) {
    Decode one;
    one.size = size;
    one.valueSize = size == 100 ? 24 : size;
    one.dtype = size % 16 ? DType::F32 : DType::F16;
    SCOPED_TRACE(size);
    for (const std::string &pin : {std::string(), pinned(4, 16)})
      checkFused(one.sketch(), {{{"K", 77}}, {{"K", 300}}}, perRow(pin));
  }
}

TEST(Decode, TheLogSumExpOfAlibiWithoutCausalityNeedsOneKernel) {
  Decode one;
  one.slopes = one.lse = true;
  one.causal = "none";
  Sketch s = one.sketch();
  plan::Plan plan = planOf(s, perRow());
  EXPECT_EQ(decodeLaunches(plan), 0) << kernelsOf(plan);
  checkFused(s, one.sizes(), perRow());
}

/// A prologue on the queries, an epilogue on the output, heads side by side.
TEST(Decode, FusesWhatStandsAround) {
  for (int64_t splits : {1, 8}) {
    Sketch s;
    Dim K = s.dim("K"), B(2);
    ValueId x = s.input(DType::BF16, {B, Dim(1), Dim(4 * 32)});
    ValueId q =
        s.op("reshape", {x}, {{"shape", Shape{B, Dim(1), Dim(4), Dim(32)}}});
    ValueId k = s.input(DType::BF16, {B, K, Dim(2), Dim(32)}),
            v = s.input(DType::BF16, {B, K, Dim(2), Dim(32)});
    ValueId o = s.op("attention", {q, k, v}, {{"layout", std::string("bshd")}});
    ValueId row =
        s.op("reshape", {o}, {{"shape", Shape{B, Dim(1), Dim(4 * 32)}}});
    ValueId sum = s.op("add", {s.op("silu", {row}), x});
    s.output(s.op("cast", {sum}, {{"dtype", DType::F32}}));
    Options options = perRow(pinned(splits));
    plan::Plan plan = planOf(s, options);
    EXPECT_EQ(plan.launches.size(), splits == 1 ? 1u : 2u) << kernelsOf(plan);
    EXPECT_EQ(decodeLaunches(plan), splits == 1 ? 1 : 2) << kernelsOf(plan);
    checkFused(s, {{{"K", 0}}, {{"K", 5}}, {{"K", 513}}}, options);
  }
}

/// Keys and values in pages: a gather by the table of a sequence, seen as one
/// row of keys. What lies in pages that no sequence has, or past the end of the
/// last page, is NaN.
TEST(Decode, KeysInPages) {
  constexpr int64_t kPage = 16, kPages = 24;
  for (int64_t splits : {1, 4}) {
    Decode one;
    one.bshd = true;
    one.dtype = splits == 1 ? DType::F16 : DType::F32;
    one.lse = true;
    Sketch s;
    Dim P = s.dim("P", 1, 64);
    Shape pages{Dim(kPages), Dim(kPage), Dim(one.kvHeads), Dim(one.size)};
    // Every third page holds numbers.
    auto holdsNan = [](DType dtype, Ints shape, uint64_t seed) {
      HostTensor tensor = randomTensor(dtype, shape, seed);
      int64_t perPage = tensor.elements() / kPages;
      for (int64_t i = 0; i < tensor.elements(); ++i)
        if (i / perPage % 3 != 0)
          tensor.setFlat(i, std::numeric_limits<double>::quiet_NaN());
      return tensor;
    };
    ValueId k = s.input(one.dtype, pages, holdsNan),
            v = s.input(one.dtype, pages, holdsNan);
    // Pages in no order. The second sequence ends in its second page; after
    // that its table names no page, or one of somebody else's.
    auto pagesOf = [](DType dtype, Ints shape, uint64_t) {
      HostTensor tensor = HostTensor::dense(dtype, shape);
      for (int64_t b = 0; b < shape[0]; ++b)
        for (int64_t p = 0; p < shape[1]; ++p)
          tensor.setFlatInt(b * shape[1] + p, b == 1 && p > 1
                                                  ? p % 3 - 1
                                                  : (5 * p + 7 * b) % 8 * 3);
      return tensor;
    };
    ValueId table = s.input(DType::I32, {Dim(one.batch), P}, pagesOf);
    ValueId lengths = s.input(DType::I32, {Dim(one.batch)}, values({1000, 20}));
    auto rows = [&](ValueId x) {
      ValueId picked = s.op("gather", {x, table}, {{"axis", int64_t{0}}});
      return s.op("reshape", {picked},
                  {{"shape", Shape{Dim(one.batch), P * Dim(kPage),
                                   Dim(one.kvHeads), Dim(one.size)}}});
    };
    std::vector<ValueId> operands{
        s.input(one.dtype, one.shape(one.heads, Dim(1), one.size)), rows(k),
        rows(v), lengths};
    for (ValueId id : s.ops("attention", operands,
                            {{"layout", std::string("bshd")},
                             {"causal", std::string("bottom_right")},
                             {"lse", true},
                             {"roles", std::string("lengths")}}))
      s.output(id);
    Options options = perRow(pinned(splits, 16));
    plan::Plan plan = planOf(s, options);
    EXPECT_EQ(plan.launches.size(), splits == 1 ? 1u : 2u) << kernelsOf(plan);
    checkFused(s, {{{"P", 1}}, {{"P", 4}}, {{"P", 8}}}, options);
  }
}
