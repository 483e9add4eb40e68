//===- ActivationTest.cpp - accuracy of the activations' bodies -----------===//
//
// The bodies ask for approximations (`afn`), so their error on a GPU is more
// than that of their arithmetic. They run here as CPU code takes them and with
// a model of the hardware: its exponential and reciprocal are off by all that
// their documentation allows, in one direction, and flush subnormals.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/ScalarEmitter.h"
#include "ir/scalar/Elementary.h"
#include "tests/unit/ir/scalar/LaneFunction.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

using namespace mlir;
using namespace azulejo;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
using Body = Value (graphir::ScalarEmitter::*)(Value);

bool mayApproximate(Operation *op) {
  auto flagged = dyn_cast<arith::ArithFastMathInterface>(op);
  return flagged &&
         bitEnumContainsAll(flagged.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::afn);
}

/// The hardware's result from the correctly rounded one. `skew` is in units of
/// the most that is documented: 2^-22.5 for the exponential, 2^-23 for the
/// reciprocal, which is exact for 1.
Value modelled(OpBuilder &b, Operation &op, double skew) {
  Location loc = op.getLoc();
  graphir::ScalarEmitter s(b, loc);
  auto skewed = [&](Value exact, double error) {
    Value off =
        s.op<math::FmaOp>(exact, s.constant(exact, skew * error), exact);
    Value tiny = s.compare("lt", off, s.constant(off, 0x1p-126));
    off = s.select(tiny, s.constant(off, 0.0), off);
    Value endless = s.compare("eq", exact, s.constant(exact, double(kInf)));
    return s.select(endless, exact, off);
  };
  if (isa<math::Exp2Op>(op)) {
    auto plain = math::Exp2Op::create(b, loc, op.getOperand(0));
    Value exact = scalar::expandMath(b, loc, plain, op.getOperands(),
                                     scalar::Clamp::Minimum);
    plain.erase();
    // Of zero, and of what is flushed to it, the instruction gives 1.
    Value size = s.op<math::AbsFOp>(op.getOperand(0));
    Value flushed = s.compare("lt", size, s.constant(size, 0x1p-126));
    return s.select(flushed, exact, skewed(exact, 0x1.6a09e6p-23));
  }
  Value divisor = op.getOperand(1);
  Value exact = arith::DivFOp::create(b, loc, op.getOperand(0), divisor);
  Value one = s.compare("eq", divisor, s.constant(divisor, 1.0));
  return s.select(one, exact, skewed(exact, 0x1p-23));
}

/// What a target does with the ops of a body: the CPU where `skew` is 0, else
/// the model of a GPU.
void expand(Block &block, double skew) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool rough = skew != 0 && mayApproximate(&op);
    if (!isa<math::Exp2Op>(op) && !(rough && isa<arith::DivFOp>(op)))
      continue;
    OpBuilder b(&op);
    Value value =
        rough ? modelled(b, op, skew)
              : scalar::expandMath(b, op.getLoc(), &op, op.getOperands());
    op.getResult(0).replaceAllUsesWith(value);
    op.erase();
  }
}

class Compiled : public scalar::LaneFunction {
public:
  Compiled(Body body, int lanes, double skew)
      : LaneFunction(
            1, lanes,
            [&](OpBuilder &b, Location loc, ArrayRef<Value> operands) -> Value {
              graphir::ScalarEmitter s(b, loc);
              Value value = (s.*body)(operands[0]);
              // A last op that the expansion never replaces.
              Value result = s.mul(value, s.constant(value, 1.0));
              expand(*b.getInsertionBlock(), skew);
              return result;
            }) {}
};

double exactErf(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double exactTanh(double x) {
  double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * inner));
}

double exactExp(double x) { return std::exp(x); }
double exactSigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exactSilu(double x) { return x / (1 + std::exp(-x)); }

/// The distance in units of the last place of the exact value.
double ulps(float got, double exact) {
  int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(got - exact) / std::ldexp(1.0, exponent - 23);
}

struct Range {
  float low, high;
  double bound; ///< in ulp
};

struct Function {
  const char *name;
  Body body;
  double (*exact)(double);
  std::vector<Range> ranges;
  /// Left of it no digit is promised, but hardly any is left: an absolute error
  /// of at most `tailError`, and exactly zero left of `end`.
  float tail;
  double tailError;
  float end;
  std::vector<std::pair<float, float>> points; ///< These are exact.
};

void PrintTo(const Function &g, std::ostream *os) { *os << g.name; }

class Activation
    : public testing::TestWithParam<std::tuple<Function, double, int>> {};

