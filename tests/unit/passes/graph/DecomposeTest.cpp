//===- DecomposeTest.cpp - decompositions mean the same -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "PassCase.h"

#include <ostream>

using namespace azulejo;
using namespace azulejo::graphpasses;

namespace {

// Both sides are f64, and numbers such as the scale are f32 in the rewritten
// graph: the tests choose powers of two. Casts to bf16 round even here.
constexpr double kTight = 1e-12, kBf16 = 1.0 / 64;

struct AttentionShape {
  int64_t batch = 2, heads = 4, headsKv = 2, queries = 5, keys = 7, size = 8,
          sizeV = 6;
  bool symbolic = false;
};

/// q, k, v of the given layout; the attention op itself is left to the test.
std::vector<ValueId> operandsOf(PassCase &c, const AttentionShape &s, bool bshd,
                                DType dtype = DType::F32) {
  auto extent = [&](const char *name, int64_t value) {
    return s.symbolic ? c.dim(name, value) : Dim(value);
  };
  Dim b = extent("B", s.batch), m = extent("S", s.queries),
      n = extent("T", s.keys);
  auto shape = [&](Dim heads, Dim length, int64_t size) {
    return bshd ? Shape{b, length, heads, Dim(size)}
                : Shape{b, heads, length, Dim(size)};
  };
  return {c.input(dtype, shape(s.heads, m, s.size)),
          c.input(dtype, shape(s.headsKv, n, s.size)),
          c.input(dtype, shape(s.headsKv, n, s.sizeV))};
}

void expectDecomposed(PassCase &c, bool f32Scores = false,
                      double tolerance = kTight) {
  graph::Graph after = c.rewritten([&](mlir::OpPassManager &manager) {
    DecomposeAttentionPassOptions options;
    options.f32Scores = f32Scores;
    manager.addPass(createDecomposeAttentionPass(options));
  });
  EXPECT_EQ(kindsOf(after).count("attention"), 0u);
  c.expectSameMeaning(after, tolerance);
}

struct MaskCase {
  const char *causal;
  int64_t window;
  const char *roles;
  double softcap;
};

// Its bytes would be addresses, and the test's name another one in every run.
std::ostream &operator<<(std::ostream &out, const MaskCase &mask) {
  return out << mask.causal << " " << mask.window << " " << mask.roles << " "
             << mask.softcap;
}

class DecomposeAttentionTest
    : public testing::TestWithParam<
          std::tuple<MaskCase, bool /*bshd*/, bool /*symbolic*/, int>> {};

} // namespace

TEST_P(DecomposeAttentionTest, MeansTheSame) {
  auto [mask, bshd, symbolic, variant] = GetParam();
  PassCase c;
  AttentionShape s;
  s.symbolic = symbolic;
  if (variant == 1)
    s.headsKv = 4, s.queries = 9; // more queries than keys: empty rows
  if (variant == 2)
    s.headsKv = 1, s.queries = 7;
  std::vector<ValueId> operands = operandsOf(c, s, bshd);
  std::string roles = mask.roles;
  Dim b = c.graph.type(operands[0]).shape[0];
  std::uniform_int_distribution<int64_t> coin(0, 2), length(-1, s.keys + 1);
  Shape scores{b, Dim(s.heads), c.graph.type(operands[0]).shape[bshd ? 1 : 2],
               c.graph.type(operands[1]).shape[bshd ? 1 : 2]};
  if (roles.find("bias") != std::string::npos)
    operands.push_back(c.input(DType::F32, scores,
                               [&] { return coin(c.random) ? 0.5 : -kInf; }));
  if (roles.find("mask") != std::string::npos)
    operands.push_back(c.input(DType::I1, {scores[2], scores[3]},
                               [&] { return coin(c.random) ? 1.0 : 0.0; }));
  if (roles.find("lengths") != std::string::npos)
    operands.push_back(c.input(DType::I32, {b}, [&] {
      return static_cast<double>(length(c.random));
    }));
  if (roles.find("slopes") != std::string::npos)
    operands.push_back(c.input(DType::F32, {Dim(s.heads)}));
  std::vector<ValueId> results =
      c.ops("attention", operands,
            {{"scale", 0.25},
             {"causal", std::string(mask.causal)},
             {"window", mask.window},
             {"softcap", mask.softcap},
             {"layout", std::string(bshd ? "bshd" : "bhsd")},
             {"lse", true},
             {"roles", roles}});
  c.output(results[0]);
  c.output(results[1]);
  expectDecomposed(c);
}

