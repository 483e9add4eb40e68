//===- ElementwiseTest.cpp - edges of the elementwise ops -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "GraphCase.h"

namespace azulejo::reference {
namespace {

Values apply(const std::string &kind, const Values &x, AttrMap attrs = {},
             DType dtype = DType::F32) {
  GraphCase c;
  auto size = static_cast<int64_t>(x.size());
  return c.values(c.op(kind, {c.input(dtype, {size}, x)}, std::move(attrs)));
}

Values apply2(const std::string &kind, const Values &a, const Values &b,
              AttrMap attrs = {}, DType da = DType::F32,
              DType db = DType::F32) {
  GraphCase c;
  ValueId x = c.input(da, {static_cast<int64_t>(a.size())}, a);
  ValueId y = c.input(db, {static_cast<int64_t>(b.size())}, b);
  return c.values(c.op(kind, {x, y}, std::move(attrs)));
}

TEST(Elementwise, EveryUnaryHasItsClosedForm) {
  double e = std::exp(1.0);
  struct Case {
    const char *kind;
    double x, want;
  };
  const Case cases[] = {{"exp", 1, e},
                        {"exp2", 3, 8},
                        {"log", 1, 0},
                        {"sqrt", 2.25, 1.5},
                        {"rsqrt", 4, 0.5},
                        {"sin", 0, 0},
                        {"cos", 0, 1},
                        {"tanh", 0.5, (e - 1) / (e + 1)},
                        {"sigmoid", 1, e / (e + 1)},
                        {"silu", 1, e / (e + 1)},
                        {"gelu_erf", 1, 0.84134474606854293},
                        {"gelu_tanh", 1, 0.84119199060827670},
                        {"neg", 2, -2},
                        {"abs", -2, 2},
                        {"relu", -3, 0},
                        {"relu", 3, 3}};
  for (const Case &c : cases) {
    SCOPED_TRACE(c.kind);
    expectValues(apply(c.kind, {c.x}), {c.want}, 1e-15);
  }
}

TEST(Elementwise, MaxMinReluClampKeepNan) { // O-072
  expectValues(apply2("max", {kNan, 1, 1}, {1, kNan, 2}), {kNan, kNan, 2});
  expectValues(apply2("min", {kNan, 1, 1}, {1, kNan, 2}), {kNan, kNan, 1});
  expectValues(apply("relu", {kNan}), {kNan});
  expectValues(apply("abs", {kNan}), {kNan});
  expectValues(apply("clamp", {kNan, -5, 5}, {{"low", -1.0}, {"high", 2.0}}),
               {kNan, -1, 2});
}

TEST(Elementwise, SignedZeros) { // O-073
  EXPECT_FALSE(std::signbit(apply("relu", {-0.0})[0]));
  EXPECT_FALSE(std::signbit(apply2("max", {-0.0}, {0.0})[0]));
  EXPECT_FALSE(std::signbit(apply2("max", {0.0}, {-0.0})[0]));
  EXPECT_TRUE(std::signbit(apply2("min", {-0.0}, {0.0})[0]));
  EXPECT_TRUE(std::signbit(apply2("min", {0.0}, {-0.0})[0]));
}

TEST(Elementwise, SiluAndGeluAtTheEnds) { // O-071
  for (const char *kind : {"silu", "gelu_erf", "gelu_tanh"}) {
    SCOPED_TRACE(kind);
    expectValues(apply(kind, {-1000, 1000, -kInf, kInf, kNan}),
                 {0, 1000, 0, kInf, kNan});
  }
}

TEST(Elementwise, BroadcastsAndPromotes) {
  GraphCase c;
  ValueId a = c.input(DType::F16, {2, 1}, {1, 2});
  ValueId b = c.input(DType::BF16, {3}, {10, 20, 30});
  ValueId sum = c.op("add", {a, b});
  EXPECT_EQ(c.run(sum, Mode::Plain).dtype, DType::F32);
  expectValues(c.values(sum), {11, 21, 31, 12, 22, 32});
}

TEST(Elementwise, IntegersWrapAndKeep64Bits) {
  double big = 2147483647;
  expectValues(apply2("add", {big}, {1}, {}, DType::I32, DType::I32),
               {-2147483648.0});
  expectValues(apply2("mul", {65536}, {65536}, {}, DType::I32, DType::I32),
               {0});
  expectValues(apply("abs", {-2147483648.0}, {}, DType::I32), {-2147483648.0});
  GraphCase c; // 2^53 + 1 is no double
  HostTensor x = HostTensor::dense(DType::I64, {1});
  x.setFlatInt(0, (int64_t{1} << 53) + 1);
  ValueId id = c.input(x);
  EXPECT_EQ(c.run(c.op("neg", {id})).flatInt(0), -((int64_t{1} << 53) + 1));
}

TEST(Elementwise, CompareWithNanIsFalseExceptNe) {
  const Values a{1, 2, kNan}, b{2, 2, kNan};
  auto predicate = [&](const char *name) {
    return apply2("compare", a, b, {{"predicate", std::string(name)}});
  };
  expectValues(predicate("eq"), {0, 1, 0});
  expectValues(predicate("ne"), {1, 0, 1});
  expectValues(predicate("lt"), {1, 0, 0});
  expectValues(predicate("le"), {1, 1, 0});
  expectValues(predicate("gt"), {0, 0, 0});
  expectValues(predicate("ge"), {0, 1, 0});
}

TEST(Elementwise, LogicAndWhere) {
  expectValues(apply2("and", {0, 1, 1}, {1, 0, 1}, {}, DType::I1, DType::I1),
               {0, 0, 1});
  expectValues(apply2("or", {0, 1, 0}, {1, 0, 0}, {}, DType::I1, DType::I1),
               {1, 1, 0});
  expectValues(apply("not", {0, 1}, {}, DType::I1), {1, 0});
  GraphCase c; // the branch that is not taken may hold anything
  ValueId condition = c.input(DType::I1, {3}, {1, 0, 1});
  ValueId a = c.input(DType::F32, {3}, {1, kNan, 3});
  ValueId b = c.input(DType::I32, {}, {7});
  expectValues(c.values(c.op("where", {condition, a, b})), {1, 7, 3});
}

TEST(Elementwise, CastFloatToInteger) {
  Values x{1.9, -1.9, kNan, 1e20, -kInf, 300};
  expectValues(apply("cast", x, {{"dtype", DType::I32}}),
               {1, -1, 0, 2147483647, -2147483648.0, 300});
  expectValues(apply("cast", x, {{"dtype", DType::I8}}),
               {1, -1, 0, 127, -128, 127});
  expectValues(apply("cast", {0.25, 0, -0.0, kNan}, {{"dtype", DType::I1}}),
               {1, 0, 0, 1});
  expectValues(apply("cast", {300, -1}, {{"dtype", DType::I8}}, DType::I32),
               {44, -1});
  GraphCase c;
  ValueId huge = c.op("cast", {c.input(DType::F32, {2}, {1e30, -1e30})},
                      {{"dtype", DType::I64}});
  EXPECT_EQ(c.run(huge).flatInt(0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(c.run(huge).flatInt(1), std::numeric_limits<int64_t>::min());
}

TEST(Elementwise, AnExplicitCastPairRounds) { // O-080
  GraphCase c;
  Values x;
  for (int i = 0; i < 20; ++i)
    x.push_back(i / 7.0);
  ValueId id = c.input(DType::F32, {20}, x);
  ValueId there = c.op("cast", {id}, {{"dtype", DType::F16}});
  ValueId back = c.op("cast", {there}, {{"dtype", DType::F32}});
  ValueId sum = c.op("reduce_sum", {back}, {{"axes", std::vector<int64_t>{0}}});
  EXPECT_EQ(c.values(back)[1], 0.142822265625);
  EXPECT_EQ(c.values(sum)[0], 27.14208984375);
}

// Only casts round in the oracle; the plain run rounds each result.
TEST(Elementwise, ImplicitRoundingIsPlainOnly) {
  GraphCase c;
  ValueId a = c.input(DType::F16, {1}, {1});
  ValueId b = c.input(DType::F16, {1}, {std::ldexp(1, -12)});
  ValueId sum = c.op("add", {a, b});
  EXPECT_EQ(c.values(sum)[0], 1 + std::ldexp(1, -12));
  EXPECT_EQ(c.values(sum, Mode::Plain)[0], 1);
  EXPECT_EQ(c.run(sum).dtype, DType::F64);
  EXPECT_EQ(c.run(sum, Mode::Plain).dtype, DType::F16);
}

TEST(Elementwise, PowAndDivFollowIeee) {
  expectValues(apply2("pow", {-2, -8, 0, kNan}, {3, 0.5, 0, 0}),
               {-8, kNan, 1, 1});
  expectValues(apply2("div", {1, 0, -1}, {0, 0, 0}), {kInf, kNan, -kInf});
}

} // namespace
} // namespace azulejo::reference
