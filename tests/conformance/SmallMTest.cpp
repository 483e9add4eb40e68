//===- SmallMTest.cpp - products of few rows ------------------------------===//
//
// What generation runs for every token: one or a few rows against weights that
// may be stored as integers with a scale per channel; whole and in parts that
// are summed.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// How the right operand is written.
enum class Weights { Plain, ScaledAfter, ScaledBefore };

/// One product of M rows (or a constant number of them) with K contracted
/// elements (or a constant number of them).
struct Product {
  DType dtype = DType::F32;
  Weights weights = Weights::Plain;
  int64_t rows = 1; ///< 0: a dimension of 1 to 64
  int64_t columns = 72;
  int64_t depth = 0; ///< 0: a dimension
  int64_t batch = 0; ///< 0: none, else several weights
  bool transposed = false, columnScales = false;

  ValueId right(Sketch &s, const Dim &K) const {
    Dim N(columns);
    Shape shape = transposed ? Shape{N, K} : Shape{K, N};
    if (batch)
      shape.insert(shape.begin(), Dim(batch));
    if (weights == Weights::Plain)
      return s.input(dtype, shape);
    ValueId stored = s.input(DType::I8, shape, uniform(-127, 128));
    return s.op("cast", {stored}, {{"dtype", dtype}});
  }

  /// Scales of the columns, as [N], or with an axis of one element.
  ValueId scales(Sketch &s, bool ofWeights) const {
    Dim N(columns), one(1);
    bool upright = ofWeights && transposed;
    Shape shape = upright        ? Shape{N, one}
                  : columnScales ? Shape{one, N}
                                 : Shape{N};
    return s.input(dtype, shape, uniform(0.001, 0.02));
  }

  ValueId product(Sketch &s, ValueId left, const Dim &K) const {
    ValueId w = right(s, K);
    if (weights == Weights::ScaledBefore)
      w = s.op("mul", {w, scales(s, /*ofWeights=*/true)});
    ValueId y = s.op("matmul", {left, w}, {{"transpose_b", transposed}});
    if (weights == Weights::ScaledAfter)
      y = s.op("mul", {y, scales(s, /*ofWeights=*/false)});
    return y;
  }

  Dim contracted(Sketch &s) const { return depth ? Dim(depth) : s.dim("K"); }
  ValueId left(Sketch &s, const Dim &K) const {
    Dim M = rows ? Dim(rows) : s.dim("M", 1, 64);
    return s.input(dtype, batch ? Shape{Dim(batch), M, K} : Shape{M, K});
  }

  Sketch sketch() const {
    Sketch s;
    Dim K = contracted(s);
    s.output(product(s, left(s, K), K));
    return s;
  }

  std::vector<DimValues> sizes() const {
    std::vector<DimValues> all;
    int64_t m = 1;
    for (int64_t k : {0, 1, 33, 128, 257, 600}) {
      DimValues dims;
      if (!depth)
        dims["K"] = k;
      if (!rows)
        dims["M"] = m;
      m = m == 64 ? 17 : std::min<int64_t>(m * 3, 64);
      if (depth && rows) // nothing varies
        return {dims};
      all.push_back(dims);
    }
    return all;
  }

  std::string text() const {
    return std::string(dtypeName(dtype)) + ", " + std::to_string(rows) + " x " +
           std::to_string(depth) + " x " + std::to_string(columns) +
           ", weights " + std::to_string(static_cast<int>(weights)) +
           (transposed ? ", transposed" : "");
  }
};

constexpr DType kTypes[] = {DType::F32, DType::F16, DType::BF16};

Options pinned(int64_t splits, const std::string &others = {}) {
  Options options;
  options.pin = "SmallM{splits=" + std::to_string(splits) + others + "}";
  return options;
}

plan::Plan planOf(const Sketch &sketch, const Options &options = {}) {
  Result<std::unique_ptr<Subject>> subject = sketch.compile(options);
  if (subject)
    return (*subject)->plan();
  ADD_FAILURE() << subject.error().str();
  return {};
}

/// One schedule for all sizes.
Options undivided() {
  Options options;
  options.variants = 1;
  return options;
}

/// All launches are of this family, and there are as many.
void expectLaunches(const plan::Plan &plan, const std::string &family,
                    size_t count) {
  EXPECT_EQ(plan.launches.size(), count) << kernelsOf(plan);
  for (const plan::Launch &launch : plan.launches)
    EXPECT_EQ(launch.family, family) << kernelsOf(plan);
}

} // namespace

