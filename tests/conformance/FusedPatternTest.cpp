//===- FusedPatternTest.cpp - which patterns become how many kernels ------===//
//
// Each test states a pattern of models, how many kernels it becomes, and that
// the kernels are right (fused and unfused, dense and strided) at every size
// where a loop of a kernel begins, ends or has a tail. One compilation serves
// all of them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// Compiles fused and gives the plan (a copy); fails the test on an error.
plan::Plan planOf(const Sketch &sketch) {
  Result<std::unique_ptr<Subject>> subject = sketch.compile();
  if (subject)
    return (*subject)->plan();
  ADD_FAILURE() << subject.error().str();
  return {};
}

/// The family of each region. A region may need several launches, and more of
/// them on one device than on another: "k1", "k1.2".
std::vector<std::string> familiesOf(const plan::Plan &plan) {
  std::vector<std::string> families;
  std::string region;
  for (const plan::Launch &launch : launchesAtMost(plan)) {
    if (!region.empty() && launch.kernel.starts_with(region + "."))
      continue;
    region = launch.kernel;
    families.push_back(launch.family);
  }
  return families;
}

#define EXPECT_KERNELS(sketch, ...)                                            \
  do {                                                                         \
    plan::Plan made = planOf(sketch);                                          \
    EXPECT_EQ(familiesOf(made), (std::vector<std::string> __VA_ARGS__))        \
        << kernelsOf(made);                                                    \
  } while (false)

const Ints kHeadsLast{0, 2, 1, 3};

const Ints kLengths{0,  1,  2,   3,   7,   15,  16,  17,  31,   32,   33,  63,
                    64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025};

/// Each length with one batch size; the short ones, which cost little, with
/// more than one sequence, too, and one with none.
std::vector<DimValues> everySize() {
  std::vector<DimValues> sizes{{{"B", 0}, {"S", 5}}, {{"B", 2}, {"S", 129}}};
  for (size_t i = 0; i < kLengths.size(); ++i)
    sizes.push_back(
        {{"B", kLengths[i] < 100 ? 1 + static_cast<int64_t>(i % 3) : 1},
         {"S", kLengths[i]}});
  return sizes;
}

class Pattern : public testing::TestWithParam<DType> {
protected:
  DType dtype = GetParam();
  Sketch s;
  Dim B = s.dim("B", 0, 64), S = s.dim("S", 0, 4096);
  std::vector<DimValues> sizes = everySize();
  Options options;

  ValueId rows(int64_t width) { return s.input(dtype, {B, S, Dim(width)}); }
  ValueId weight(int64_t from, int64_t to) {
    return s.input(dtype, {Dim(from), Dim(to)}, uniform(-0.2, 0.2));
  }
  ValueId heads(int64_t count, int64_t size, const Dim &length) {
    return s.input(dtype, {B, Dim(count), length, Dim(size)});
  }
  ValueId rope(ValueId x, const Dim &length, int64_t size) {
    ValueId cosTable = s.input(dtype, {length, Dim(size / 2)}),
            sinTable = s.input(dtype, {length, Dim(size / 2)});
    return s.op("rope", {x, cosTable, sinTable});
  }
  void check() { checkEverywhere(s, sizes, options); }
  void checkAttention() {
    options.perRow = true;
    check();
  }
};

INSTANTIATE_TEST_SUITE_P(DTypes, Pattern,
                         testing::Values(DType::F32, DType::F16, DType::BF16),
                         [](const auto &info) {
                           return std::string(dtypeName(info.param));
                         });

TEST_P(Pattern, LayerNormSwiGluResidualIsOneKernel) {
  ValueId gate = rows(96), up = rows(96), residual = rows(96);
  ValueId gamma = s.input(dtype, {Dim(96)}), beta = s.input(dtype, {Dim(96)});
  ValueId normed = s.op("layer_norm", {gate, gamma, beta});
  ValueId gated = s.op("mul", {s.op("silu", {normed}), up});
  s.output(s.op("add", {gated, residual}));
  EXPECT_KERNELS(s, {"RowChain"});
  check();
}

TEST_P(Pattern, ResidualRmsNormWithBothOutputsIsOneKernel) {
  ValueId sum = s.op("add", {rows(200), rows(200)});
  ValueId gamma = s.input(dtype, {Dim(200)});
  s.output(sum, "sum");
  s.output(s.op("rms_norm", {sum, gamma}), "normed");
  EXPECT_KERNELS(s, {"RowChain"});
  check();
}

