//===- ElementExactTest.cpp - elementwise and layout ops, known answers ---===//
//
// Numbers O-... name entries of the fault list that the cases come from.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// All outputs of a graph without symbols, fused and unfused.
void expectOutputs(const Sketch &s,
                   const std::vector<std::vector<double>> &want) {
  for (bool fuse : {true, false}) {
    Options options;
    options.fuse = fuse;
    std::vector<HostTensor> out = outputsOf(s, {}, options);
    ASSERT_EQ(out.size(), want.size());
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(elementsOf(out[i]), want[i])
          << "output " << i << (fuse ? " fused" : " unfused");
  }
}

TEST(ElementExact, O069PartialRotaryOfBothPairings) {
  for (int64_t rotary : {64, 32})
    for (const char *pairing : {"half", "interleaved"})
      for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        Sketch s;
        Dim n = s.dim("N");
        s.output(s.op("rope",
                      {s.input(dtype, {n, Dim(2), Dim(128)}),
                       s.input(dtype, {n, Dim(1), Dim(rotary / 2)}),
                       s.input(dtype, {n, Dim(1), Dim(rotary / 2)})},
                      {{"pairing", std::string(pairing)}}));
        checkFused(s, {{{"N", 3}}, {{"N", 100}}, {{"N", 101}}});
      }
}

TEST(ElementExact, O070RotaryOfHalfTheChannels) {
  Sketch s;
  ValueId x = s.input(DType::F32, {Dim(1), Dim(8)},
                      values({1, 2, 3, 4, 5, 6, 7, 8})),
          zero = s.input(DType::F32, {Dim(1), Dim(2)}, values({0})),
          one = s.input(DType::F32, {Dim(1), Dim(2)}, values({1}));
  s.output(s.op("rope", {x, zero, one}));
  s.output(
      s.op("rope", {x, zero, one}, {{"pairing", std::string("interleaved")}}));
  expectOutputs(s, {{-3, -4, 1, 2, 5, 6, 7, 8}, {-2, 1, -4, 3, 5, 6, 7, 8}});
}

TEST(ElementExact, O071SwiGluOfManyWidths) {
  for (int64_t width : {1, 3, 320, 640, 1408, 2816, 5632, 11008}) {
    SCOPED_TRACE(width);
    Sketch s;
    ValueId packed =
        s.input(DType::F16, {Dim(5), Dim(2 * width)}, uniform(-3, 3));
    auto half = [&](int64_t start) {
      return s.op("slice", {packed},
                  {{"starts", Ints{0, start}},
                   {"sizes", Shape{Dim(5), Dim(width)}},
                   {"steps", Ints{1, 1}}});
    };
    s.output(s.op("mul", {s.op("silu", {half(0)}), half(width)}));
    checkFused(s, {{}});
  }
}

TEST(ElementExact, O071SiluOfExtremes) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    Sketch s;
    s.output(s.op("silu", {s.input(dtype, {Dim(19)},
                                   values({1000, -1000, -kInf, kInf, 0}))}));
    std::vector<double> want;
    for (int i = 0; i < 19; ++i)
      want.push_back(std::vector<double>{1000, -0., -0., kInf, 0}[i % 5]);
    expectOutputs(s, {want});
  }
}

TEST(ElementExact, O072NanIsKept) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (bool fuse : {true, false})
      for (int64_t count : {1, 7, 16, 37}) {
        Sketch s;
        ValueId nan = s.input(dtype, {Dim(count)}, values({kNan})),
                one = s.input(dtype, {Dim(count)}, values({1}));
        for (const char *op : {"max", "min"}) {
          s.output(s.op(op, {nan, one}));
          s.output(s.op(op, {one, nan}));
        }
        s.output(s.op("relu", {nan}));
        s.output(s.op("clamp", {nan}, {{"low", 0.}, {"high", 1.}}));
        ValueId row =
            s.op("add",
                 {one, s.input(dtype, {Dim(count)},
                               values({kNan, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                       1,    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                       1,    1, 1, 1, 1, 1, 1, 1, 1, 1, 1}))});
        s.output(s.op("softmax", {row}));
        s.output(s.op("reduce_max", {row}, {{"axes", Ints{0}}}));
        Options options;
        options.fuse = fuse;
        for (const HostTensor &out : outputsOf(s, {}, options))
          for (double element : elementsOf(out))
            ASSERT_TRUE(std::isnan(element)) << count << fuse;
      }
}

