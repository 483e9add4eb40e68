//===- ElementaryTest.cpp - accuracy of the emitted functions -------------===//
//
// Each function is compiled for this host and run over f32's whole range in
// steps, and over all the values that a formula tends to get wrong. The
// reference is the double precision library function, rounded to f32.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/scalar/Elementary.h"
#include "tests/unit/ir/scalar/LaneFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace mlir;
using namespace azulejo;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr char kSoftmaxExp2[] = "softmax_exp2";
constexpr char kShortExp2[] = "exp2 with afn";

/// `name` is an op of math or one of the two above.
class Compiled : public scalar::LaneFunction {
public:
  Compiled(const std::string &name, int lanes,
           const std::vector<std::string> &features = {},
           scalar::Clamp clamp = scalar::Clamp::Select)
      : LaneFunction(
            name == "math.powf" ? 2 : 1, lanes,
            [&](OpBuilder &b, Location loc, ArrayRef<Value> operands) {
              if (name == kSoftmaxExp2)
                return scalar::emitSoftmaxExp2(b, loc, operands[0]);
              bool shorter = name == kShortExp2;
              // As in a kernel, the op is a scalar one whose lanes become a
              // vector.
              Type f32 = b.getF32Type();
              Value lane =
                  arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
              SmallVector<Value> scalars(operands.size(), lane);
              OperationState state(loc, shorter ? "math.exp2" : name, scalars,
                                   {f32});
              if (shorter)
                state.addAttribute(
                    "fastmath", arith::FastMathFlagsAttr::get(
                                    b.getContext(), arith::FastMathFlags::afn));
              Operation *op = b.create(state);
              Value result = scalar::expandMath(b, loc, op, operands, clamp);
              op->erase();
              return result;
            },
            features) {}
};

/// Neighbouring floats get neighbouring numbers; both zeros get 0.
int64_t order(float x) {
  int32_t bits = std::bit_cast<int32_t>(x);
  return bits < 0 ? -int64_t(bits & 0x7fffffff) : bits;
}

/// Steps from `got` to the correctly rounded result. The sign of a zero counts,
/// and where underflow or infinity is beyond doubt, nothing else will do.
int64_t distance(float got, double exact) {
  constexpr int64_t kFar = int64_t(1) << 40;
  auto want = static_cast<float>(exact);
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) == std::isnan(got) ? 0 : kFar;
  if (want == 0 && got == 0 && std::signbit(want) != std::signbit(got))
    return kFar;
  bool clear = std::abs(exact) < 0x1p-151 || std::isinf(exact);
  if (clear && got != want)
    return kFar;
  return std::abs(order(got) - order(want));
}

/// The values at which formulas break, with both signs.
std::vector<float> specialValues() {
  std::vector<float> values = {
      0,           0x1p-149f,  0x1p-148f, 0x1.8p-140f, 0x1.fffffcp-127f,
      0x1p-126f,   0x1p-100f,  0x1p-24f,  0x1p-12f,    0.25f,
      0.33333334f, 0.5f,       0.65f,     2.f / 3,     0.70710677f,
      0.70710683f, 0.75f,      1,         1.3333334f,  1.4142135f,
      1.5f,        1.5707964f, 2,         2.5f,        3,
      3.1415927f,  3.9f,       4,         5,           9.1f,
      10,          51,         88.72283f, 88.72284f,   103.97f,
      104,         104.5f,     126,       127,         127.99999f,
      128,         129,        149,       149.99998f,  150,
      151,         1e4f,       8388607,   8388608,     16777215,
      16777216,    16777218,   1e10f,     1e30f,       kMax,
      kInf};
  for (size_t i = 0, n = values.size(); i < n; ++i)
    for (float toward : {0.f, kInf})
      values.push_back(std::nextafter(values[i], toward));
  for (size_t i = 0, n = values.size(); i < n; ++i)
    values.push_back(-values[i]);
  for (uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7fffffffu, 0xffffffffu,
                       0x7f800001u, 0xff812345u, 0x7fc00155u})
    values.push_back(std::bit_cast<float>(nan));
  return values;
}

