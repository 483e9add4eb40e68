//===- NormExactTest.cpp - norms and softmax with known answers -----------===//
//
// Numbers O-... name entries of the fault list that the cases come from.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16};

/// One row through a norm; fused and unfused must both give `want`.
void expectRow(const std::string &op, DType dtype, std::vector<double> row,
               double eps, const std::vector<double> &want, double tolerance) {
  for (bool fuse : {true, false}) {
    Sketch s;
    Dim width(static_cast<int64_t>(row.size()));
    ValueId x = s.input(dtype, {Dim(2), width}, values(row));
    s.output(s.op(op, {x}, {{"eps", eps}}));
    Options options;
    options.fuse = fuse;
    std::vector<HostTensor> out = outputsOf(s, {}, options);
    ASSERT_EQ(out.size(), 1u);
    for (int64_t i = 0; i < out[0].elements(); ++i)
      ASSERT_NEAR(out[0].flat(i), want[static_cast<size_t>(i) % want.size()],
                  tolerance)
          << op << " " << dtypeName(dtype) << (fuse ? " fused" : " unfused");
  }
}

Sketch normOf(const std::string &op, DType dtype, int64_t rows, int64_t width) {
  Sketch s;
  ValueId x = s.input(dtype, {Dim(rows), Dim(width)}, uniform(-1, 2)),
          gamma = s.input(dtype, {Dim(width)}, uniform(0.5, 1.5));
  s.output(s.op(op, {x, gamma}));
  return s;
}

TEST(NormExact, O061OddWidthsKeepToTheirRows) {
  for (const char *op : {"rms_norm", "layer_norm"})
    for (int64_t width : {1, 2, 3, 5, 7, 63, 65, 127, 769, 1023, 1025, 4097}) {
      SCOPED_TRACE(std::string(op) + " " + std::to_string(width));
      checkFused(normOf(op, DType::F16, 7, width), {{}});
    }
}

TEST(NormExact, O061RepeatsAreBitEqual) {
  Sketch s = normOf("rms_norm", DType::F16, 7, 769);
  Result<std::unique_ptr<Subject>> subject = s.compile();
  ASSERT_TRUE(subject.ok()) << subject.error().str();
  std::vector<HostTensor> inputs = s.data({});
  std::vector<std::byte> first;
  for (int repeat = 0; repeat < 50; ++repeat) {
    auto out = (*subject)->run({}, inputs);
    ASSERT_TRUE(out.ok()) << out.error().str();
    if (!repeat)
      first = (*out)[0].bytes;
    ASSERT_EQ((*out)[0].bytes, first) << repeat;
  }
}

TEST(NormExact, O062AddRmsNormOfModelWidths) {
  for (int64_t width : {3584, 1536, 2304, 2560, 5112})
    for (DType dtype : {DType::F16, DType::BF16}) {
      SCOPED_TRACE(width);
      Sketch s;
      Shape shape{Dim(3), Dim(width)};
      ValueId sum = s.op("add", {s.input(dtype, shape), s.input(dtype, shape)});
      s.output(sum);
      s.output(s.op("rms_norm", {sum, s.input(dtype, {Dim(width)})}));
      checkFused(s, {{}});
    }
}

TEST(NormExact, O063WideRows) {
  for (int64_t width : {8192, 16384, 32768, 65536, 131072}) {
    SCOPED_TRACE(width);
    checkFused(normOf("rms_norm", DType::F32, 2, width), {{}});
    checkFused(normOf("layer_norm", DType::F32, 2, width), {{}});
  }
}

TEST(NormExact, O064LargeInputsOfSmallSpread) {
  const std::vector<double> want{-1.341635, -0.447212, 0.447212, 1.341635};
  for (double base : {40000., 80000., 1e6})
    expectRow("layer_norm", DType::F32, {base, base + 1, base + 2, base + 3},
              1e-5, want, 1e-4);
}

TEST(NormExact, O065MeanMuchLargerThanTheSpread) {
  for (auto [mean, first] : {std::pair<double, double>{0, -1.34164},
                             {100, -1.34153},
                             {1000, -1.34151},
                             {10000, -1.33133}}) {
    std::vector<double> row;
    for (int i = 0; i < 16; ++i)
      row.push_back(static_cast<float>(mean + i * 1e-3));
    Sketch s;
    s.output(s.op("layer_norm",
                  {s.input(DType::F32, {Dim(1), Dim(16)}, values(row))},
                  {{"eps", 1e-5}}));
    std::vector<HostTensor> out = outputsOf(s);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_NEAR(out[0].flat(0), first, 1e-3) << mean;
    checkEverywhere(s, {{}});
  }
}

TEST(NormExact, O066TinyEpsilonAndConstantRows) {
  for (DType dtype : kFloats)
    for (double constant : {3., 0.}) {
      Sketch s;
      ValueId x = s.input(dtype, {Dim(2), Dim(64)}, values({constant})),
              gamma = s.input(dtype, {Dim(64)}, values({1})),
              beta = s.input(dtype, {Dim(64)}, values({0.5}));
      s.output(s.op("layer_norm", {x, gamma, beta}, {{"eps", 1e-12}}));
      std::vector<HostTensor> out = outputsOf(s);
      ASSERT_EQ(out.size(), 1u);
      for (double element : elementsOf(out[0]))
        ASSERT_EQ(element, 0.5);
    }
  expectRow("rms_norm", DType::F16, std::vector<double>(64, 0.), 1e-12, {0}, 0);
  expectRow("rms_norm", DType::F32, std::vector<double>(64, 0.), 1e-12, {0}, 0);
}

