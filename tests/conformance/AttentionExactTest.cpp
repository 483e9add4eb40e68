//===- AttentionExactTest.cpp - attention with answers known in advance ---===//
//
// Faults that attention kernels are known to have had, each as a case whose
// answer follows from the definition: with q = 0 all visible keys weigh the
// same, so the output is a mean of values and tells which keys were seen.
// Numbers O-... name entries of the fault list that the cases come from.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// One attention of layout [B, H, S, D] with fixed sizes.
struct Problem {
  DType dtype = DType::F32;
  int64_t B = 1, Hq = 1, Hkv = 1, Sq = 1, Sk = 1, D = 8, Dv = 8;
  Fill q = values({0}), k = uniform(), v = ramp(2);
  AttrMap attrs = {};
  struct Extra {
    std::string role;
    DType dtype;
    Shape shape;
    Fill fill;
  };
  std::vector<Extra> extras = {};

  Sketch sketch() const {
    Sketch s;
    std::vector<ValueId> operands{
        s.input(dtype, {Dim(B), Dim(Hq), Dim(Sq), Dim(D)}, q),
        s.input(dtype, {Dim(B), Dim(Hkv), Dim(Sk), Dim(D)}, k),
        s.input(dtype, {Dim(B), Dim(Hkv), Dim(Sk), Dim(Dv)}, v)};
    AttrMap all = attrs;
    std::string roles;
    for (const Extra &extra : extras) {
      roles += (roles.empty() ? "" : ",") + extra.role;
      operands.push_back(s.input(extra.dtype, extra.shape, extra.fill));
    }
    all["roles"] = roles;
    all["lse"] = true;
    for (ValueId id : s.ops("attention", operands, all))
      s.output(id);
    return s;
  }

  /// Output and LSE.
  std::vector<HostTensor> run(Options options = {}) const {
    return outputsOf(sketch(), {}, options);
  }

  void agrees(bool expectNan = false) const {
    Options options;
    options.perRow = true;
    options.expectNan = expectNan;
    checkEverywhere(sketch(), {{}}, options);
  }

  /// Row i of every head holds rows[i] in all channels, exactly. The unfused
  /// plan rounds its probabilities on the way and is held to the 2x rule. Rows
  /// that are NaN in the list are not looked at.
  void gives(const std::vector<double> &rows) const {
    std::vector<HostTensor> out = run();
    ASSERT_EQ(out.size(), 2u);
    for (int64_t i = 0; i < out[0].elements(); ++i) {
      double want = rows[static_cast<size_t>(i / Dv % Sq)];
      if (!std::isnan(want)) {
        ASSERT_EQ(out[0].flat(i), want) << " row " << i / Dv % Sq;
      }
    }
    Options unfused;
    unfused.fuse = false;
    Result<std::unique_ptr<Subject>> subject = sketch().compile(unfused);
    ASSERT_TRUE(subject.ok()) << subject.error().str();
    EXPECT_EQ((*subject)->check({}, sketch().data({}), unfused), "");
  }

  /// The LSE of every row of every head.
  void givesLse(const std::vector<double> &rows, double tolerance = 0) const {
    for (bool fuse : {true, false}) {
      Options options;
      options.fuse = fuse;
      std::vector<HostTensor> out = run(options);
      ASSERT_EQ(out.size(), 2u);
      EXPECT_EQ(out[1].dtype, DType::F32);
      EXPECT_EQ(out[1].shape, (Ints{B, Hq, Sq}));
      for (int64_t i = 0; i < out[1].elements(); ++i) {
        double want = rows[static_cast<size_t>(i % Sq)];
        if (std::isinf(want)) {
          ASSERT_EQ(out[1].flat(i), want) << (fuse ? "fused" : "unfused");
        } else {
          ASSERT_NEAR(out[1].flat(i), want, tolerance)
              << (fuse ? "fused" : "unfused");
        }
      }
    }
  }
};

AttrMap causal(const char *alignment = "bottom_right") {
  return {{"causal", std::string(alignment)}};
}

Problem::Extra mask(int64_t Sq, int64_t Sk, std::vector<double> list) {
  return {"mask", DType::I1, {Dim(Sq), Dim(Sk)}, values(std::move(list))};
}
Problem::Extra lengths(std::vector<double> list) {
  Dim count(static_cast<int64_t>(list.size()));
  return {"lengths", DType::I32, {count}, values(std::move(list))};
}