/// The special values and every `step`-th bit pattern.
std::vector<float> sweep(uint64_t step) {
  std::vector<float> values = specialValues();
  for (uint64_t i = 0; i < uint64_t(1) << 32; i += step)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(i)));
  return values;
}

struct Worst {
  int64_t ulp = 0;
  float x = 0, y = 0, got = 0;
  double want = 0;

  void see(float x, float y, float got, double want) {
    if (int64_t d = distance(got, want); d > ulp)
      *this = {d, x, y, got, want};
  }
  void expectAtMost(int64_t bound, const std::string &name) const {
    std::printf("%s: at most %lld ULP\n", name.c_str(),
                static_cast<long long>(ulp));
    EXPECT_LE(ulp, bound) << name << "(" << x << ", " << y << ") gave " << got
                          << ", not " << want;
  }
};

struct Unary {
  const char *name;
  double (*exact)(double);
  int64_t bound;
  float largest = kInf; ///< The bound holds up to this magnitude.
};

void PrintTo(const Unary &u, std::ostream *os) { *os << u.name; }

class ElementaryUnary : public testing::TestWithParam<Unary> {
protected:
  void check(int lanes, uint64_t step,
             const std::vector<std::string> &features = {},
             scalar::Clamp clamp = scalar::Clamp::Select) {
    const Unary &u = GetParam();
    Compiled f(u.name, lanes, features, clamp);
    ASSERT_FALSE(HasFatalFailure());
    std::vector<float> x = sweep(step), got = f(x);
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i)
      if (std::isinf(x[i]) || !(std::abs(x[i]) > u.largest))
        worst.see(x[i], 0, got[i], u.exact(x[i]));
    worst.expectAtMost(u.bound, u.name);
  }
};

TEST_P(ElementaryUnary, SixteenLanes) { check(16, 257); }
TEST_P(ElementaryUnary, Scalar) { check(0, 65537); }
TEST_P(ElementaryUnary, OddLanes) { check(5, 65537); }
TEST_P(ElementaryUnary, OneLane) { check(1, 1048577); }
/// The form that GPU code takes.
TEST_P(ElementaryUnary, ScalarWithMinimum) {
  check(0, 16411, {}, scalar::Clamp::Minimum);
}
#ifdef __x86_64__
TEST_P(ElementaryUnary, Avx2) { check(16, 16411, {"-avx512f"}); }
#endif

/// Both forms of a function give the same bits, so CPUs and GPUs agree.
TEST_P(ElementaryUnary, FormsAgree) {
  const char *name = GetParam().name;
  Compiled select(name, 16), minimum(name, 0, {}, scalar::Clamp::Minimum);
  ASSERT_FALSE(HasFatalFailure());
  std::vector<float> x = sweep(65537), a = select(x), b = minimum(x);
  for (size_t i = 0; i < x.size(); ++i)
    if (!std::isnan(a[i]) || !std::isnan(b[i])) {
      ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i]))
          << name << "(" << x[i] << ")";
    }
}

double exactRsqrt(double x) { return 1 / std::sqrt(x); }

INSTANTIATE_TEST_SUITE_P(
    All, ElementaryUnary,
    testing::Values(Unary{"math.exp", std::exp, 1},
                    Unary{"math.exp2", std::exp2, 1},
                    Unary{"math.log", std::log, 1},
                    Unary{"math.tanh", std::tanh, 1},
                    Unary{"math.sin", std::sin, 2, 0x1p40f},
                    Unary{"math.cos", std::cos, 2, 0x1p40f},
                    Unary{"math.rsqrt", exactRsqrt, 1}),
    [](const auto &info) { return std::string(info.param.name + 5); });