TEST_P(Pattern, SwiGluOfOnePackedTensorIsOneKernel) {
  ValueId packed = rows(2 * 80);
  auto half = [&](int64_t start) {
    return s.op("slice", {packed},
                {{"starts", Ints{0, 0, start}},
                 {"sizes", Shape{B, S, Dim(80)}},
                 {"steps", Ints{1, 1, 1}}});
  };
  s.output(s.op("mul", {s.op("silu", {half(0)}), half(80)}));
  EXPECT_KERNELS(s, {"RowChain"});
  check();
}

TEST_P(Pattern, MatmulBiasGeluResidualIsOneKernel) {
  ValueId product = s.op("matmul", {rows(64), weight(64, 72)});
  ValueId biased = s.op("add", {product, s.input(dtype, {Dim(72)})});
  s.output(s.op("add", {s.op("gelu_tanh", {biased}), rows(72)}));
  EXPECT_KERNELS(s, {"Matmul"});
  check();
}

TEST_P(Pattern, ElementwiseProducersJoinTheProduct) {
  ValueId gated = s.op("mul", {s.op("silu", {rows(48)}), rows(48)});
  s.output(s.op("matmul", {gated, weight(48, 40)}));
  EXPECT_KERNELS(s, {"Matmul"});
  check();
}

TEST_P(Pattern, ProductOfANormIsTwoKernels) {
  ValueId normed = s.op("rms_norm", {rows(64), s.input(dtype, {Dim(64)})});
  s.output(s.op("matmul", {normed, weight(64, 40)}));
  EXPECT_KERNELS(s, {"RowChain", "Matmul"});
  check();
}

TEST_P(Pattern, BatchedProductsWithTransposedOperands) {
  ValueId a = s.input(dtype, {B, Dim(3), S, Dim(20)}),
          b = s.input(dtype, {B, Dim(3), Dim(9), Dim(20)}),
          c = s.input(dtype, {B, Dim(3), S, Dim(9)}),
          shared = s.input(dtype, {Dim(3), Dim(9), Dim(20)});
  s.output(s.op("matmul", {a, b}, {{"transpose_b", true}}));
  s.output(s.op("matmul", {c, a}, {{"transpose_a", true}}));
  s.output(s.op("matmul", {a, shared}, {{"transpose_b", true}}));
  EXPECT_KERNELS(s, {"Matmul", "SmallM", "Matmul"}); // the second has 9 rows
  check();
}

TEST_P(Pattern, TransposeAfterAProductIsItsEpilogue) {
  ValueId product = s.op("matmul", {rows(32), weight(32, 48)});
  ValueId apart =
      s.op("reshape", {product}, {{"shape", Shape{B, S, Dim(6), Dim(8)}}});
  s.output(s.op("transpose", {apart}, {{"perm", kHeadsLast}}));
  EXPECT_KERNELS(s, {"Matmul"});
  check();
}

TEST_P(Pattern, AttentionWithRopeBiasAndCastIsOneKernel) {
  DType other = dtype == DType::F32 ? DType::F16 : DType::F32;
  ValueId q = rope(heads(4, 32, S), S, 32);
  ValueId bias = s.input(DType::F32, {Dim(4), S, S});
  ValueId o = s.op("attention", {q, heads(2, 32, S), heads(2, 32, S), bias},
                   {{"roles", std::string("bias")}});
  s.output(s.op("cast", {o}, {{"dtype", other}}));
  EXPECT_KERNELS(s, {"Attention"});
  checkAttention();
}

TEST_P(Pattern, RopeOfKeysIsAKernelOfItsOwnForManyQueryBlocks) {
  ValueId k = rope(heads(2, 32, S), S, 32);
  s.output(s.op("attention", {heads(4, 32, S), k, heads(2, 32, S)},
                {{"causal", std::string("bottom_right")}}));
  plan::Plan made = planOf(s);
  EXPECT_KERNELS(s, {"RowChain", "Attention"});
  bool explained = std::any_of(
      made.notes.begin(), made.notes.end(), [](const plan::Note &note) {
        return note.text.find("would be recomputed for every block of "
                              "queries") != std::string::npos;
      });
  EXPECT_TRUE(explained) << kernelsOf(made);
  checkAttention();
}

TEST_P(Pattern, RopeOfKeysJoinsWhereThereIsOneQueryBlock) {
  ValueId k = rope(heads(2, 32, S), S, 32);
  s.output(s.op("attention", {heads(4, 32, Dim(1)), k, heads(2, 32, S)}));
  EXPECT_KERNELS(s, {"AttentionDecode"}); // in parts, on a large device
  options.perRow = true;
  check();
}