/// An additive mask whose middle row holds one value.
Problem middleRowBias(DType dtype, double value) {
  Fill bias = [value](DType type, Ints shape, uint64_t) {
    HostTensor tensor = HostTensor::dense(type, shape);
    for (int64_t j = 0; j < shape[1]; ++j)
      tensor.setFlat(shape[1] + j, value);
    return tensor;
  };
  return {.dtype = dtype,
          .Sq = 3,
          .Sk = 64,
          .D = 64,
          .Dv = 64,
          .q = uniform(),
          .v = uniform(),
          .extras = {{"bias", DType::F32, {Dim(3), Dim(64)}, bias}}};
}

TEST(AttentionExact, O023RowMaskedByMinusInfinityIsZero) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    Problem one = middleRowBias(dtype, -kInf);
    one.gives({kNan, 0, kNan});
    std::vector<HostTensor> out = one.run();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[1].flat(1), -kInf);
    EXPECT_TRUE(std::isfinite(out[1].flat(0)));
    one.agrees();
  }
}

TEST(AttentionExact, O023RowMaskedByTheMostNegativeFiniteValueIsAMean) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    Problem one = middleRowBias(dtype, -3.4028e38);
    for (bool fuse : {true, false}) {
      Options options;
      options.fuse = fuse;
      std::vector<HostTensor> inputs = one.sketch().data({}),
                              out = one.run(options);
      ASSERT_EQ(out.size(), 2u);
      for (int64_t d = 0; d < 64; ++d) {
        double mean = 0;
        for (int64_t j = 0; j < 64; ++j)
          mean += inputs[2].at({0, 0, j, d}) / 64;
        EXPECT_NEAR(out[0].at({0, 0, 1, d}), mean,
                    dtype == DType::F32 ? 1e-6 : 4e-3)
            << (fuse ? "fused" : "unfused");
      }
    }
  }
}

TEST(AttentionExact, O024MaskAndCausalityTogetherHideAllKeys) {
  Problem one{.Sq = 4,
              .Sk = 4,
              .attrs = causal(),
              .extras = {mask(4, 4, {0, 0, 0, 1})}};
  one.gives({0, 0, 0, 3});
  one.givesLse({-kInf, -kInf, -kInf, 0});
}

TEST(AttentionExact, O026MoreQueriesThanKeys) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    Problem one{.dtype = dtype,
                .Sq = 5,
                .Sk = 2,
                .v = values({10, 10, 10, 10, 10, 10, 10, 10, 20, 20, 20, 20, 20,
                             20, 20, 20}),
                .attrs = causal()};
    one.gives({0, 0, 0, 10, 15});
    one.attrs = causal("top_left");
    one.gives({10, 15, 15, 15, 15});
  }
}

TEST(AttentionExact, O027FewerQueriesThanKeys) {
  Problem one{.Sq = 3, .Sk = 128, .D = 128, .Dv = 128, .attrs = causal()};
  one.gives({62.5, 63, 63.5});
  one.attrs = causal("top_left");
  one.gives({0, 0.5, 1});
}

