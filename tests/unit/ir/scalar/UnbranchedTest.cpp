//===- UnbranchedTest.cpp - division and roots without branches -----------===//
//
// The sequences run on this host with a model of the approximations that they
// start from: off by all that the hardware's documentation allows, in either
// direction, and flushing subnormals. The host's own division and root are
// correctly rounded.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/scalar/Unbranched.h"
#include "ir/scalar/LaneMath.h"
#include "tests/unit/ir/scalar/LaneFunction.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace azulejo;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kLeast = std::numeric_limits<float>::denorm_min();

/// Puts the model in the place of the one op that may approximate. `skew` is in
/// units of the most that is documented.
void model(Block &block, double skew) {
  size_t found = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto flagged = dyn_cast<arith::ArithFastMathInterface>(op);
    if (!flagged ||
        flagged.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::afn)
      continue;
    OpBuilder b(&op);
    bool isRoot = isa<math::RsqrtOp>(op);
    ASSERT_TRUE(isRoot || isa<arith::DivFOp>(op));
    scalar::LaneMath m(b, op.getLoc(), op.getOperand(0));
    Value exact = isRoot ? m.div(m.f32(1), m.sqrt(op.getOperand(0)))
                         : m.div(op.getOperand(0), op.getOperand(1));
    Value error = m.f32(skew * (isRoot ? 0x1.1p-23 : 0x1p-23));
    Value off = m.fma(exact, error, exact);
    off = m.select(m.less(m.abs(off), m.f32(0x1p-126)),
                   m.copySign(m.f32(0), exact), off);
    Value ends = m.equal(m.abs(exact), m.f32(kInf));
    op.getResult(0).replaceAllUsesWith(m.select(ends, exact, off));
    op.erase();
    ++found;
  }
  EXPECT_EQ(found, 1u);
}

class Unbranched : public testing::TestWithParam<std::tuple<double, int>> {
protected:
  scalar::LaneFunction compiled(bool isRoot) const {
    auto [skew, lanes] = GetParam();
    return scalar::LaneFunction(
        isRoot ? 1 : 2, lanes,
        [=](OpBuilder &b, Location loc, ArrayRef<Value> x) -> Value {
          Value value =
              isRoot ? scalar::emitUnbranchedRoot(b, loc, x[0])
                     : scalar::emitUnbranchedQuotient(b, loc, x[0], x[1]);
          model(*b.getInsertionBlock(), skew);
          return value;
        });
  }
};

uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }

/// The same bits; of NaN any.
bool isSame(float a, float b) {
  return bitsOf(a) == bitsOf(b) || (std::isnan(a) && std::isnan(b));
}

const float kSpecial[] = {0,           -0.f,          1,
                          -1,          kInf,          -kInf,
                          kNan,        kMax,          -kMax,
                          kLeast,      -kLeast,       3,
                          0x1p127f,    0x1p126f,      0x1p125f,
                          0x1p-126f,   0x1p-125f,     0x1.fffffep-127f,
                          0x1.8p-140f, 0x1.fffffep0f, 0x1.000002p0f,
                          0x1p-64f,    0x1p-65f};

/// Mantissas whose reciprocal ends one ulp low from the worst start.
const float kHard[] = {0x1.0d3226p0f, 0x1.0f988ap0f, 0x1.1df486p0f,
                       0x1.213212p0f, 0x1.30cf32p0f, 0x1.37d55ep0f,
                       0x1.41bba2p0f, 0x1.4499eep0f, 0x1.4c893ep0f,
                       0x1.555558p0f, 0x1.fffffep0f};

TEST_P(Unbranched, QuotientsByTheHardestAreCorrectlyRounded) {
  scalar::LaneFunction divide = compiled(false);
  ASSERT_FALSE(HasFatalFailure());
  auto [skew, lanes] = GetParam();
  std::vector<float> x, y;
  for (float b : kHard)
    for (uint32_t a = 0x3f800000; a < 0x40000000; a += lanes ? 17 : 257)
      x.push_back(std::bit_cast<float>(a)), y.push_back(b);
  std::vector<float> got = divide(x, y);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(got[i], x[i] / y[i]) << x[i] << " / " << y[i];
}

TEST_P(Unbranched, QuotientsAreCorrectlyRounded) {
  scalar::LaneFunction divide = compiled(false);
  ASSERT_FALSE(HasFatalFailure());
  std::vector<float> x, y;
  for (float a : kSpecial)
    for (float b : kSpecial)
      x.push_back(a), y.push_back(b);
  std::mt19937 random(7);
  for (int i = 0; i < 2000000; ++i) {
    // Any bits, and those whose quotients are hard to round.
    uint32_t a = random(), b = random();
    if (i % 4 == 1)
      b |= 0x7fffff;
    if (i % 4 == 2)
      a = (a & 0xff80000f) | 0x3f800000, b = (b & 0x80fff000) | 0x3f000000;
    if (i % 4 == 3)
      a = (a & 0x807fffff) | 0x3f800000, b = (b & 0x807fffff) | 0x3f800000;
    x.push_back(std::bit_cast<float>(a));
    y.push_back(std::bit_cast<float>(b));
  }
  std::vector<float> got = divide(x, y);
  size_t small = 0, off = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    float want = x[i] / y[i];
    if (std::abs(want) >= 0x1p-126f || want == 0 || std::isnan(want)) {
      ASSERT_TRUE(isSame(got[i], want) ||
                  (want == 0 && std::abs(got[i]) <= kLeast &&
                   std::signbit(got[i]) == std::signbit(want) && x[i] != 0 &&
                   std::isfinite(y[i])))
          << x[i] << " / " << y[i] << ": " << got[i] << ", not " << want;
      continue;
    }
    ++small;
    off += got[i] != want;
    ASSERT_LE(std::abs(double(got[i]) - double(want)), double(kLeast))
        << x[i] << " / " << y[i];
  }
  EXPECT_GT(small, 1000u);
  EXPECT_LT(off, small / 20) << "rounding twice matters near ties only";
}

TEST_P(Unbranched, RootsAreCorrectlyRounded) {
  scalar::LaneFunction root = compiled(true);
  ASSERT_FALSE(HasFatalFailure());
  std::vector<float> x(std::begin(kSpecial), std::end(kSpecial));
  auto [skew, lanes] = GetParam();
  // Two binades hold every mantissa of both parities; the others a sample.
  for (uint32_t i = 0x3f800000; i < 0x40800000; i += lanes ? 3 : 61)
    x.push_back(std::bit_cast<float>(i));
  for (uint64_t i = 0; i < uint64_t(1) << 32; i += lanes ? 4093 : 65521)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(i)));
  for (uint32_t i = 1; i < 5000; ++i)
    x.push_back(std::bit_cast<float>(i));
  std::vector<float> got = root(x);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(isSame(got[i], std::sqrt(x[i])))
        << x[i] << ": " << got[i] << ", not " << std::sqrt(x[i]);
}

INSTANTIATE_TEST_SUITE_P(Skews, Unbranched,
                         testing::Combine(testing::Values(-1.0, -0.9, 0.0, 0.5,
                                                          1.0),
                                          testing::Values(0, 8)));

} // namespace