TEST_P(Activation, KeepsItsBounds) {
  auto [g, skew, lanes] = GetParam();
  Compiled f(g.body, lanes, skew);
  ASSERT_FALSE(HasFatalFailure());
  for (const Range &r : g.ranges) {
    std::vector<float> x;
    for (uint64_t i = 0; i < uint64_t(1) << 32; i += lanes ? 1021 : 16411) {
      float value = std::bit_cast<float>(static_cast<uint32_t>(i));
      if (value >= r.low && value <= r.high && value != 0)
        x.push_back(value);
    }
    // Bit patterns are dense near zero, these in the middle.
    for (int i = 1; i < 100000; ++i)
      x.push_back(r.low + (std::min(r.high, 20.f) - r.low) * (i / 1e5f));
    std::vector<float> got = f(x);
    double worst = 0, where = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (double d = ulps(got[i], g.exact(x[i])); d > worst)
        worst = d, where = x[i];
    std::printf("%s on [%g, %g]: %.2f ULP\n", g.name, r.low, r.high, worst);
    EXPECT_LE(worst, r.bound) << g.name << "(" << where << ")";
  }
}

TEST_P(Activation, FadesOutOnTheLeft) {
  auto [g, skew, lanes] = GetParam();
  Compiled f(g.body, lanes, skew);
  ASSERT_FALSE(HasFatalFailure());
  std::vector<float> x;
  for (float v = g.tail; v > -110; v -= 0.001f)
    x.push_back(v);
  for (float v = -110; v > -kInf; v *= 1.5f)
    x.push_back(v);
  std::vector<float> got = f(x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(got[i], g.exact(x[i]), g.tailError) << x[i];
    // It stays on its side of zero.
    ASSERT_EQ(std::signbit(got[i]), std::signbit(g.exact(-1))) << x[i];
    if (x[i] < g.end) {
      ASSERT_EQ(got[i], 0) << x[i];
    }
  }
}

TEST_P(Activation, TakesEveryValue) {
  auto [g, skew, lanes] = GetParam();
  Compiled f(g.body, lanes, skew);
  ASSERT_FALSE(HasFatalFailure());
  auto same = [&](float x, float want) {
    EXPECT_EQ(std::bit_cast<uint32_t>(f(x)), std::bit_cast<uint32_t>(want))
        << g.name << "(" << x << ") gave " << f(x);
  };
  for (auto [x, want] : g.points)
    same(x, want);
  for (uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff812345u})
    EXPECT_TRUE(std::isnan(f(std::bit_cast<float>(nan)))) << nan;
  // The arithmetic itself keeps subnormals.
  for (float tiny : {0x1p-140f, -0x1p-140f}) {
    double exact = g.exact(tiny);
    EXPECT_NEAR(f(tiny), exact, std::max(0x1p-149, std::abs(exact) * 0x1p-23));
  }
}

constexpr float kLargest = std::numeric_limits<float>::max();
const std::vector<std::pair<float, float>> kRampPoints = {
    {kInf, kInf},         {-kInf, -0.0f},     {0.0f, 0.0f},
    {-0.0f, -0.0f},       {1000, 1000},       {-1000, -0.0f},
    {kLargest, kLargest}, {-kLargest, -0.0f}, {-1e4f, -0.0f},
};
const std::vector<Range> kGeluRanges = {
    {0, kInf, 5}, {-1, 0, 6}, {-3, -1, 20}, {-5.5, -3, 48}};

const Function kFunctions[] = {
    {"gelu_erf", &graphir::ScalarEmitter::geluErf, exactErf, kGeluRanges, -5.5f,
     1e-11, -16, kRampPoints},
    {"gelu_tanh", &graphir::ScalarEmitter::geluTanh, exactTanh, kGeluRanges,
     -5.5f, 1e-11, -16, kRampPoints},
    {"exp_below_maximum",
     &graphir::ScalarEmitter::expBelowMaximum,
     exactExp,
     {{-20, 0, 5}, {-87.3f, -20, 8}},
     -87.3f,
     1.2e-38,
     -89,
     {{0.0f, 1}, {-0.0f, 1}, {-kInf, 0}, {-1000, 0}, {-kLargest, 0}}},
    // Left of -87.3 the divisor leaves the range of normal numbers' inverses.
    {"silu",
     &graphir::ScalarEmitter::silu,
     exactSilu,
     {{0, kInf, 4}, {-20, 0, 6}, {-87.3f, -20, 9}},
     -87.3f,
     1.1e-36,
     -89,
     kRampPoints},
    {"sigmoid",
     &graphir::ScalarEmitter::sigmoid,
     exactSigmoid,
     {{0, kInf, 4}, {-20, 0, 6}, {-87.3f, -20, 9}},
     -87.3f,
     1.2e-38,
     -89,
     {{kInf, 1},
      {-kInf, 0},
      {1000, 1},
      {-1000, 0},
      {kLargest, 1},
      {-kLargest, 0},
      {-1e4f, 0}}},
};

INSTANTIATE_TEST_SUITE_P(All, Activation,
                         testing::Combine(testing::ValuesIn(kFunctions),
                                          testing::Values(0, 1, -1),
                                          testing::Values(16, 0)),
                         [](const auto &info) {
                           double skew = std::get<1>(info.param);
                           return std::string(std::get<0>(info.param).name) +
                                  (skew == 0  ? "_Cpu"
                                   : skew > 0 ? "_HardwareAbove"
                                              : "_HardwareBelow") +
                                  (std::get<2>(info.param) ? "_Vector"
                                                           : "_Scalar");
                         });

} // namespace