TEST(AttentionExact, O028WindowCountsTheOwnPosition) {
  Problem one{.Sq = 8, .Sk = 8, .attrs = causal()};
  one.attrs["window"] = int64_t{3};
  one.gives({0, 0.5, 1, 2, 3, 4, 5, 6});
  one.attrs["window"] = int64_t{1};
  one.gives({0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(AttentionExact, O029WindowOverTheWholeSequenceIsPlainCausality) {
  for (int64_t length : {1, 17, 128, 129, 1024}) {
    // Equal bits need equal schedules, and the default may depend on the mask.
    Options options;
    if (TestDevice::current().isGpu() && length > 64)
      options.pin = "Attention{tileM=64,tileN=64,warpsM=4,stages=2}";
    Problem one{.dtype = DType::F16,
                .Sq = length,
                .Sk = length,
                .D = 128,
                .Dv = 128,
                .v = uniform(),
                .attrs = causal()};
    std::vector<HostTensor> plain = one.run(options);
    one.q = uniform();
    std::vector<HostTensor> weighted = one.run(options);
    ASSERT_EQ(plain.size() + weighted.size(), 4u);
    for (int64_t window : {length, length + 1, 3 * length}) {
      one.attrs["window"] = window;
      EXPECT_EQ(one.run(options)[0].bytes, weighted[0].bytes) << length;
      Problem uniformWeights = one;
      uniformWeights.q = values({0});
      EXPECT_EQ(uniformWeights.run(options)[0].bytes, plain[0].bytes) << length;
    }
  }
}

TEST(AttentionExact, O030SoftcapComesBeforeTheMask) {
  Problem one{.Sq = 2, .Sk = 2, .attrs = causal()};
  one.attrs["softcap"] = 1.0;
  one.gives({0, 0.5});
  one.extras = {mask(2, 2, {1, 0, 0, 1})};
  one.gives({0, 1});
}

TEST(AttentionExact, O032LengthsOfZeroAmongOthers) {
  Problem one{.dtype = DType::BF16,
              .B = 4,
              .Hq = 9,
              .Hkv = 3,
              .Sq = 1,
              .Sk = 5,
              .D = 64,
              .Dv = 64,
              .q = uniform(),
              .v = uniform(),
              .extras = {lengths({0, 3, 0, 5})}};
  one.agrees();
  std::vector<HostTensor> out = one.run();
  ASSERT_EQ(out.size(), 2u);
  for (int64_t i = 0; i < out[0].elements(); ++i) {
    bool empty = i / (9 * 64) % 2 == 0;
    EXPECT_TRUE(!empty || out[0].flat(i) == 0);
    EXPECT_TRUE(!empty || out[1].flat(i / 64) == -kInf);
  }
}

TEST(AttentionExact, O033EmptyKeysQueriesBatchesAndHeads) {
  for (const char *alignment : {"none", "bottom_right", "top_left"}) {
    Problem one{.B = 2,
                .Sq = 4,
                .Sk = 0,
                .D = 64,
                .Dv = 64,
                .attrs = causal(alignment)};
    one.gives({0, 0, 0, 0});
    one.givesLse({-kInf, -kInf, -kInf, -kInf});
    one.Sq = 0;
    one.Sk = 4;
    one.agrees();
    one.Sq = 4;
    one.B = 0;
    one.agrees();
    one.B = 2;
    one.Hq = one.Hkv = 0;
    one.agrees();
  }
}

TEST(AttentionExact, O035NothingOfOneHeadReachesTheNext) {
  for (int64_t length : {1, 7, 63, 65, 127, 129}) {
    Problem one{.Hq = 4,
                .Hkv = 4,
                .Sq = length,
                .Sk = length,
                .D = 64,
                .Dv = 64,
                .q = uniform(),
                .v = uniform()};
    one.agrees();
  }
}

TEST(AttentionExact, O036OperandsAsTransposedViews) {
  const int64_t B = 2, H = 4, S = 62, D = 128;
  Problem one{.dtype = DType::F16,
              .B = B,
              .Hq = H,
              .Hkv = H,
              .Sq = S,
              .Sk = S,
              .D = D,
              .Dv = D,
              .q = uniform(),
              .v = uniform()};
  std::vector<HostTensor> packed = one.run();
  ASSERT_EQ(packed.size(), 2u);
  // A view of [B, S, H, D] seen as [B, H, S, D].
  const Ints view{S * H * D, D, H * D, 1};
  for (int which = 1; which < 8; ++which) {
    Options options;
    for (int operand = 0; operand < 3; ++operand)
      options.inputStrides.push_back(which >> operand & 1 ? view : Ints());
    std::vector<HostTensor> out = one.run(options);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].bytes, packed[0].bytes) << which;
    EXPECT_EQ(out[1].bytes, packed[1].bytes) << which;
  }
}

TEST(AttentionExact, O037EverySecondRowAndAMaskThatStretches) {
  const int64_t S = 40, D = 32;
  Problem one{.B = 2,
              .Hq = 2,
              .Hkv = 2,
              .Sq = S,
              .Sk = S,
              .D = D,
              .Dv = D,
              .q = uniform(),
              .v = uniform(),
              .extras = {{"mask",
                          DType::I1,
                          {Dim(1), Dim(1), Dim(S), Dim(S)},
                          uniform(0, 2)}}};
  const Ints step{2 * 2 * S * D, 2 * S * D, 2 * D, 1};
  Options options;
  options.inputStrides = {step, step, step};
  std::vector<HostTensor> packed = one.run(), views = one.run(options);
  ASSERT_EQ(packed.size() + views.size(), 4u);
  EXPECT_EQ(views[0].bytes, packed[0].bytes);
}

TEST(AttentionExact, O038StridesOfSingleElementsDoNotMatter) {
  Problem one{
      .Sq = 5, .Sk = 6, .D = 1, .Dv = 1, .q = uniform(), .v = uniform()};
  Options options;
  const int64_t far = int64_t{1} << 40;
  options.inputStrides = {{far, 0, 1, 7}, {0, far, 1, 7}, {7, 7, 1, far}};
  std::vector<HostTensor> packed = one.run(), views = one.run(options);
  ASSERT_EQ(packed.size() + views.size(), 4u);
  EXPECT_EQ(views[0].bytes, packed[0].bytes);
}

TEST(AttentionExact, O039BiasOfOddWidth) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    Problem one{.dtype = dtype,
                .B = 2,
                .Hq = 2,
                .Hkv = 2,
                .Sq = 43,
                .Sk = 43,
                .D = 16,
                .Dv = 16,
                .q = uniform(),
                .v = uniform(),
                .extras = {{"bias",
                            dtype,
                            {Dim(2), Dim(2), Dim(43), Dim(43)},
                            uniform(-2, 2)}}};
    one.agrees();
  }
}