TEST(NormExact, O067SquaresBeyondTheRangeOfF32) {
  // Statistics are kept in f32, so rows are normalised as long as the sum of
  // their squares is one. Beyond that the row is scaled by 1 / sqrt(inf): it
  // becomes zero and never NaN.
  for (const char *op : {"layer_norm", "rms_norm"}) {
    expectRow(op, DType::F32, {1e18, -1e18, 1e18, -1e18}, 1e-5, {1, -1, 1, -1},
              1e-5);
    expectRow(op, DType::F32, {1e30, -1e30, 1e30, -1e30}, 1e-5, {0}, 0);
  }
}

TEST(NormExact, O068SquaresBeyondTheRangeOfHalf) {
  for (int64_t width : {64, 512, 8192})
    for (double value : {300., 65504.}) {
      expectRow("rms_norm", DType::F16,
                std::vector<double>(static_cast<size_t>(width), value), 1e-6,
                {1}, 0x1p-10);
      Sketch s;
      ValueId x = s.input(DType::F16, {Dim(1), Dim(width)}, values({value})),
              gamma = s.input(DType::F32, {Dim(width)}, values({1}));
      ValueId y = s.op("rms_norm", {x, gamma});
      EXPECT_EQ(s.graph().type(y).dtype, DType::F16);
      s.output(y);
      checkFused(s, {{}});
    }
}

TEST(NormExact, O040OddPitches) {
  for (const char *op : {"softmax", "rms_norm"})
    for (DType dtype : {DType::F32, DType::F16})
      for (int64_t pitch : {1185, 1186, 1187}) {
        SCOPED_TRACE(std::string(op) + " " + std::to_string(pitch));
        Sketch s;
        s.output(s.op(op, {s.input(dtype, {Dim(64), Dim(1185)})}));
        Options options;
        options.inputStrides = {{pitch, 1}};
        checkFused(s, {{}}, options);
      }
}

TEST(NormExact, SoftmaxOfExtremeRows) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  Sketch s;
  s.output(s.op("softmax", {s.input(DType::F32, {Dim(6), Dim(4)},
                                    values({1e30,  1e30,  1e30,  1e30, //
                                            -1e30, -1e30, -1e30, 0,    //
                                            -inf,  0,     -inf,  0,    //
                                            3e38,  -3e38, 0,     3e38, //
                                            nan,   1,     2,     3,    //
                                            -inf,  -inf,  -inf,  -inf}))}));
  std::vector<HostTensor> out = outputsOf(s);
  ASSERT_EQ(out.size(), 1u);
  const std::vector<double> want{0.25, 0.25, 0.25, 0.25, 0,   0, 0, 1,
                                 0,    0.5,  0,    0.5,  0.5, 0, 0, 0.5};
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(out[0].flat(static_cast<int64_t>(i)), want[i]) << i;
  Options options;
  options.expectNan = true;
  checkEverywhere(s, {{}}, options);
}

/// Attributes of norms and rope are heeded (the rest of O-031).
TEST(NormExact, O031AttributesChangeTheResult) {
  auto normed = [](const char *op, double eps) {
    Sketch s;
    s.output(
        s.op(op, {s.input(DType::F32, {Dim(4), Dim(32)})}, {{"eps", eps}}));
    checkEverywhere(s, {{}});
    return elementsOf(outputsOf(s)[0]);
  };
  for (const char *op : {"layer_norm", "rms_norm"})
    EXPECT_GT(std::fabs(normed(op, 1e-6)[0] - normed(op, 1.0)[0]), 1e-3);
  auto rotated = [](const char *pairing) {
    Sketch s;
    s.output(s.op("rope",
                  {s.input(DType::F32, {Dim(5), Dim(8)}),
                   s.input(DType::F32, {Dim(5), Dim(4)}),
                   s.input(DType::F32, {Dim(5), Dim(4)})},
                  {{"pairing", std::string(pairing)}}));
    checkEverywhere(s, {{}});
    return elementsOf(outputsOf(s)[0]);
  };
  EXPECT_GT(std::fabs(rotated("half")[0] - rotated("interleaved")[0]), 1e-3);
}

// A maximum without its axes meets other rows than its own: what it is taken
// from may be larger, and its exponential beyond f32.
TEST(NormExact, ExponentialsAboveAnotherRowsMaximum) {
  Sketch s;
  constexpr int64_t size = 16;
  std::vector<double> data(size * size, 0.0);
  for (int64_t j = 0; j < size; ++j)
    data[static_cast<size_t>(j)] = 190.0 + static_cast<double>(j);
  ValueId x = s.input(DType::F32, {Dim(size), Dim(size)}, values(data));
  ValueId most = s.op("reduce_max", {x},
                      {{"axes", std::vector<int64_t>{1}}, {"keepdims", false}});
  s.output(s.op("exp", {s.op("sub", {x, most})}));
  checkFused(s, {{}});
}

} // namespace
