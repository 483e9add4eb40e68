//===- AttentionTest.cpp - attention with closed-form results -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "GraphCase.h"

namespace azulejo::reference {
namespace {

struct Extra {
  std::string role;
  HostTensor tensor;
};

/// One attention over [B, H, S, D] data. With Q = 0 every visible key has the
/// same weight, so that results are plain means of V.
struct AttentionCase {
  int64_t b = 1, hq = 1, hk = 1, sq = 1, sk = 1, d = 8, dv = 1;
  Values q, k, v; // empty: zeros
  AttrMap attrs;
  std::vector<Extra> extras = {};
  DType dtype = DType::F32;
  Mode mode = Mode::Oracle;

  Values out = {}, lse = {};

  void run() {
    GraphCase c;
    auto operand = [&](int64_t h, int64_t s, int64_t size, Values data) {
      if (data.empty())
        data = repeated(b * h * s * size, 0);
      return c.input(dtype, {b, h, s, size}, data);
    };
    std::vector<ValueId> operands{operand(hq, sq, d, q), operand(hk, sk, d, k),
                                  operand(hk, sk, dv, v)};
    AttrMap all = attrs;
    std::string roles;
    for (const Extra &extra : extras) {
      operands.push_back(c.input(extra.tensor));
      roles += (roles.empty() ? "" : ",") + extra.role;
    }
    all["roles"] = roles;
    all["lse"] = true;
    std::vector<ValueId> results = c.ops("attention", operands, all);
    out = c.values(results[0], mode);
    lse = c.values(results[1], mode);
    EXPECT_EQ(c.run(results[1], Mode::Plain).dtype, DType::F32);
  }
  Values outputs() {
    run();
    return out;
  }
};

Values counting(int64_t count) {
  Values list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(static_cast<double>(i));
  return list;
}

const AttrMap kBottomRight{{"causal", std::string("bottom_right")}};
const AttrMap kTopLeft{{"causal", std::string("top_left")}};

AttrMap windowed(int64_t window) {
  AttrMap attrs = kBottomRight;
  attrs["window"] = window;
  return attrs;
}

TEST(Attention, FullyMaskedRowsByBias) { // O-023
  double lowest = -3.4028234663852886e38;
  for (double hidden : {lowest, -kInf}) {
    AttentionCase c;
    c.sq = 3, c.sk = 64;
    c.v = counting(64);
    Values bias = repeated(3 * 64, 0);
    std::fill(bias.begin() + 64, bias.begin() + 128, hidden);
    c.extras = {{"bias", HostTensor::of(DType::F32, {3, 64}, bias)}};
    c.run();
    double middle = std::isinf(hidden) ? 0 : 31.5;
    expectValues(c.out, {31.5, middle, 31.5}, 1e-12);
    EXPECT_EQ(std::isinf(c.lse[1]), std::isinf(hidden));
    EXPECT_NEAR(c.lse[0], std::log(64.0), 1e-12);
  }
}

TEST(Attention, MaskAndCausalTogether) { // O-024
  AttentionCase c;
  c.sq = c.sk = 4;
  c.v = counting(4);
  c.attrs = kBottomRight;
  Values mask = repeated(16, 1);
  for (int row = 0; row < 3; ++row)
    for (int key = 0; key < 3; ++key)
      mask[row * 4 + key] = 0;
  mask[12] = mask[13] = mask[14] = 0;
  c.extras = {{"mask", HostTensor::of(DType::I1, {4, 4}, mask)}};
  c.run();
  expectValues(c.out, {0, 0, 0, 3});
  expectValues(c.lse, {-kInf, -kInf, -kInf, 0});
}

TEST(Attention, MoreQueriesThanKeys) { // O-026, O-054
  AttentionCase c;
  c.sq = 5, c.sk = 2;
  c.v = {10, 20};
  c.dtype = DType::F16;
  c.attrs = kBottomRight;
  c.run();
  expectValues(c.out, {0, 0, 0, 10, 15});
  expectValues(c.lse, {-kInf, -kInf, -kInf, 0, std::log(2.0)}, 1e-12);
  c.attrs = kTopLeft;
  expectValues(c.outputs(), {10, 15, 15, 15, 15});
}

TEST(Attention, FewerQueriesThanKeys) { // O-027
  AttentionCase c;
  c.sq = 3, c.sk = 128, c.d = 128;
  c.v = counting(128);
  c.attrs = kBottomRight;
  expectValues(c.outputs(), {62.5, 63, 63.5}, 1e-12);
  c.attrs = kTopLeft;
  expectValues(c.outputs(), {0, 0.5, 1}, 1e-12);
}

TEST(Attention, WindowCountsTheOwnPosition) { // O-028
  AttentionCase c;
  c.sq = c.sk = 8;
  c.v = counting(8);
  c.attrs = windowed(3);
  expectValues(c.outputs(), {0, 0.5, 1, 2, 3, 4, 5, 6}, 1e-12);
  c.attrs = windowed(1);
  expectValues(c.outputs(), counting(8));
}

TEST(Attention, WindowThatCoversEverythingIsCausal) { // O-029
  for (int64_t s : {1, 17, 128, 129}) {
    AttentionCase c;
    c.sq = c.sk = s;
    c.v = counting(s);
    c.attrs = kBottomRight;
    Values causal = c.outputs();
    c.attrs = windowed(s);
    EXPECT_EQ(c.outputs(), causal);
    c.attrs = windowed(s + 1000);
    EXPECT_EQ(c.outputs(), causal);
  }
}

TEST(Attention, SoftcapComesBeforeTheMask) { // O-030
  AttentionCase c;
  c.sq = c.sk = 2;
  c.v = {0, 1};
  c.attrs = kBottomRight;
  c.attrs["softcap"] = 1.0;
  expectValues(c.outputs(), {0, 0.5}, 1e-12);
}

TEST(Attention, EveryAttributeMatters) { // O-031
  AttentionCase base;
  base.sq = 2, base.sk = 3, base.d = 1;
  base.q = {1, 2}, base.k = {1, -1, 3}, base.v = {1, 10, 100};
  base.attrs = kBottomRight;
  Values plain = base.outputs();
  auto differs = [&](const char *name, opset::Attr value) {
    AttentionCase c = base;
    c.attrs[name] = value;
    Values other = c.outputs();
    double distance = 0;
    for (size_t i = 0; i < plain.size(); ++i)
      distance = std::max(distance, std::fabs(other[i] - plain[i]));
    EXPECT_GT(distance, 0.1) << name;
  };
  differs("softcap", 0.5);
  differs("window", int64_t{1});
  differs("scale", 0.01);
  differs("causal", std::string("top_left"));
  differs("causal", std::string("none"));
}

TEST(Attention, EmptySizes) { // O-033
  for (const AttrMap &attrs : {AttrMap(), kBottomRight}) {
    AttentionCase c;
    c.b = 2, c.sq = 4, c.sk = 0, c.d = 64;
    c.attrs = attrs;
    c.run();
    expectValues(c.out, repeated(8, 0));
    expectValues(c.lse, repeated(8, -kInf));
    c.sq = 0, c.sk = 4;
    EXPECT_TRUE(c.outputs().empty());
    c.sq = 4, c.b = 0;
    EXPECT_TRUE(c.outputs().empty());
    c.b = 1, c.hq = c.hk = 0;
    EXPECT_TRUE(c.outputs().empty());
  }
}

TEST(Attention, AllChannelsTakePart) { // O-046, O-049
  for (int64_t d : {1, 3, 7, 8, 65, 100, 128, 256}) {
    AttentionCase c;
    c.sk = 2, c.d = d;
    int64_t used = d - d / 2;
    c.q = repeated(d, 0);
    std::fill(c.q.end() - used, c.q.end(), 1);
    c.k = c.q;
    c.k.resize(static_cast<size_t>(2 * d), 0);
    c.v = {1, 0};
    double logit = static_cast<double>(used) / std::sqrt(d);
    double want = 1 / (1 + std::exp(-logit));
    expectValues(c.outputs(), {want}, 1e-12);
    if (d == 128) {
      EXPECT_NEAR(want, 0.99652, 1e-5);
    }
  }
}

TEST(Attention, HeadsOfTheGraphAreCheckedBeforeEvaluation) { // O-047
  const std::pair<int64_t, int64_t> pairs[] = {
      {33, 2}, {3, 2}, {4, 0}, {0, 1}, {2, 4}};
  for (auto [hq, hk] : pairs) {
    graph::Graph g;
    auto q = g.input("q", {DType::F32, shapeOf({1, hq, 4, 8})});
    auto k = g.input("k", {DType::F32, shapeOf({1, hk, 4, 8})});
    auto out = g.append("attention", {*q, *k, *k});
    bool nothing = hq == 0; // no head is a multiple of any ratio
    ASSERT_EQ(out.ok(), nothing) << hq << " " << hk;
    if (!nothing) {
      EXPECT_EQ(out.error().rule, "attention.C6") << hq << " " << hk;
    }
  }
}

TEST(Attention, GroupedHeads) { // O-048
  for (int64_t hk : {1, 2, 3, 4, 8})
    for (int64_t ratio : {1, 2, 3, 5, 6, 7, 8, 12, 16, 71}) {
      AttentionCase c;
      c.hq = hk * ratio, c.hk = hk, c.sk = 2, c.d = 1;
      for (int64_t h = 0; h < hk; ++h)
        c.v.insert(c.v.end(), 2, static_cast<double>(h));
      Values want;
      for (int64_t h = 0; h < c.hq; ++h)
        want.push_back(static_cast<double>(h / ratio));
      EXPECT_EQ(c.outputs(), want) << hk << " " << ratio;
    }
}

TEST(Attention, LargeScoresStayFinite) { // O-050
  for (Mode mode : {Mode::Oracle, Mode::Plain}) {
    AttentionCase c;
    c.dtype = DType::F16, c.mode = mode;
    c.sk = 2, c.d = 192;
    c.q = repeated(192, 20);
    c.k = repeated(384, 20);
    std::fill(c.k.begin() + 192, c.k.end(), -20);
    c.v = {1, 0};
    EXPECT_EQ(c.outputs(), Values{1});
    c.d = 128;
    c.q = repeated(128, 256);
    c.k = repeated(256, 256);
    std::fill(c.k.begin() + 128, c.k.end(), -256);
    EXPECT_EQ(c.outputs(), Values{1});
  }
}

TEST(Attention, VeryNegativeScoresAreNotMasked) { // O-051
  AttentionCase c;
  c.sq = 2, c.sk = 4, c.d = 1;
  c.q = {-60000, -60000}, c.k = repeated(4, 1), c.v = {1, 2, 3, 4};
  c.attrs["scale"] = 1.0;
  Values mask = repeated(8, 1);
  std::fill(mask.begin() + 4, mask.end(), 0);
  c.extras = {{"mask", HostTensor::of(DType::I1, {2, 4}, mask)}};
  c.run();
  expectValues(c.out, {2.5, 0}, 1e-12);
  expectValues(c.lse, {-59998.613705638880, -kInf}, 1e-9);
}

TEST(Attention, SoftcapSaturates) { // O-052
  const Values scores{1000, 3000, 5000, 10000, -10000, 4400};
  const Values want{50, 50, 50, 50, -50, 50};
  for (Mode mode : {Mode::Oracle, Mode::Plain})
    for (size_t i = 0; i < scores.size(); ++i) {
      AttentionCase c; // one key: the LSE is its score
      c.mode = mode, c.d = 1;
      c.q = {scores[i]}, c.k = {1}, c.v = {1};
      c.attrs = {{"scale", 1.0}, {"softcap", 50.0}};
      c.run();
      expectValues(c.lse, {want[i]}, 4e-6);
    }
}

TEST(Attention, KeysPastTheLengthDoNotExist) { // O-055
  AttentionCase c;
  c.b = 3, c.sq = 2, c.sk = 4, c.d = 1;
  c.k = {0, 0, kNan, kInf, kNan, kNan, kNan, kNan, 0, 0, 0, 0};
  c.v = {1, 3, kNan, kNan, kNan, kNan, kNan, kNan, 1, 2, 3, 4};
  c.extras = {{"lengths", HostTensor::of(DType::I32, {3}, Values{2, -1, 9})}};
  c.run();
  expectValues(c.out, {2, 2, 0, 0, 2.5, 2.5}, 1e-12);
  expectValues({c.lse[2], c.lse[3]}, {-kInf, -kInf});
  c.attrs = kBottomRight; // aligned to the length, not to Sk
  expectValues(c.outputs(), {1, 2, 0, 0, 2, 2.5}, 1e-12);
}

TEST(Attention, MaskedKeysAreSkippedAndVisibleNanIsNot) {
  AttentionCase c;
  c.sq = 2, c.sk = 2, c.d = 1;
  c.v = {kNan, 5};
  c.extras = {{"mask", HostTensor::of(DType::I1, {2, 2}, Values{0, 1, 1, 1})}};
  expectValues(c.outputs(), {5, kNan});
  AttentionCase d = c;
  d.extras.clear();
  d.v = {1, 5}, d.k = {kNan, 0}, d.q = {1, 1};
  d.run();
  expectValues(d.out, {kNan, kNan});
  expectValues(d.lse, {kNan, kNan});
}

TEST(Attention, BiasBroadcastsAndAddsAfterSoftcap) {
  AttentionCase c;
  c.b = 2, c.hq = 2, c.sq = 1, c.sk = 2, c.d = 1, c.hk = 2;
  c.v = {1, 0, 1, 0, 1, 0, 1, 0};
  c.attrs["softcap"] = 1.0; // must not cap the bias
  double three = std::log(3.0f);
  c.extras = {{"bias", HostTensor::of(DType::F32, {2, 1, 1, 2},
                                      Values{three, 0, 0, three})}};
  expectValues(c.outputs(), {.75, .75, .25, .25}, 1e-7);
}

TEST(Attention, AlibiSlopesFollowTheDiagonal) {
  AttentionCase c;
  c.hq = 2, c.hk = 1, c.sq = 2, c.sk = 3, c.d = 1;
  c.v = {1, 10, 100};
  c.attrs = kBottomRight;
  c.extras = {{"slopes", HostTensor::of(DType::F32, {2}, Values{1, 0})}};
  c.run();
  double e = std::exp(1.0);
  // Query 0 stands at key 1, query 1 at key 2.
  double row0 = (10 + 1 / e) / (1 + 1 / e);
  double row1 = (100 + 10 / e + 1 / e / e) / (1 + 1 / e + 1 / e / e);
  expectValues(c.out, {row0, row1, 5.5, 37}, 1e-12);
  expectValues(c.lse,
               {std::log(1 + 1 / e), std::log(1 + 1 / e + 1 / e / e),
                std::log(2.0), std::log(3.0)},
               1e-12);
}

/// Weights of 1/2, 1/4, 1/4 are values of tf32; q, k and v are rounded.
TEST(Attention, Tf32RoundsThePlainRunOnly) {
  double tie = 1 + std::ldexp(1, -11), up = 1 + std::ldexp(1, -10);
  for (const char *precision : {"ieee", "tf32"}) {
    AttentionCase c;
    c.sk = 4, c.d = 1, c.dv = 1;
    c.q = {0}, c.k = {1, 2, 3, 4};
    c.v = {tie, tie, -1, -1};
    c.attrs = {{"precision", std::string(precision)}};
    expectValues(c.outputs(), {(tie - 1) / 2});
    c.mode = Mode::Plain;
    bool rounds = std::string(precision) == "tf32";
    expectValues(c.outputs(), {((rounds ? up : tie) - 1) / 2});
    // One query, one key: the score itself, as the LSE.
    AttentionCase one;
    one.d = 1, one.q = {tie}, one.k = {1}, one.v = {1};
    one.attrs = {{"precision", std::string(precision)}, {"scale", 1.0}};
    one.mode = Mode::Plain;
    one.run();
    expectValues(one.lse, {rounds ? up : tie});
  }
}

/// 1/3 has no end in binary: as a weight it is rounded.
TEST(Attention, Tf32RoundsTheWeights) {
  for (const char *precision : {"ieee", "tf32"}) {
    AttentionCase c;
    c.sk = 3, c.d = 1, c.dv = 1;
    c.v = {1, 0, 0};
    c.attrs = {{"precision", std::string(precision)}};
    c.mode = Mode::Plain;
    float third = 1.0f / 3;
    bool rounds = std::string(precision) == "tf32";
    expectValues(c.outputs(), {rounds ? 1365.0 / 4096 : third});
  }
}

TEST(Attention, BothLayoutsAgree) {
  const int64_t b = 2, h = 4, hk = 2, s = 3, d = 5;
  auto data = [](int64_t count, double seed) {
    Values list;
    for (int64_t i = 0; i < count; ++i)
      list.push_back(std::sin(static_cast<double>(i) * seed));
    return list;
  };
  GraphCase c;
  ValueId q = c.input(DType::F32, {b, s, h, d}, data(b * s * h * d, 1.3));
  ValueId k = c.input(DType::F32, {b, s, hk, d}, data(b * s * hk * d, 0.7));
  ValueId v = c.input(DType::F32, {b, s, hk, d}, data(b * s * hk * d, 2.1));
  AttrMap perm{{"perm", std::vector<int64_t>{0, 2, 1, 3}}};
  AttrMap attrs = kBottomRight;
  attrs["lse"] = true;
  auto bhsd = c.ops("attention",
                    {c.op("transpose", {q}, perm), c.op("transpose", {k}, perm),
                     c.op("transpose", {v}, perm)},
                    attrs);
  attrs["layout"] = std::string("bshd");
  auto bshd = c.ops("attention", {q, k, v}, attrs);
  EXPECT_EQ(c.values(c.op("transpose", {bhsd[0]}, perm)), c.values(bshd[0]));
  EXPECT_EQ(c.values(bhsd[1]), c.values(bshd[1]));
}

// The op is matmul, scale, softmax, matmul: the same, built from parts.
TEST(Attention, EqualsItsDecomposition) {
  const int64_t h = 2, s = 7, d = 5;
  Values data;
  for (int64_t i = 0; i < h * s * d; ++i)
    data.push_back(std::cos(static_cast<double>(i * i)));
  GraphCase c;
  ValueId x = c.input(DType::F32, {1, h, s, d}, data);
  ValueId fused = c.op("attention", {x, x, x}, {{"scale", 0.5}});
  ValueId scores = c.op("matmul", {x, x}, {{"transpose_b", true}});
  ValueId half = c.op("constant", {}, {{"value", 0.5}, {"dtype", DType::F32}});
  ValueId weights = c.op("softmax", {c.op("mul", {scores, half})});
  expectValues(c.values(fused), c.values(c.op("matmul", {weights, x})), 1e-14);
}

} // namespace
} // namespace azulejo::reference