TEST(AttentionExact, O046TheUpperHalfOfTheChannelsTakesPart) {
  for (int64_t size :
       {8, 16, 24, 32, 40, 64, 72, 80, 96, 112, 128, 160, 192, 256}) {
    auto upper = [size](bool firstRowOnly) -> Fill {
      return [=](DType dtype, Ints shape, uint64_t) {
        HostTensor tensor = HostTensor::dense(dtype, shape);
        for (int64_t i = 0; i < tensor.elements(); ++i)
          if (i % size >= size / 2 && !(firstRowOnly && i >= size))
            tensor.setFlat(i, 1);
        return tensor;
      };
    };
    Problem one{.Sk = 2,
                .D = size,
                .Dv = 1,
                .q = upper(false),
                .k = upper(true),
                .v = values({1, 0})};
    double score =
        static_cast<double>(size) / 2 / std::sqrt(static_cast<double>(size));
    std::vector<HostTensor> out = one.run();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_NEAR(out[0].flat(0), 1 / (1 + std::exp(-score)), 1e-6) << size;
    if (size == 128) {
      EXPECT_NEAR(out[0].flat(0), 0.99652, 1e-5);
    }
    one.agrees();
  }
}

TEST(AttentionExact, O047HeadCountsThatDoNotDivideAreRefused) {
  for (auto [heads, kvHeads] :
       {std::pair<int64_t, int64_t>{33, 2}, {3, 2}, {4, 0}, {0, 1}, {2, 4}}) {
    graph::Graph g;
    auto x = [&](const char *name, int64_t count) {
      return *g.input(name, {DType::F16, {Dim(1), Dim(count), Dim(4), Dim(8)}});
    };
    Result<std::vector<ValueId>> made = g.append(
        "attention", {x("q", heads), x("k", kvHeads), x("v", kvHeads)});
    if (heads == 0) {
      // No query heads at all: nothing to read, and nothing to write.
      if (made)
        continue;
    }
    ASSERT_FALSE(made.ok()) << heads << " over " << kvHeads;
    EXPECT_EQ(made.error().code, ErrorCode::InvalidGraph);
    EXPECT_EQ(made.error().rule, "attention.C6");
    std::string text = made.error().message;
    EXPECT_NE(text.find("HeadCountMismatch"), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(heads)), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(kvHeads)), std::string::npos) << text;
  }
}

TEST(AttentionExact, O048QueryHeadReadsItsKvHead) {
  int64_t turn = 0;
  for (int64_t ratio : {1, 2, 3, 5, 6, 7, 8, 12, 16, 71})
    for (int64_t kvHeads : {1, 2, 3, 4, 8}) {
      if (ratio != 7 && turn++ % 2)
        continue; // every second pair, and all of ratio 7
      Problem one{.dtype = DType::F16,
                  .Hq = kvHeads * ratio,
                  .Hkv = kvHeads,
                  .Sq = 2,
                  .Sk = 3,
                  .v = ramp(1)};
      std::vector<HostTensor> out = one.run();
      ASSERT_EQ(out.size(), 2u);
      for (int64_t h = 0; h < one.Hq; ++h)
        for (int64_t d = 0; d < 8; ++d)
          ASSERT_EQ(out[0].at({0, h, 1, d}), static_cast<double>(h / ratio))
              << ratio << " x " << kvHeads;
    }
}

