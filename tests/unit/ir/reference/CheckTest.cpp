//===- CheckTest.cpp - the checker catches what it must, and only that ----===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Check.h"
#include "GraphCase.h"
#include "ir/reference/Float.h"

#include <random>

namespace azulejo::reference {
namespace {

/// A comparison in `dtype`. Plain is the rounded oracle unless given.
struct Comparison {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Values oracle, actual, plain = {};
  CheckOptions options = {};

  CheckReport run() const {
    if (!isFloat(dtype))
      return check(HostTensor::of(dtype, shape, actual),
                   HostTensor::of(dtype, shape, oracle),
                   HostTensor::of(dtype, shape, oracle), options);
    return check(HostTensor::of(dtype, shape, actual),
                 HostTensor::of(DType::F64, shape, oracle),
                 HostTensor::of(dtype, shape, plain.empty() ? oracle : plain),
                 options);
  }
};

CheckReport compare(Values oracle, Values actual, CheckOptions options = {},
                    DType dtype = DType::F32) {
  auto size = static_cast<int64_t>(oracle.size());
  return Comparison{dtype, {size}, oracle, actual, {}, options}.run();
}

Values noise(int64_t count, unsigned seed, double scale = 1) {
  std::mt19937 engine(seed);
  Values list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(scale * (static_cast<double>(engine()) / 2147483648.0 - 1));
  return list;
}

/// A value some ulps of `dtype` away.
double moved(double value, double ulps, DType dtype = DType::F32) {
  return roundTo(dtype, value) + ulps * ulpOf(dtype, value);
}

TEST(Check, NanNeverPassesForAValue) { // O-025
  CheckOptions nan{.expectNan = true};
  for (const CheckOptions &options : {CheckOptions(), nan}) {
    EXPECT_FALSE(compare({kNan, 1}, {0, 1}, options).pass);
    EXPECT_FALSE(compare({0, 1}, {kNan, 1}, options).pass);
    EXPECT_FALSE(compare({kInf}, {-kInf}, options).pass);
    EXPECT_FALSE(compare({kInf}, {kNan}, options).pass);
    EXPECT_FALSE(compare({-kInf, 0}, {-3e38, 0}, options).pass);
    EXPECT_FALSE(compare({1}, {kInf}, options).pass);
    EXPECT_TRUE(compare({-kInf, kInf, 2}, {-kInf, kInf, 2}, options).pass);
  }
  EXPECT_FALSE(compare({kNan, 1}, {kNan, 1}).pass);
  EXPECT_TRUE(compare({kNan, 1}, {kNan, 1}, nan).pass);
  EXPECT_FALSE(compare({kNan, 1}, {kNan, 2}, nan).pass);
}

TEST(Check, ReportsWhereAndWhat) {
  CheckReport report =
      Comparison{DType::F32, {2, 2}, {1, 2, 3, 4}, {1, 2, 3.5, 4}}.run();
  EXPECT_FALSE(report.pass);
  EXPECT_EQ(report.badIndex, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(report.got, 3.5);
  EXPECT_EQ(report.expected, 3);
  EXPECT_NE(report.str().find("[1, 0]"), std::string::npos);
  EXPECT_EQ(compare({1, 2}, {1, 2}).reason, "");
}

TEST(Check, MeasuresTheError) {
  double off = moved(2, 1);
  CheckReport report = compare({2, 0}, {off, 0});
  EXPECT_TRUE(report.pass) << report.str();
  EXPECT_DOUBLE_EQ(report.maxAbs, off - 2);
  EXPECT_DOUBLE_EQ(report.maxUlp, 1);
  EXPECT_DOUBLE_EQ(report.maxRel, (off - 2) / 2);
  EXPECT_DOUBLE_EQ(report.relativeNorm, (off - 2) / 2);
}

TEST(Check, OneUlpPassesThreeDoNot) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    auto at = [&](double ulps) {
      return compare({1.5}, {moved(1.5, ulps, dtype)}, {}, dtype).pass;
    };
    EXPECT_TRUE(at(1)) << dtypeName(dtype);
    EXPECT_FALSE(at(2)) << dtypeName(dtype);
    EXPECT_FALSE(at(3)) << dtypeName(dtype);
  }
}

TEST(Check, TwiceThePlainErrorIsAllowed) {
  double step = 100 * ulpOf(DType::F32, 1);
  auto at = [&](double factor) {
    return Comparison{
        DType::F32, {2}, {1, 1}, {1 + factor * step, 1}, {1 + step, 1}}
        .run()
        .pass;
  };
  EXPECT_TRUE(at(-1.9));
  EXPECT_TRUE(at(2));
  EXPECT_FALSE(at(2.1));
}

TEST(Check, OneWrongElementAmongAMillion) {
  Values oracle = noise(1 << 20, 1), plain = oracle, actual = oracle;
  for (double &x : plain)
    x = roundTo(DType::F16, x);
  actual = plain;
  Comparison c{DType::F16, {1 << 10, 1 << 10}, oracle, actual, plain};
  EXPECT_TRUE(c.run().pass);
  c.actual[777777] += 0.01;
  CheckReport report = c.run();
  EXPECT_FALSE(report.pass);
  EXPECT_LT(report.relativeNorm, 1e-3); // the norm alone would not see it
  EXPECT_EQ(report.badIndex, (std::vector<int64_t>{759, 561}));
}

TEST(Check, HalfWrittenOutput) {
  Values oracle = noise(4096, 2);
  for (double poison : {0., kNan, -1.5, 6e4}) {
    Comparison c{DType::F16, {64, 64}, oracle, oracle};
    EXPECT_TRUE(c.run().pass);
    std::fill(c.actual.begin() + 2048, c.actual.end(), poison);
    EXPECT_FALSE(c.run().pass) << poison;
    c.actual = oracle;
    c.actual.back() = poison;
    EXPECT_FALSE(c.run().pass) << poison;
  }
}

TEST(Check, ShiftedOrScaledOutput) {
  Values oracle = noise(1024, 3);
  Comparison c{DType::BF16, {32, 32}, oracle, oracle};
  std::rotate(c.actual.begin(), c.actual.begin() + 1, c.actual.end());
  EXPECT_FALSE(c.run().pass);
  c.actual = oracle;
  for (double &x : c.actual)
    x *= 1.02;
  EXPECT_FALSE(c.run().pass);
}

TEST(Check, ZeroOracle) {
  EXPECT_TRUE(compare({0, 0}, {0, -0.0}).pass);
  EXPECT_TRUE(compare({0, 0}, {1e-45, 0}).pass); // the smallest subnormal
  EXPECT_FALSE(compare({0, 0}, {1e-30, 0}).pass);
  for (const Comparison &empty : {Comparison{DType::F32, {0, 4}, {}, {}},
                                  Comparison{DType::F32, {4, 0}, {}, {}}})
    EXPECT_TRUE(empty.run().pass);
  Comparison scalar{DType::F32, {}, {1}, {1}};
  EXPECT_TRUE(scalar.run().pass);
  scalar.actual = {2};
  EXPECT_FALSE(scalar.run().pass);
}

TEST(Check, SubnormalsAreMeasuredInTheirOwnStep) {
  double step = std::ldexp(1, -149);
  EXPECT_TRUE(compare({100 * step}, {101 * step}).pass);
  EXPECT_FALSE(compare({100 * step}, {110 * step}).pass);
  EXPECT_FALSE(compare({100 * step}, {0}).pass);
  CheckOptions flush{.mayFlushSubnormals = true};
  EXPECT_TRUE(compare({100 * step}, {0}, flush).pass);
  EXPECT_FALSE(compare({1e-30}, {0}, flush).pass);
}

TEST(Check, OverflowOfTheOutputType) {
  EXPECT_TRUE(compare({70000}, {kInf}, {}, DType::F16).pass);
  EXPECT_FALSE(compare({70000}, {65504}, {}, DType::F16).pass);
  EXPECT_FALSE(compare({70000}, {-kInf}, {}, DType::F16).pass);
  EXPECT_FALSE(compare({60000}, {kInf}, {}, DType::F16).pass);
  EXPECT_TRUE(compare({65519}, {kInf}, {}, DType::F16).pass);
  EXPECT_TRUE(compare({65521}, {65504}, {}, DType::F16).pass);
  EXPECT_TRUE(compare({500}, {448}, {}, DType::F8E4M3).pass);
}

// A plain run that overflowed must not excuse anything.
TEST(Check, BrokenBaselineIsNoExcuse) {
  for (double broken : {kNan, kInf}) {
    Comparison c{
        DType::F32, {4}, {1, 2, 3, 4}, {1, 2, 3, 4}, {broken, 2, broken, 4}};
    EXPECT_TRUE(c.run().pass);
    c.actual[0] = 1.001;
    EXPECT_FALSE(c.run().pass);
    c.actual[0] = broken;
    EXPECT_FALSE(c.run().pass);
  }
}

TEST(Check, RowsAreHeldToTheBound) {
  // Row 0 is large and noisy in plain; the others are small and precise.
  const int64_t rows = 64, columns = 64;
  Values oracle = noise(rows * columns, 4), plain = oracle;
  for (int64_t i = 0; i < columns; ++i) {
    oracle[i] *= 1e4;
    plain[i] = oracle[i] * (1 + 1e-4);
  }
  Comparison c{DType::F32, {rows, columns}, oracle, oracle, plain};
  for (int64_t i = 0; i < columns; ++i)
    c.actual[columns + i] += 0.05;
  EXPECT_TRUE(c.run().pass); // hidden in the norm of the tensor
  c.options.perRow = true;
  CheckReport report = c.run();
  EXPECT_FALSE(report.pass);
  EXPECT_EQ(report.badIndex[0], 1);
}

TEST(Check, NothingLeaksIntoAFullyMaskedRow) {
  Values oracle = noise(64, 5);
  std::fill(oracle.begin() + 16, oracle.begin() + 32, 0);
  Values plain = oracle;
  for (double &x : plain)
    x = roundTo(DType::BF16, x);
  Comparison c{DType::BF16, {4, 16}, oracle, plain, plain, {.perRow = true}};
  EXPECT_TRUE(c.run().pass);
  c.actual[20] = 1e-4;
  EXPECT_FALSE(c.run().pass);
}

// A lucky plain row (error 0) must not fail a result of the same quality.
TEST(Check, LuckyPlainRowIsNoTrap) {
  const int64_t rows = 200;
  Values oracle = noise(rows, 6), plain, actual, luck = noise(rows, 7);
  for (int64_t i = 0; i < rows; ++i) {
    double error = 40 * ulpOf(DType::F32, 1);
    plain.push_back(oracle[i] + (i % 10 ? error * luck[i] : 0));
    actual.push_back(oracle[i] - error * luck[rows - 1 - i]);
  }
  CheckReport report =
      Comparison{DType::F32, {rows, 1}, oracle, actual, plain, {.perRow = true}}
          .run();
  EXPECT_TRUE(report.pass) << report.str();
}

TEST(Check, IntegersAreExact) {
  for (DType dtype : {DType::I32, DType::I64, DType::I8}) {
    EXPECT_TRUE(compare({1, -7}, {1, -7}, {}, dtype).pass);
    EXPECT_FALSE(compare({1, -7}, {1, -6}, {}, dtype).pass);
  }
  HostTensor truth = HostTensor::of(DType::I1, {2}, Values{1, 0});
  EXPECT_TRUE(check(truth, truth, truth).pass);
  HostTensor odd = truth;
  odd.bytes[0] = std::byte{0xff}; // true, but not stored as 1
  EXPECT_FALSE(check(odd, truth, truth).pass);
  HostTensor big = HostTensor::dense(DType::I64, {1}), next = big;
  big.setFlatInt(0, int64_t{1} << 53);
  next.setFlatInt(0, (int64_t{1} << 53) + 1);
  EXPECT_FALSE(check(big, next, next).pass);
}

TEST(Check, MismatchedTensorsFail) {
  HostTensor f32 = HostTensor::dense(DType::F32, {2});
  HostTensor f64 = HostTensor::dense(DType::F64, {2});
  EXPECT_TRUE(check(f32, f64, f32).pass);
  EXPECT_FALSE(check(f32, HostTensor::dense(DType::F64, {3}), f32).pass);
  EXPECT_FALSE(check(f32, f32, f32).pass);
  EXPECT_FALSE(check(f32, f64, HostTensor::dense(DType::F16, {2})).pass);
  HostTensor cut = f32;
  cut.bytes.pop_back();
  EXPECT_FALSE(check(cut, f64, f32).pass);
}

TEST(Check, StridedActual) {
  HostTensor actual = HostTensor::of(DType::F32, {6}, Values{9, 1, 9, 2, 9, 3});
  actual.shape = {3}, actual.strides = {2}, actual.offset = 1;
  HostTensor want = HostTensor::of(DType::F64, {3}, Values{1, 2, 3});
  HostTensor plain = HostTensor::of(DType::F32, {3}, Values{1, 2, 3});
  EXPECT_TRUE(check(actual, want, plain).pass);
  actual.offset = 0;
  EXPECT_FALSE(check(actual, want, plain).pass);
}

TEST(Check, UlpsOfTheNarrowestTypeOnTheWay) {
  GraphCase c;
  ValueId x = c.input(DType::F8E4M3, {1}, {1});
  ValueId half = c.op("cast", {x}, {{"dtype", DType::F16}});
  ValueId wide = c.op("cast", {c.op("exp", {half})}, {{"dtype", DType::F32}});
  EXPECT_EQ(narrowestFloat(c.graph, wide), DType::F16);
  EXPECT_EQ(narrowestFloat(c.graph, x), DType::F8E4M3);
  ValueId truth =
      c.op("compare", {wide, wide}, {{"predicate", std::string("eq")}});
  EXPECT_EQ(narrowestFloat(c.graph, truth), DType::I1);
  double off = moved(1.5, 1, DType::F16);
  EXPECT_FALSE(compare({1.5}, {off}).pass);
  EXPECT_TRUE(compare({1.5}, {off}, {.precision = DType::F16}).pass);
  // A wider type is no excuse the other way round.
  EXPECT_TRUE(
      compare({1.5}, {off}, {.precision = DType::F32}, DType::F16).pass);
  EXPECT_FALSE(compare({1.5}, {1.51}, {.precision = DType::F16}).pass);
}

} // namespace
} // namespace azulejo::reference