TEST(ElementExact, O073SignsOfZero) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    Sketch s;
    ValueId minus = s.input(dtype, {Dim(21)}, values({-0.})),
            plus = s.input(dtype, {Dim(21)}, values({0.}));
    ValueId one = s.constant(1, dtype);
    s.output(s.op("div", {one, s.op("relu", {minus})}));
    s.output(s.op("div", {one, s.op("max", {minus, plus})}));
    s.output(s.op("div", {one, s.op("max", {plus, minus})}));
    s.output(s.op("div", {one, s.op("min", {minus, plus})}));
    s.output(s.op("div", {one, s.op("min", {plus, minus})}));
    s.output(s.op("div", {one, s.op("neg", {plus})}));
    std::vector<double> up(21, kInf), down(21, -kInf);
    expectOutputs(s, {up, up, up, down, down, down});
  }
}

TEST(ElementExact, O077ConsumersOfTheOldAndTheNewValue) {
  Sketch s;
  ValueId cache = s.input(DType::F32, {Dim(4), Dim(2)},
                          values({1, 2, 3, 4, 5, 6, 7, 8})),
          update = s.input(DType::F32, {Dim(1), Dim(2)}, values({10, 20})),
          at = s.input(DType::I32, {}, values({1}));
  ValueId next =
      s.op("cache_update", {cache, update, at}, {{"axis", int64_t{0}}});
  ValueId two = s.constant(2, DType::F32);
  s.output(s.op("mul", {next, two}));
  s.output(s.op("mul", {cache, two}));
  s.output(next);
  expectOutputs(s, {{2, 4, 20, 40, 10, 12, 14, 16},
                    {2, 4, 6, 8, 10, 12, 14, 16},
                    {1, 2, 10, 20, 5, 6, 7, 8}});
}

TEST(ElementExact, O078BroadcastsAndTransposesInOneChain) {
  Sketch s;
  ValueId x = s.input(DType::F32, {Dim(3), Dim(5)}, uniform()),
          row = s.input(DType::F32, {Dim(5)}, uniform());
  ValueId y = s.op("exp", {x});
  s.output(s.op("add", {y, row}));
  s.output(s.op("add", {s.op("transpose", {y}, {{"perm", Ints{1, 0}}}),
                        s.input(DType::F32, {Dim(3)}, uniform())}));
  ValueId columns =
      s.op("reduce_sum", {y}, {{"axes", Ints{1}}, {"keepdims", true}});
  s.output(s.op("mul", {y, columns}));
  checkEverywhere(s, {{}});
}

TEST(ElementExact, O079IndicesSurviveReshapes) {
  Sketch s;
  Dim B = s.dim("B"), S = s.dim("S");
  ValueId x = s.input(DType::F32, {B, S, Dim(24)});
  ValueId positions = s.op("iota", {},
                           {{"shape", Shape{B, S, Dim(24)}},
                            {"axis", int64_t{1}},
                            {"dtype", DType::F32}});
  ValueId sum = s.op("add", {x, positions});
  ValueId apart =
      s.op("reshape", {sum}, {{"shape", Shape{B, S, Dim(3), Dim(8)}}});
  ValueId heads = s.op("transpose", {apart}, {{"perm", Ints{0, 2, 1, 3}}});
  ValueId ramp = s.op("iota", {},
                      {{"shape", Shape{B, Dim(3), S, Dim(8)}},
                       {"axis", int64_t{3}},
                       {"dtype", DType::F32}});
  s.output(s.op("mul", {heads, ramp}));
  checkEverywhere(
      s, {{{"B", 2}, {"S", 7}}, {{"B", 1}, {"S", 65}}, {{"B", 3}, {"S", 1}}});
}