TEST(AttentionExact, O050ScoresBeyondTheRangeOfHalf) {
  auto rows = [](double first, double second) -> Fill {
    return [=](DType dtype, Ints shape, uint64_t) {
      HostTensor tensor = HostTensor::dense(dtype, shape);
      for (int64_t i = 0; i < tensor.elements(); ++i)
        tensor.setFlat(i, i < shape[3] ? first : second);
      return tensor;
    };
  };
  Problem one{.dtype = DType::F16,
              .Sk = 2,
              .D = 192,
              .Dv = 1,
              .q = values({20}),
              .k = rows(20, -20),
              .v = values({1, 0})};
  one.gives({1});
  one.D = 128;
  one.q = values({256});
  one.k = rows(256, 0);
  one.gives({1});
}

TEST(AttentionExact, O051ScoresFarBelowZeroStillCount) {
  Problem one{.Sq = 2,
              .Sk = 4,
              .D = 1,
              .Dv = 1,
              .q = values({-60000}),
              .k = values({1}),
              .v = values({1, 2, 3, 4}),
              .attrs = {{"scale", 1.0}},
              .extras = {mask(2, 4, {1, 1, 1, 1, 0, 0, 0, 0})}};
  one.gives({2.5, 0});
  // Two units in the last place of f32 at this magnitude.
  one.givesLse({-59998.613705638880, -kInf}, 0.0079);
}

TEST(AttentionExact, O052SoftcapOfLargeScores) {
  const std::vector<double> scores{1000, 3000, 5000, 10000, -10000, 4400};
  const std::vector<double> want{50, 50, 50, 50, -50, 50};
  Problem one{.Sq = 6,
              .Sk = 1,
              .D = 1,
              .Dv = 1,
              .q = values(scores),
              .k = values({1}),
              .attrs = {{"scale", 1.0}, {"softcap", 50.0}}};
  one.givesLse(want, 0x1p-18);
  Sketch s;
  ValueId x = s.input(DType::F32, {Dim(6)}, values(scores));
  ValueId small = s.op("mul", {x, s.constant(1.0 / 50, DType::F32)});
  s.output(s.op("mul", {s.op("tanh", {small}), s.constant(50, DType::F32)}));
  EXPECT_EQ(elementsOf(outputsOf(s)[0]), want);
}

TEST(AttentionExact, O054LseOfARowWithoutKeysIsMinusInfinity) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    Problem none{.dtype = dtype, .Sq = 2, .Sk = 0};
    none.givesLse({-kInf, -kInf});
    Problem masked{.dtype = dtype,
                   .Sq = 2,
                   .Sk = 3,
                   .extras = {mask(2, 3, {0, 0, 0, 1, 1, 1})}};
    masked.givesLse({-kInf, std::log(3.)}, 1e-6);
    Problem early{.dtype = dtype, .Sq = 3, .Sk = 1, .attrs = causal()};
    early.givesLse({-kInf, -kInf, 0}, 1e-6);
  }
}

/// Scores that grow from key to key, by row: some by less than what a reference
/// may lag behind in a step, some by more in each, some fall. Steps that change
/// the reference and such that do not follow each other.
TEST(AttentionExact, ScoresThatGrowStepByStep) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32})
    for (const char *alignment : {"none", "bottom_right"})
      for (double steepest : {0.005, 0.03, 0.3}) {
        SCOPED_TRACE(std::string(alignment) + " " + std::to_string(steepest));
        Problem{.dtype = dtype,
                .Hq = 2,
                .Hkv = 1,
                .Sq = 70,
                .Sk = 250,
                .D = 64,
                .Dv = 64,
                .q = uniform(-steepest, steepest),
                .k = ramp(2),
                .v = uniform(),
                .attrs = causal(alignment)}
            .agrees();
      }
}