INSTANTIATE_TEST_SUITE_P(
    Masks, DecomposeAttentionTest,
    testing::Combine(testing::Values(MaskCase{"none", 0, "", 0},
                                     MaskCase{"none", 0, "", 1.5},
                                     MaskCase{"bottom_right", 0, "", 0},
                                     MaskCase{"top_left", 0, "bias", 0},
                                     MaskCase{"bottom_right", 3, "mask", 2},
                                     MaskCase{"top_left", 2, "lengths", 0},
                                     MaskCase{"bottom_right", 2, "lengths", 0},
                                     MaskCase{"none", 0, "slopes", 0},
                                     MaskCase{"top_left", 0, "slopes", 0},
                                     MaskCase{"bottom_right", 4,
                                              "bias,mask,lengths,slopes", 1}),
                     testing::Bool(), testing::Bool(),
                     testing::Values(0, 1, 2)));

TEST(DecomposeAttention, EmptyKeySequenceGivesZeroAndMinusInfinity) {
  PassCase c;
  AttentionShape s;
  s.keys = 0;
  s.symbolic = true;
  auto results =
      c.ops("attention", operandsOf(c, s, false),
            {{"causal", std::string("bottom_right")}, {"lse", true}});
  c.output(results[0]);
  c.output(results[1]);
  expectDecomposed(c);
}

TEST(DecomposeAttention, RowsPastTheLengthMayHoldNan) {
  PassCase c;
  AttentionShape s;
  std::vector<ValueId> operands = operandsOf(c, s, false);
  operands.push_back(c.input(DType::I64, {Dim(s.batch)}, [] { return 4.0; }));
  for (int input : {1, 2}) { // k and v
    HostTensor &tensor = c.inputs[input];
    int64_t size = tensor.shape[3];
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i)
      if (i / size % s.keys >= 4)
        tensor.setFlat(i, std::nan(""));
  }
  c.output(c.op("attention", operands,
                {{"scale", 0.5}, {"roles", std::string("lengths")}}));
  expectDecomposed(c);
  auto plain = evaluate(c.graph, c.dims, c.inputs, reference::Mode::Plain);
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE(std::isnan((*plain)[0].flat(0)));
}

TEST(DecomposeAttention, HalfPrecisionRoundsOnceOrNot) {
  for (bool f32Scores : {false, true}) {
    PassCase c;
    AttentionShape s;
    c.output(c.op("attention", operandsOf(c, s, false, DType::BF16),
                  {{"scale", 0.5}, {"causal", std::string("top_left")}}));
    expectDecomposed(c, f32Scores, kBf16);
  }
}

TEST(DecomposeNormalise, MeansTheSameOnEveryAxisAndType) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    PassCase c;
    ValueId x = c.input(dtype, {c.dim("B", 3), Dim(5), c.dim("N", 4)});
    ValueId weight = c.input(DType::BF16, {*Dim::parse("N")});
    ValueId bias = c.input(DType::F32, {*Dim::parse("N")});
    AttrMap eps{{"eps", 0x1p-10}};
    for (int64_t axis : {-1, 0, 1, 2})
      c.output(c.op("softmax", {x}, {{"axis", axis}}));
    c.output(c.op("layer_norm", {x}, eps));
    c.output(c.op("layer_norm", {x, weight}, eps));
    c.output(c.op("layer_norm", {x, weight, bias}, eps));
    c.output(c.op("rms_norm", {x}, eps));
    c.output(c.op("rms_norm", {x, weight}, eps));
    graph::Graph after = c.rewritten([](mlir::OpPassManager &manager) {
      manager.addPass(createDecomposeNormalisePass());
    });
    std::set<std::string> kinds = kindsOf(after);
    EXPECT_EQ(kinds.count("softmax") + kinds.count("layer_norm") +
                  kinds.count("rms_norm"),
              0u);
    c.expectSameMeaning(after, dtype == DType::F32 ? kTight : kBf16);
  }
}

TEST(DecomposeNormalise, VarianceDoesNotCancel) {
  // With E[x^2] - E[x]^2 in f32 the variance of these rows is lost.
  PassCase c;
  double next = 0;
  ValueId x = c.input(DType::F32, {Dim(2), Dim(64)},
                      [&] { return 10000 + 0.25 * (next += 1); });
  c.output(c.op("layer_norm", {x}));
  graph::Graph after = c.rewritten([](mlir::OpPassManager &manager) {
    manager.addPass(createDecomposeNormalisePass());
  });
  auto oracle = evaluate(c.graph, c.dims, c.inputs, reference::Mode::Oracle);
  auto plain = evaluate(after, c.dims, c.inputs, reference::Mode::Plain);
  ASSERT_TRUE(oracle.ok() && plain.ok());
  for (int64_t i = 0; i < 128; ++i)
    EXPECT_NEAR((*plain)[0].flat(i), (*oracle)[0].flat(i), 1e-4);
}