TEST(Elementary, AnyAngle) {
  for (const char *name : {"math.sin", "math.cos"}) {
    Compiled f(name, 16);
    ASSERT_FALSE(HasFatalFailure());
    std::vector<float> x = sweep(65537), got = f(x);
    for (size_t i = 0; i < x.size(); ++i)
      if (std::isfinite(x[i])) {
        ASSERT_LE(std::abs(got[i]), 1) << name << "(" << x[i] << ")";
      }
    EXPECT_TRUE(std::isnan(f(kInf)) && std::isnan(f(-kInf))) << name;
  }
}

/// Pairs that meet every branch of pow: all special pairs, results over the
/// whole range, integer exponents of negative bases, bases near 1.
void powerPairs(std::vector<float> &x, std::vector<float> &y) {
  std::vector<float> special = specialValues();
  for (float a : special)
    for (float b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  std::mt19937_64 random(20240607);
  std::uniform_real_distribution<double> unit(-1, 1);
  auto anyFloat = [&] {
    return std::bit_cast<float>(static_cast<uint32_t>(random()));
  };
  for (int i = 0; i < 1000000; ++i) {
    float base = std::abs(anyFloat());
    x.push_back(base);
    y.push_back(static_cast<float>(155 * unit(random) / std::log2(base)));
    x.push_back(anyFloat());
    y.push_back(anyFloat());
    x.push_back(static_cast<float>(20 * unit(random)));
    y.push_back(static_cast<float>(std::round(40 * unit(random))));
    float nearOne = static_cast<float>(1 + 1e-3 * unit(random));
    x.push_back(nearOne);
    y.push_back(static_cast<float>(150 * unit(random) / std::log2(nearOne)));
    x.push_back(static_cast<float>(10 * unit(random)));
    y.push_back(static_cast<float>(10 * unit(random)));
  }
}

TEST(Elementary, Pow) {
  std::vector<float> x, y;
  powerPairs(x, y);
  for (int lanes : {16, 0, 3}) {
    Compiled f("math.powf", lanes, {},
               lanes ? scalar::Clamp::Select : scalar::Clamp::Minimum);
    ASSERT_FALSE(HasFatalFailure());
    std::vector<float> got = f(x, y);
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i)
      worst.see(x[i], y[i], got[i], std::pow(double(x[i]), double(y[i])));
    worst.expectAtMost(1, "math.powf");
  }
}

TEST(Elementary, PowRules) {
  Compiled f("math.powf", 16);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(f(kNan, 0.f), 1);
  EXPECT_EQ(f(1.f, kNan), 1);
  EXPECT_EQ(f(-1.f, -kInf), 1);
  EXPECT_TRUE(std::isnan(f(-2.f, 0.5f)));
  EXPECT_EQ(f(-2.f, 3.f), -8);
  EXPECT_EQ(f(-0.f, -3.f), -kInf);
  EXPECT_EQ(f(-0.f, -2.f), kInf);
  EXPECT_TRUE(std::signbit(f(-0.f, 3.f)));
  EXPECT_EQ(f(-kInf, 0.5f), kInf);
  EXPECT_EQ(f(-kInf, 3.f), -kInf);
  EXPECT_EQ(f(0.5f, -kInf), kInf);
}

/// Users compare these with ==.
TEST(Elementary, ExactValues) {
  Compiled exp("math.exp", 16), exp2("math.exp2", 16), log("math.log", 16);
  Compiled cosine("math.cos", 16), tanh("math.tanh", 16);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(exp(0.f), 1);
  EXPECT_EQ(log(1.f), 0);
  EXPECT_EQ(cosine(0.f), 1);
  EXPECT_EQ(tanh(20.f), 1);
  for (int k = -149; k <= 127; ++k)
    EXPECT_EQ(exp2(static_cast<float>(k)), std::ldexp(1.f, k)) << k;
}