TEST(AttentionExact, O055NanPastTheLengthsNeverMatters) {
  // Rows at and past 13 hold NaN in k and v.
  auto poisoned = [](double value) -> Fill {
    return [value](DType dtype, Ints shape, uint64_t seed) {
      HostTensor tensor = randomTensor(dtype, shape, seed);
      for (int64_t i = 0; i < tensor.elements(); ++i)
        if (i / shape[3] % shape[2] >= 13)
          tensor.setFlat(i, value);
      return tensor;
    };
  };
  for (DType dtype : {DType::F16, DType::BF16, DType::F32})
    for (const char *alignment : {"none", "bottom_right"})
      for (int64_t keys : {14, 257})
        for (bool fuse : {true, false}) {
          Problem one{.dtype = dtype,
                      .Hq = 2,
                      .Hkv = 1,
                      .Sq = 7,
                      .Sk = keys,
                      .D = 24,
                      .Dv = 24,
                      .q = uniform(),
                      .k = poisoned(0),
                      .v = poisoned(0),
                      .attrs = causal(alignment),
                      .extras = {lengths({13})}};
          Options options;
          options.fuse = fuse;
          std::vector<HostTensor> zeros = one.run(options);
          one.k = one.v = poisoned(kNan);
          std::vector<HostTensor> nans = one.run(options);
          ASSERT_EQ(zeros.size() + nans.size(), 4u);
          EXPECT_EQ(nans[0].bytes, zeros[0].bytes) << keys << alignment << fuse;
          EXPECT_EQ(nans[1].bytes, zeros[1].bytes) << keys << alignment << fuse;
        }
}

TEST(AttentionExact, O056UnusedSlotsOfTheLastPage) {
  std::vector<double> v;
  for (int64_t j = 0; j < 16; ++j)
    v.push_back(j < 13 ? static_cast<double>(j) : kNan);
  for (DType dtype : {DType::F16, DType::BF16, DType::F32}) {
    Problem one{.dtype = dtype,
                .Sk = 16,
                .D = 1,
                .Dv = 1,
                .k = values(v),
                .v = values(v),
                .extras = {lengths({13})}};
    one.gives({6});
  }
}

TEST(AttentionExact, NanInVisibleKeysAndValuesPropagates) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32})
    for (int64_t at : {0, 40, 99}) {
      Fill one = [at](DType type, Ints shape, uint64_t seed) {
        HostTensor tensor = randomTensor(type, shape, seed);
        tensor.setFlat(at * shape[3] + 5, kNan);
        return tensor;
      };
      Problem keys{.dtype = dtype,
                   .Sq = 3,
                   .Sk = 100,
                   .D = 16,
                   .Dv = 16,
                   .q = uniform(),
                   .k = one,
                   .v = uniform()};
      keys.agrees(true);
      Problem vals{.dtype = dtype,
                   .Sq = 3,
                   .Sk = 100,
                   .D = 16,
                   .Dv = 16,
                   .q = uniform(),
                   .v = one};
      vals.agrees(true);
      Problem queries{
          .dtype = dtype,
          .Sq = 3,
          .Sk = 100,
          .D = 16,
          .Dv = 16,
          .q = values({1, 1, 1,    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                       1, 1, kNan, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                       1, 1, 1,    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
          .v = uniform()};
      queries.agrees(true);
    }
}

/// Every attribute changes the result, and both results are right (O-031).
TEST(AttentionExact, O031EveryAttributeIsHeeded) {
  auto outputs = [](const AttrMap &attrs) {
    Problem one{.Sq = 20,
                .Sk = 33,
                .D = 16,
                .Dv = 16,
                .q = uniform(-2, 2),
                .k = uniform(-2, 2),
                .v = uniform(),
                .attrs = attrs};
    one.agrees();
    return elementsOf(one.run()[0]);
  };
  auto distance = [](const std::vector<double> &a,
                     const std::vector<double> &b) {
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i)
      largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
  };
  std::vector<double> base = outputs(causal());
  for (auto [name, value] :
       std::initializer_list<std::pair<const char *, opset::Attr>>{
           {"softcap", 0.5},
           {"window", int64_t{4}},
           {"scale", 1.0},
           {"causal", std::string("top_left")}}) {
    AttrMap changed = causal();
    changed[name] = value;
    EXPECT_GT(distance(base, outputs(changed)), 1e-2) << name;
  }
  graph::Graph g;
  ValueId x = *g.input("x", {DType::F32, {Dim(1), Dim(1), Dim(2), Dim(4)}});
  EXPECT_FALSE(g.append("attention", {x, x, x}, {{"sotfcap", 1.0}}).ok());
}

} // namespace