TEST(ElementExact, O080ExplicitCastsRound) {
  Sketch s;
  std::vector<double> sevenths, rounded;
  for (int i = 0; i < 20; ++i)
    sevenths.push_back(static_cast<float>(i / 7.0));
  ValueId x = s.input(DType::F32, {Dim(20)}, values(sevenths));
  ValueId narrow = s.op("cast", {x}, {{"dtype", DType::F16}});
  ValueId wide = s.op("cast", {narrow}, {{"dtype", DType::F32}});
  s.output(wide);
  s.output(s.op("reduce_sum", {wide}, {{"axes", Ints{0}}}));
  for (bool fuse : {true, false}) {
    Options options;
    options.fuse = fuse;
    std::vector<HostTensor> out = outputsOf(s, {}, options);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].flat(1), 0.142822265625);
    EXPECT_EQ(out[1].flat(0), 27.14208984375);
  }
}

TEST(ElementExact, O081PromotionOfEveryPair) {
  constexpr DType list[] = {DType::I1,   DType::I32, DType::I64,
                            DType::BF16, DType::F16, DType::F32};
  for (DType a : list)
    for (DType b : list)
      for (const char *op : {"add", "mul"}) {
        if (a == DType::I1 && b == DType::I1)
          continue; // refused: truth values are not numbers
        Sketch s;
        auto fill = [](DType dtype) {
          return dtype == DType::I1 ? uniform(0, 2) : grid(1, 5);
        };
        ValueId y = s.op(op, {s.input(a, {Dim(3), Dim(19)}, fill(a)),
                              s.input(b, {Dim(19)}, fill(b))});
        DType got = s.graph().type(y).dtype;
        EXPECT_EQ(got, opset::promote(a, b));
        bool halves = (a == DType::BF16 && b == DType::F16) ||
                      (a == DType::F16 && b == DType::BF16);
        EXPECT_TRUE(!halves || got == DType::F32);
        s.output(y);
        checkEverywhere(s, {{}});
      }
}

TEST(ElementExact, O111TheTailIsNotTouched) {
  // An output that is a view of the first six of eight elements: Subject::run
  // keeps redzones on both sides, so every length with a tail will do.
  for (DType dtype : {DType::I32, DType::F32, DType::F16, DType::I64})
    for (int64_t count = 1; count <= 40; ++count) {
      Sketch s;
      Dim n = s.dim("N");
      ValueId x = s.input(dtype, {n}, ramp(0));
      s.output(s.op("add", {x, x}));
      if (count > 1) {
        // One compilation serves all lengths.
        std::vector<DimValues> sizes;
        for (int64_t length = 1; length <= 40; ++length)
          sizes.push_back({{"N", length}});
        checkFused(s, sizes);
        break;
      }
      std::vector<HostTensor> out = outputsOf(s, {{"N", 6}});
      ASSERT_EQ(out.size(), 1u);
      EXPECT_EQ(elementsOf(out[0]), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    }
}

TEST(ElementExact, CastsOfFloatsToIntegersSaturate) {
  const std::vector<double> list{kNan, kInf, -kInf, 1e30, -1e30, 2.9,
                                 -2.9, 300,  -300,  0.5,  -0.5,  3e9};
  auto saturated = [&](double low, double high) {
    std::vector<double> want;
    for (double value : list)
      want.push_back(std::isnan(value)
                         ? 0
                         : std::trunc(std::min(std::max(value, low), high)) +
                               0.);
    return want;
  };
  Sketch s;
  ValueId x = s.input(DType::F32, {Dim(12)}, values(list));
  for (DType dtype : {DType::I8, DType::I32, DType::I64, DType::I1})
    s.output(s.op("cast", {x}, {{"dtype", dtype}}));
  expectOutputs(s, {saturated(-128, 127),
                    saturated(-2147483648., 2147483647.),
                    saturated(-0x1p63, 0x1p63 - 1),
                    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}});
}