TEST(SmallM, PartsAreSummedByASecondKernel) {
  Product one;
  one.dtype = DType::BF16;
  one.rows = 3;
  one.weights = Weights::ScaledAfter;
  Sketch s = one.sketch();
  plan::Plan whole = planOf(s, pinned(1)), parts = planOf(s, pinned(4));
  expectLaunches(whole, "SmallM", 1);
  expectLaunches(parts, "SmallM", 2);
  int64_t depth[] = {1000}, bytes = -1;
  ASSERT_TRUE(parts.workspaceBytes.evaluate(depth, bytes));
  EXPECT_EQ(bytes, 4 * 3 * one.columns * 4);
  ASSERT_TRUE(whole.workspaceBytes.evaluate(depth, bytes));
  EXPECT_EQ(bytes, 0);
}

TEST(SmallM, EveryNumberOfRows) {
  for (int64_t rows : {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64})
    for (int64_t splits : {1, 4}) {
      Product one;
      one.rows = rows;
      one.dtype = kTypes[rows % 3];
      one.columns = splits == 1 ? 72 : 45;
      SCOPED_TRACE(one.text() + ", splits " + std::to_string(splits));
      expectLaunches(planOf(one.sketch(), pinned(splits)), "SmallM",
                     splits == 1 ? 1 : 2);
      checkFused(one.sketch(), one.sizes(), pinned(splits));
    }
}

TEST(SmallM, MoreRowsAreNotFew) {
  Product one;
  one.rows = 65;
  expectLaunches(planOf(one.sketch(), undivided()), "Matmul", 1);
  Sketch s;
  Dim M = s.dim("M", 1, 65), K(64), N(64);
  s.output(s.op("matmul",
                {s.input(DType::F32, {M, K}), s.input(DType::F32, {K, N})}));
  expectLaunches(planOf(s, undivided()), "Matmul", 1);
}

/// Batch axes of x are rows where the weights have none.
TEST(SmallM, TheRowsOfAllSequencesCount) {
  for (int64_t sequences : {8, 9}) {
    Sketch s;
    Dim B = s.dim("B", 1, sequences), S(8), K(40), N(24);
    s.output(s.op("matmul", {s.input(DType::F32, {B, S, K}),
                             s.input(DType::F32, {K, N})}));
    plan::Plan plan = planOf(s, undivided());
    expectLaunches(plan, sequences == 8 ? "SmallM" : "Matmul", 1);
    checkFused(s, {{{"B", 1}}, {{"B", 3}}, {{"B", sequences}}});
  }
}

TEST(SmallM, IntegerWeightsInEverySpelling) {
  for (DType dtype : kTypes)
    for (Weights weights : {Weights::ScaledAfter, Weights::ScaledBefore})
      for (bool transposed : {false, true})
        for (int64_t splits : {1, 2}) {
          Product one;
          one.dtype = dtype;
          one.weights = weights;
          one.transposed = transposed;
          one.rows = splits == 1 ? 5 : 0;
          one.columnScales = splits == 2;
          one.columns = splits == 1 ? 64 : 51;
          SCOPED_TRACE(one.text());
          expectLaunches(planOf(one.sketch(), pinned(splits)), "SmallM",
                         splits);
          checkFused(one.sketch(), one.sizes(), pinned(splits));
        }
}

TEST(SmallM, SizesThatAreKnown) {
  for (int64_t depth : {1, 7, 64, 129, 512, 1000})
    for (int64_t columns : {1, 7, 40, 129, 512})
      for (Weights weights : {Weights::Plain, Weights::ScaledAfter}) {
        Product one;
        one.dtype = kTypes[(depth + columns) % 3];
        one.rows = 1 + columns % 5;
        one.depth = depth;
        one.columns = columns;
        one.weights = weights;
        one.transposed = depth % 2;
        SCOPED_TRACE(one.text());
        checkFused(one.sketch(), one.sizes());
      }
}

TEST(SmallM, EveryNumberOfParts) {
  for (int64_t splits : {2, 4, 8, 16, 32})
    for (DType dtype : kTypes) {
      Product one;
      one.dtype = dtype;
      one.weights = splits == 8 ? Weights::ScaledBefore : Weights::Plain;
      one.rows = 4;
      SCOPED_TRACE(one.text() + ", " + std::to_string(splits) + " parts");
      checkFused(one.sketch(), one.sizes(), pinned(splits, ",tileK=64"));
    }
}