TEST(Elementary, SoftmaxExp2) {
  for (int lanes : {16, 0}) {
    Compiled f(kSoftmaxExp2, lanes);
    ASSERT_FALSE(HasFatalFailure());
    std::vector<float> x = sweep(lanes ? 257 : 65537), got = f(x);
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] < -126) {
        ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), 0u) << x[i];
        continue;
      }
      if (x[i] <= 127 || std::isnan(x[i]))
        worst.see(x[i], 0, got[i], std::exp2(double(x[i])));
      if (x[i] <= 0) {
        ASSERT_TRUE(std::isnormal(got[i])) << x[i];
      }
    }
    worst.expectAtMost(2, kSoftmaxExp2);
    EXPECT_EQ(f(0.f), 1);
  }
}

/// Near either end results may become zero or infinite early.
TEST(Elementary, ShortExp2) {
  for (int lanes : {16, 0}) {
    Compiled f(kShortExp2, lanes, {},
               lanes ? scalar::Clamp::Select : scalar::Clamp::Minimum);
    ASSERT_FALSE(HasFatalFailure());
    std::vector<float> x = sweep(lanes ? 257 : 65537), got = f(x);
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) || (x[i] >= -126 && x[i] <= 127))
        worst.see(x[i], 0, got[i], std::exp2(double(x[i])));
      ASSERT_TRUE(!std::signbit(got[i]) || std::isnan(x[i])) << x[i];
      if (x[i] < -126.5f) {
        ASSERT_EQ(got[i], 0) << x[i];
      }
      if (x[i] >= 128) {
        ASSERT_EQ(got[i], kInf) << x[i];
      }
    }
    worst.expectAtMost(2, kShortExp2);
    EXPECT_EQ(f(0.f), 1);
    EXPECT_EQ(f(-1.f), 0.5f);
  }
}

/// Ops that an instruction serves, and types that are not f32, are left alone.
TEST(Elementary, ReturnsNullWhereNothingIsToBeExpanded) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, math::MathDialect>();
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto emitted = [&] { return module->getBody()->getOperations().size(); };
  auto check = [&](StringRef name, Type type, size_t count) {
    Value x =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
    SmallVector<Value> operands(count, x);
    OperationState state(loc, name, operands, {type});
    Operation *op = b.create(state);
    size_t before = emitted();
    EXPECT_FALSE(scalar::expandMath(b, loc, op, operands)) << name.str();
    EXPECT_EQ(emitted(), before) << name.str();
  };
  auto lanes = VectorType::get({8}, b.getF32Type());
  for (StringRef name :
       {"math.absf", "math.floor", "math.ceil", "math.sqrt", "math.roundeven"})
    check(name, lanes, 1);
  check("math.copysign", lanes, 2);
  check("math.fma", lanes, 3);
  check("math.exp", b.getF64Type(), 1);
  check("math.sin", VectorType::get({8}, b.getF16Type()), 1);
}

/// Compile time grows with the ops of a kernel; constants cost nothing.
TEST(Elementary, StaysShort) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, math::MathDialect>();
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  for (auto [name, bound] : {std::pair<StringRef, int>{"math.exp", 24},
                             {"math.exp2", 24},
                             {"math.log", 32},
                             {"math.sin", 36},
                             {"math.tanh", 32},
                             {"math.powf", 70},
                             {kSoftmaxExp2, 15}}) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    auto type = VectorType::get({16}, b.getF32Type());
    Value x =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
    if (name == kSoftmaxExp2) {
      scalar::emitSoftmaxExp2(b, loc, x);
    } else {
      SmallVector<Value> operands(name == "math.powf" ? 2 : 1, x);
      OperationState state(loc, name, operands, {type});
      Operation *op = b.create(state);
      scalar::expandMath(b, loc, op, operands);
      op->erase();
    }
    int ops = llvm::count_if(*module->getBody(), [](Operation &op) {
      return !isa<arith::ConstantOp>(op);
    });
    std::printf("%s: %d ops\n", name.data(), ops);
    EXPECT_LE(ops, bound) << name.str();
  }
}

} // namespace