TEST_P(Pattern, AttentionBetweenHeadSplitsIsOneKernel) {
  auto split = [&](ValueId x, int64_t count) {
    ValueId apart =
        s.op("reshape", {x}, {{"shape", Shape{B, S, Dim(count), Dim(24)}}});
    return s.op("transpose", {apart}, {{"perm", kHeadsLast}});
  };
  ValueId o = s.op("attention", {split(rows(4 * 24), 4), split(rows(48), 2),
                                 split(rows(48), 2)});
  ValueId back = s.op("transpose", {o}, {{"perm", kHeadsLast}});
  s.output(s.op("reshape", {back}, {{"shape", Shape{B, S, Dim(96)}}}));
  EXPECT_KERNELS(s, {"Attention"});
  checkAttention();
}

TEST_P(Pattern, AttentionSpelledAsProductsIsRaised) {
  ValueId q = heads(3, 16, S), k = heads(3, 16, S), v = heads(3, 16, S);
  ValueId scores = s.op("mul", {s.op("matmul", {q, k}, {{"transpose_b", true}}),
                                s.constant(0.25, dtype)});
  ValueId weights = s.op("softmax", {scores});
  s.output(s.op("matmul", {weights, v}));
  EXPECT_KERNELS(s, {"Attention"});
  check();
}

TEST_P(Pattern, SoftmaxOverInnerAndOuterAxes) {
  ValueId x = rows(37);
  for (int64_t axis : {-1, 0, 1})
    s.output(s.op("softmax", {x}, {{"axis", axis}}));
  // Rows of three different axes: no two of them share a kernel.
  EXPECT_KERNELS(s, {"RowChain", "RowChain", "RowChain"});
  check();
}

TEST_P(Pattern, SoftmaxWithScaleAndMaskIsOneKernel) {
  ValueId x = rows(65), mask = s.input(DType::I1, {S, Dim(65)}, uniform(0, 2));
  ValueId scaled = s.op("mul", {x, s.constant(0.5, dtype)});
  ValueId masked = s.op("where", {mask, scaled, s.constant(-1e4, dtype)});
  s.output(s.op("softmax", {masked}));
  EXPECT_KERNELS(s, {"RowChain"});
  check();
}

TEST_P(Pattern, MeanOverTheMiddleAxisWithItsUsersIsOneKernel) {
  ValueId x = s.input(dtype, {B, Dim(21), S});
  ValueId mean =
      s.op("reduce_mean", {x}, {{"axes", Ints{1}}, {"keepdims", true}});
  s.output(s.op("sub", {x, mean}));
  EXPECT_KERNELS(s, {"RowChain"});
  check();
}

TEST_P(Pattern, SiblingsOfOneTensorAreOneKernel) {
  ValueId x = rows(70);
  s.output(s.op("exp", {x}));
  s.output(s.op("layer_norm", {x}));
  s.output(s.op("reduce_max", {x}, {{"axes", Ints{2}}}));
  s.output(s.op("softmax", {x}));
  EXPECT_KERNELS(s, {"RowChain"});
  check();
}

TEST_P(Pattern, ProducerThatReadsItsConsumersConsumerIsNotMerged) {
  // a feeds a product and, with the product's result, a sum: merging a with
  // the sum would close a circle through the product.
  ValueId a = s.op("rms_norm", {rows(32)});
  ValueId product = s.op("matmul", {a, weight(32, 32)});
  ValueId sum = s.op("add", {s.op("layer_norm", {product}), a});
  s.output(sum);
  EXPECT_KERNELS(s, {"RowChain", "Matmul", "RowChain"});
  check();
}

TEST_P(Pattern, CacheWritesWithRopeFeedAttention) {
  Dim L = s.dim("L", 0, 4096);
  // Caches of every length too, each beside another length of what they get.
  for (size_t i = 0; i < sizes.size(); ++i)
    sizes[i]["L"] = kLengths[(i * 5 + 3) % kLengths.size()];
  sizes.push_back({{"B", 3}, {"S", 9}, {"L", 70}});
  ValueId at = s.input(DType::I32, {B}, values({3, 60, 0})),
          lengths = s.input(DType::I32, {B}, values({5, 61, 1}));
  auto cached = [&](ValueId update) {
    ValueId cache = heads(2, 16, L);
    ValueId next =
        s.op("cache_update", {cache, update, at}, {{"axis", int64_t{2}}});
    s.output(next);
    return next;
  };
  ValueId k = cached(rope(heads(2, 16, S), S, 16)), v = cached(heads(2, 16, S));
  s.output(s.op("attention", {heads(6, 16, S), k, v, lengths},
                {{"roles", std::string("lengths")},
                 {"causal", std::string("bottom_right")}}));
  plan::Plan made = planOf(s);
  EXPECT_LE(launchesAtMost(made).size(), 3u) << kernelsOf(made);
  EXPECT_EQ(made.launches.back().family, "Attention") << kernelsOf(made);
  check();
}

} // namespace