TEST(SmallM, EverySizeOfTile) {
  for (int64_t tileM : {16, 32, 64})
    for (int64_t tileN : {32, 64, 128})
      for (int64_t tileK : {64, 128}) {
        if (tileM * tileN > 4096)
          continue; // too many sums for four warps
        Product one;
        one.dtype = DType::F16;
        one.weights = tileN == 64 ? Weights::ScaledBefore : Weights::Plain;
        one.rows = 0;
        one.columns = 200;
        one.transposed = tileM == 32;
        SCOPED_TRACE(one.text());
        std::string warps;
        if (TestDevice::current().isGpu())
          warps = tileN == 32 ? ",warpsN=2" : ",warpsN=4";
        checkFused(one.sketch(), one.sizes(),
                   pinned(2, warps + ",tileM=" + std::to_string(tileM) +
                                 ",tileN=" + std::to_string(tileN) +
                                 ",tileK=" + std::to_string(tileK)));
      }
}

TEST(SmallM, SeveralWeights) {
  for (int64_t splits : {1, 4})
    for (Weights weights :
         {Weights::Plain, Weights::ScaledAfter, Weights::ScaledBefore}) {
      Product one;
      one.batch = 3;
      one.dtype = DType::BF16;
      one.rows = 2;
      one.weights = weights;
      one.transposed = weights == Weights::ScaledAfter;
      SCOPED_TRACE(one.text());
      expectLaunches(planOf(one.sketch(), pinned(splits)), "SmallM",
                     splits == 1 ? 1 : 2);
      checkFused(one.sketch(), one.sizes(), pinned(splits));
    }
}

/// x from a gate, and bias, activation, residual and a cast on the way out.
TEST(SmallM, FusesWhatStandsAround) {
  for (int64_t splits : {1, 4})
    for (Weights weights : {Weights::Plain, Weights::ScaledAfter}) {
      Product one;
      one.dtype = DType::BF16;
      one.weights = weights;
      one.rows = 0;
      Sketch s;
      Dim K = one.contracted(s), N(one.columns);
      ValueId x = one.left(s, K);
      ValueId gated = s.op("mul", {s.op("silu", {x}), x});
      ValueId y = one.product(s, gated, K);
      y = s.op("add", {y, s.input(DType::BF16, {N})});
      y = s.op("gelu_tanh", {y});
      y = s.op("add", {y, s.input(DType::BF16, s.graph().type(y).shape)});
      s.output(s.op("cast", {y}, {{"dtype", DType::F32}}));
      expectLaunches(planOf(s, pinned(splits)), "SmallM", splits == 1 ? 1 : 2);
      checkFused(s, one.sizes(), pinned(splits));
    }
}

/// Heads apart and turned round: the second kernel writes where the first would
/// have written.
TEST(SmallM, ATransposeAfterIsTheEpilogue) {
  for (int64_t splits : {1, 4}) {
    Sketch s;
    Dim B = s.dim("B", 1, 4), S(3), K(300), N(6 * 8);
    ValueId product = s.op("matmul", {s.input(DType::F32, {B, S, K}),
                                      s.input(DType::F32, {K, N})});
    ValueId apart =
        s.op("reshape", {product}, {{"shape", Shape{B, S, Dim(6), Dim(8)}}});
    s.output(s.op("transpose", {apart}, {{"perm", Ints{0, 2, 1, 3}}}));
    s.output(s.op("relu", {product}));
    Options options = pinned(splits, ",tileK=64");
    expectLaunches(planOf(s, options), "SmallM", splits == 1 ? 1 : 2);
    checkFused(s, {{{"B", 1}}, {{"B", 4}}}, options);
  }
}

/// The order of the sum does not depend on who is done first.
TEST(SmallM, TheSameInputsGiveTheSameBits) {
  Product one;
  one.rows = 2;
  one.depth = 1024;
  Sketch s = one.sketch();
  std::vector<double> first;
  for (int round = 0; round < 4; ++round) {
    std::vector<HostTensor> outputs = outputsOf(s, {}, pinned(8, ",tileK=64"));
    if (outputs.empty())
      return;
    if (round == 0)
      first = elementsOf(outputs[0]);
    EXPECT_EQ(elementsOf(outputs[0]), first);
  }
}
