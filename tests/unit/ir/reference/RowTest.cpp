//===- RowTest.cpp - reductions, softmax, norms, rope ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "GraphCase.h"

#include <numeric>

namespace azulejo::reference {
namespace {

using Ints = std::vector<int64_t>;

Values normOf(const std::string &kind, const Values &x, double eps,
              DType dtype = DType::F32, Mode mode = Mode::Oracle) {
  GraphCase c;
  ValueId id = c.input(dtype, {static_cast<int64_t>(x.size())}, x);
  return c.values(c.op(kind, {id}, {{"eps", eps}}), mode);
}

TEST(Row, ReducesOverAnyAxes) {
  GraphCase c;
  Values x(24);
  std::iota(x.begin(), x.end(), 0);
  ValueId id = c.input(DType::F32, {2, 3, 4}, x);
  expectValues(c.values(c.op("reduce_sum", {id}, {{"axes", Ints{0, 2}}})),
               {60, 92, 124});
  expectValues(c.values(c.op("reduce_mean", {id}, {{"axes", Ints{1}}})),
               {4, 5, 6, 7, 16, 17, 18, 19});
  ValueId kept =
      c.op("reduce_max", {id}, {{"axes", Ints{2}}, {"keepdims", true}});
  EXPECT_EQ(c.run(kept).shape, (Ints{2, 3, 1}));
  expectValues(c.values(kept), {3, 7, 11, 15, 19, 23});
}

TEST(Row, EmptyAndNanReductions) {
  GraphCase c;
  ValueId none = c.input(DType::F32, {2, 0}, {});
  AttrMap last{{"axes", Ints{1}}};
  expectValues(c.values(c.op("reduce_sum", {none}, last)), {0, 0});
  expectValues(c.values(c.op("reduce_max", {none}, last)), {-kInf, -kInf});
  expectValues(c.values(c.op("reduce_mean", {none}, last)), {kNan, kNan});
  ValueId nan = c.input(DType::F32, {2, 3}, {1, kNan, 3, 4, 5, kNan});
  expectValues(c.values(c.op("reduce_max", {nan}, last)), {kNan, kNan});
  ValueId whole = c.input(DType::I32, {1, 3}, {-5, -2, -9});
  expectValues(c.values(c.op("reduce_max", {whole}, last)), {-2});
}

TEST(Row, OracleSumsAreCompensatedAndKeepInfinity) {
  GraphCase c;
  Values x(10001, std::ldexp(1, -60));
  x[0] = 1;
  ValueId id = c.input(DType::F32, {10001}, x);
  ValueId sum = c.op("reduce_sum", {id}, {{"axes", Ints{0}}});
  EXPECT_EQ(c.values(sum)[0], 1 + 10000 * std::ldexp(1, -60));
  EXPECT_GT(c.values(sum)[0], 1);
  EXPECT_EQ(c.values(sum, Mode::Plain)[0], 1);
  ValueId infinite = c.input(DType::F32, {3}, {1, kInf, 2});
  expectValues(c.values(c.op("reduce_sum", {infinite}, {{"axes", Ints{0}}})),
               {kInf});
}

TEST(Row, SoftmaxOverAnyAxis) {
  GraphCase c;
  double l = std::log(3.0f);
  ValueId id = c.input(DType::F32, {2, 2}, {0, l, l, l});
  expectValues(c.values(c.op("softmax", {id})), {.25, .75, .5, .5}, 1e-7);
  expectValues(c.values(c.op("softmax", {id}, {{"axis", int64_t{0}}})),
               {.25, .5, .75, .5}, 1e-7);
}

TEST(Row, SoftmaxFollowsIeeeAtTheEdges) {
  GraphCase c;
  ValueId id =
      c.input(DType::F32, {3, 2}, {-kInf, -kInf, 1e30, -kInf, 0, kNan});
  expectValues(c.values(c.op("softmax", {id})), {kNan, kNan, 1, 0, kNan, kNan});
}

TEST(Row, LayerNormOfLargeFiniteInputs) { // O-064
  Values want{-1.341635, -0.447212, 0.447212, 1.341635};
  for (double base : {40000., 80000., 1e6})
    expectValues(
        normOf("layer_norm", {base, base + 1, base + 2, base + 3}, 1e-5), want,
        1e-5);
}

TEST(Row, LayerNormWithLargeMean) { // O-065
  for (double mean : {0., 100., 1000., 10000.}) {
    Values x;
    std::vector<long double> exact; // what f32 makes of the values
    for (int i = 0; i < 16; ++i) {
      x.push_back(mean + i * 1e-3);
      exact.push_back(static_cast<float>(x.back()));
    }
    long double sum = 0, squares = 0;
    for (long double value : exact)
      sum += value;
    for (long double value : exact)
      squares += (value - sum / 16) * (value - sum / 16);
    Values want;
    for (long double value : exact)
      want.push_back(
          static_cast<double>((value - sum / 16) / sqrtl(squares / 16)));
    // Evenly spaced values give -7.5 / sqrt(21.25) at the front; the rounding
    // of the inputs moves it a little.
    EXPECT_NEAR(want[0], -1.62698, 2e-2);
    expectValues(normOf("layer_norm", x, 0), want, 1e-9);
  }
}

TEST(Row, EpsSurvivesHalfPrecision) { // O-066
  for (double value : {3., 0.}) {
    GraphCase c;
    ValueId x = c.input(DType::F16, {2, 64}, repeated(128, value));
    ValueId gamma = c.input(DType::F16, {64}, repeated(64, 1));
    ValueId beta = c.input(DType::F16, {64}, repeated(64, 0.5));
    for (Mode mode : {Mode::Oracle, Mode::Plain})
      expectValues(
          c.values(c.op("layer_norm", {x, gamma, beta}, {{"eps", 1e-12}}),
                   mode),
          repeated(128, 0.5));
  }
  expectValues(normOf("rms_norm", repeated(64, 0), 1e-12, DType::F16),
               repeated(64, 0));
}

TEST(Row, VarianceBeyondF32) { // O-067
  Values x{1e30, -1e30, 1e30, -1e30}, want{1, -1, 1, -1};
  expectValues(normOf("layer_norm", x, 1e-5), want, 1e-12);
  expectValues(normOf("rms_norm", x, 1e-5), want, 1e-12);
}

TEST(Row, RmsNormOfLargeHalves) { // O-068
  for (double value : {300., 65504.})
    for (int64_t h : {64, 512, 8192})
      for (Mode mode : {Mode::Oracle, Mode::Plain})
        expectValues(
            normOf("rms_norm", repeated(h, value), 1e-6, DType::F16, mode),
            repeated(h, 1), 1e-10);
}

TEST(Row, NormsScaleByChannel) {
  GraphCase c;
  ValueId x = c.input(DType::F32, {2, 2}, {1, 3, -2, 2});
  ValueId gamma = c.input(DType::F32, {2}, {2, 10});
  ValueId beta = c.input(DType::F32, {2}, {0.5, 1});
  expectValues(c.values(c.op("layer_norm", {x, gamma, beta}, {{"eps", 0.0}})),
               {-1.5, 11, -1.5, 11}, 1e-12);
  double rms = std::sqrt(5.0);
  expectValues(c.values(c.op("rms_norm", {x, gamma}, {{"eps", 0.0}})),
               {2 / rms, 30 / rms, -2, 10}, 1e-12);
}

TEST(Row, PartialRope) { // O-070
  for (bool interleaved : {false, true}) {
    GraphCase c;
    ValueId x = c.input(DType::F32, {1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
    ValueId cosines = c.input(DType::F32, {1, 2}, {0, 0});
    ValueId sines = c.input(DType::F32, {1, 2}, {1, 1});
    ValueId out =
        c.op("rope", {x, cosines, sines},
             {{"pairing", std::string(interleaved ? "interleaved" : "half")}});
    expectValues(c.values(out), interleaved ? Values{-2, 1, -4, 3, 5, 6, 7, 8}
                                            : Values{-3, -4, 1, 2, 5, 6, 7, 8});
  }
}

TEST(Row, RopeTablesFollowTheLayout) { // O-069
  // Position s turns by s * 90 degrees: x = (1, 0) becomes (cos, sin).
  const Values c4{1, 0, -1}, s4{0, 1, 0};
  GraphCase c;
  Values x;
  for (int i = 0; i < 6; ++i)
    x.insert(x.end(), {1, 0});
  ValueId bhsd = c.input(DType::F32, {1, 2, 3, 2}, x);
  ValueId cosines = c.input(DType::F32, {3, 1}, c4);
  ValueId sines = c.input(DType::F32, {3, 1}, s4);
  expectValues(c.values(c.op("rope", {bhsd, cosines, sines})),
               {1, 0, 0, 1, -1, 0, 1, 0, 0, 1, -1, 0});
  ValueId bshd = c.input(DType::F32, {1, 3, 2, 2}, x);
  ValueId cosinesB = c.input(DType::F32, {3, 1, 1}, c4);
  ValueId sinesB = c.input(DType::F32, {3, 1, 1}, s4);
  expectValues(c.values(c.op("rope", {bshd, cosinesB, sinesB})),
               {1, 0, 1, 0, 0, 1, 0, 1, -1, 0, -1, 0});
}

} // namespace
} // namespace azulejo::reference