TEST(ElementExact, GatherOutsideOfTheTableIsZero) {
  Sketch s;
  ValueId table =
              s.input(DType::F32, {Dim(3), Dim(2)}, values({1, 2, 3, 4, 5, 6})),
          ids = s.input(DType::I64, {Dim(5)}, values({2, -1, 0, 3, 4e18}));
  s.output(s.op("gather", {table, ids}));
  expectOutputs(s, {{5, 6, 0, 0, 1, 2, 0, 0, 0, 0}});
}

/// Behind a product they are written out for each element that a thread holds,
/// and then without branches on a GPU; an assembler took minutes for the
/// others.
TEST(ElementExact, QuotientsAndRootsBehindAProduct) {
  const double least = std::ldexp(1, -149), most = std::ldexp(1.75, 127);
  const std::vector<double> over = {0,     -0.,  1,    -3, kInf,  -kInf,
                                    least, most, 0.1f, 5,  1e-20f},
                            under = {
                                0, -0.,    7, kInf, -kInf, most,          least,
                                3, -1e20f, 1, 49,   0.3f,  1.1754944e-38f};
  constexpr int64_t kRows = 150, kColumns = 143; // every pair
  Sketch s;
  ValueId a = s.input(DType::BF16, {Dim(kRows), Dim(64)}, uniform(-1, 1)),
          b = s.input(DType::BF16, {Dim(64), Dim(kColumns)}, uniform(-1, 1)),
          x = s.input(DType::F32, {Dim(kRows), Dim(kColumns)}, values(over)),
          y = s.input(DType::F32, {Dim(kRows), Dim(kColumns)}, values(under));
  ValueId wide =
      s.op("cast", {s.op("matmul", {a, b})}, {{"dtype", DType::F32}});
  // True, but nobody knows before the product is there.
  ValueId isThere =
      s.op("compare", {wide, s.input(DType::F32, {Dim(1)}, values({1000}))},
           {{"predicate", std::string("lt")}});
  ValueId root = s.op("sqrt", {s.op("abs", {y})}),
          quotient = s.op("div", {x, y}),
          again =
              s.op("div", {s.input(DType::F32, {Dim(1)}, values({1})), root});
  for (ValueId value : {quotient, root, again})
    s.output(s.op("where", {isThere, value, wide}));
  std::vector<std::vector<double>> want(3);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    float p = static_cast<float>(over[static_cast<size_t>(i) % over.size()]),
          q = static_cast<float>(under[static_cast<size_t>(i) % under.size()]);
    float r = std::sqrt(std::abs(q));
    want[0].push_back(p / q);
    want[1].push_back(r);
    want[2].push_back(1 / r);
  }
  for (bool fuse : {true, false}) {
    Options options;
    options.fuse = fuse;
    auto began = std::chrono::steady_clock::now();
    std::vector<HostTensor> out = outputsOf(s, {}, options);
    EXPECT_LT(std::chrono::steady_clock::now() - began,
              std::chrono::seconds(60));
    if (!TestDevice::current().canRun())
      continue;
    ASSERT_EQ(out.size(), want.size());
    for (size_t o = 0; o < want.size(); ++o) {
      std::vector<double> got = elementsOf(out[o]);
      ASSERT_EQ(got.size(), want[o].size());
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_TRUE((got[i] == want[o][i] &&
                     std::signbit(got[i]) == std::signbit(want[o][i])) ||
                    (std::isnan(got[i]) && std::isnan(want[o][i])) ||
                    (std::abs(want[o][i]) < 0x1p-126 &&
                     std::abs(got[i] - want[o][i]) <= least))
            << "output " << o << ", " << i << ": " << got[i] << ", not "
            << want[o][i] << (fuse ? " fused" : " unfused");
    }
  }
}

} // namespace
