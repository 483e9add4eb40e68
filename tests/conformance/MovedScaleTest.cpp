//===- MovedScaleTest.cpp - scales that move behind products --------------===//
//
// Products with a scale of rows or columns in front, as a norm or a
// quantisation leaves it: what they become, and that they are right at ragged
// sizes, in every place where a scale can stand, and where the scaled and the
// unscaled operand differ by many orders of magnitude.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// Whether the products are the first arithmetic of their launches, and scales
/// come later.
bool scalesBehind(const plan::Plan &plan) {
  auto isScale = [](const std::string &op) {
    return op == "mul" || op == "div";
  };
  bool found = false;
  for (const plan::Launch &launch : plan.launches) {
    auto product = std::find(launch.ops.begin(), launch.ops.end(), "matmul");
    if (product == launch.ops.end())
      continue;
    if (std::any_of(launch.ops.begin(), product, isScale) ||
        std::none_of(product, launch.ops.end(), isScale))
      return false;
    found = true;
  }
  return found;
}

/// Random rows, the i-th times the i-th of `magnitudes`, which repeat.
Fill rowsOf(std::vector<double> magnitudes) {
  return [=](DType dtype, Ints shape, uint64_t seed) {
    HostTensor tensor = randomTensor(dtype, shape, seed);
    int64_t width = shape.back();
    for (int64_t i = 0; i < tensor.elements(); ++i)
      tensor.setFlat(
          i,
          tensor.flat(i) *
              magnitudes[static_cast<size_t>(i / width) % magnitudes.size()]);
    return tensor;
  };
}

class MovedScale : public testing::TestWithParam<DType> {
protected:
  DType dtype = GetParam();
  Sketch s;
  Dim B = s.dim("B", 0, 64), S = s.dim("S", 0, 4096);
  std::vector<DimValues> sizes{{{"B", 0}, {"S", 5}},   {{"B", 1}, {"S", 1}},
                               {{"B", 3}, {"S", 7}},   {{"B", 1}, {"S", 65}},
                               {{"B", 2}, {"S", 129}}, {{"B", 1}, {"S", 257}}};
  Options options;

  ValueId weight(int64_t from, int64_t to) {
    return s.input(dtype, {Dim(from), Dim(to)}, uniform(-0.2, 0.2));
  }
  ValueId rows(int64_t width) { return s.input(dtype, {B, S, Dim(width)}); }
  ValueId scales(const Shape &shape) {
    return s.input(dtype, shape, uniform(0.25, 4));
  }
  void check(bool moves) {
    Result<std::unique_ptr<Subject>> subject = s.compile();
    ASSERT_TRUE(subject) << subject.error().str();
    EXPECT_EQ(scalesBehind((*subject)->plan()), moves)
        << kernelsOf((*subject)->plan());
    checkEverywhere(s, sizes, options);
  }
};

INSTANTIATE_TEST_SUITE_P(DTypes, MovedScale,
                         testing::Values(DType::F32, DType::F16, DType::BF16),
                         [](const auto &info) {
                           return std::string(dtypeName(info.param));
                         });

} // namespace

TEST_P(MovedScale, RmsNormLeavesItsStatisticsForTheEpilogue) {
  ValueId n = s.op("rms_norm", {rows(72)});
  s.output(s.op("matmul", {n, weight(72, 56)}));
  check(true);
}

// The sum is an output, so it lies in memory for all three products.
TEST_P(MovedScale, ResidualAndRmsNormServeSeveralProducts) {
  ValueId sum = s.op("add", {rows(72), rows(72)});
  ValueId n = s.op("rms_norm", {sum});
  s.output(sum, "sum");
  s.output(s.op("matmul", {n, weight(72, 40)}), "q");
  s.output(s.op("matmul", {n, weight(72, 24)}), "k");
  s.output(s.op("silu", {s.op("matmul", {n, weight(72, 24)})}), "v");
  check(true);
}

TEST_P(MovedScale, RmsNormWithWeightStays) {
  ValueId n = s.op("rms_norm", {rows(72), s.input(dtype, {Dim(72)})});
  s.output(s.op("matmul", {n, weight(72, 56)}));
  check(false);
}

TEST_P(MovedScale, LayerNormBiasGeluStays) {
  ValueId n = s.op("layer_norm", {rows(72), s.input(dtype, {Dim(72)}),
                                  s.input(dtype, {Dim(72)})});
  ValueId y = s.op("matmul", {n, weight(72, 56)});
  s.output(s.op("gelu_tanh", {s.op("add", {y, s.input(dtype, {Dim(56)})})}));
  check(false);
}

TEST_P(MovedScale, RowsAreScaledOrDivided) {
  ValueId x = s.op("mul", {rows(72), scales({B, S, Dim(1)})});
  s.output(s.op("matmul", {x, weight(72, 56)}), "times");
  ValueId z = s.op("div", {rows(40), scales({S, Dim(1)})});
  s.output(s.op("matmul", {z, weight(40, 24)}), "over");
  check(true);
}

TEST_P(MovedScale, ColumnsAreScaled) {
  ValueId w = s.op("mul", {weight(72, 56), scales({Dim(56)})});
  s.output(s.op("matmul", {rows(72), w}), "plain");
  ValueId v = s.op("div", {weight(24, 72), scales({Dim(24), Dim(1)})});
  s.output(s.op("matmul", {rows(72), v}, {{"transpose_b", true}}), "turned");
  check(true);
}

TEST_P(MovedScale, BothSidesTwiceInBatches) {
  ValueId x = s.op("mul", {rows(40), scales({B, S, Dim(1)})});
  x = s.op("mul", {x, s.constant(0.5, dtype)});
  ValueId w = s.input(dtype, {B, Dim(40), Dim(24)}, uniform(-0.2, 0.2));
  w = s.op("mul", {scales({B, Dim(1), Dim(24)}), w});
  s.output(s.op("matmul", {x, w}));
  check(true);
}

TEST_P(MovedScale, TransposedLeftOperand) {
  ValueId x = s.input(dtype, {B, Dim(40), S});
  ValueId w = s.input(dtype, {B, Dim(24), Dim(40)}, uniform(-0.2, 0.2));
  ValueId byRow = s.op("mul", {x, scales({S})});
  s.output(s.op("matmul", {byRow, w},
                {{"transpose_a", true}, {"transpose_b", true}}),
           "vector");
  ValueId upright = s.op("mul", {x, scales({B, Dim(1), S})});
  s.output(s.op("matmul", {upright, w},
                {{"transpose_a", true}, {"transpose_b", true}}),
           "matrix");
  check(true);
}

// Two rows of one tensor against each other: the norm is both operands.
TEST_P(MovedScale, NormOnBothSides) {
  ValueId n = s.op("rms_norm", {rows(40)});
  s.output(s.op("matmul", {n, n}, {{"transpose_b", true}}));
  sizes.resize(4);
  check(true);
}

// Nothing times any scale is 0, and 0 times infinity is not.
TEST_P(MovedScale, EmptyContractedAxisIsZero) {
  Dim K = s.dim("K", 0, 64);
  ValueId n = s.op("rms_norm", {s.input(dtype, {S, K})}, {{"eps", 0.0}});
  s.output(s.op("matmul", {n, s.input(dtype, {K, Dim(24)})}));
  sizes = {{{"B", 0}, {"S", 5}, {"K", 0}}, {{"B", 0}, {"S", 5}, {"K", 33}}};
  check(false);
}

// Each row is held to the bound by itself: the tiny ones, of which eps leaves
// less, too.
TEST_P(MovedScale, RowsOfAnyMagnitude) {
  std::vector<double> magnitudes =
      dtype == DType::F16 ? std::vector<double>{1, 1e-4, 6e4, 1e-2, 1e3}
                          : std::vector<double>{1, 1e-20, 1e18, 1e-10, 1e9};
  ValueId x = s.input(dtype, {B, S, Dim(100)}, rowsOf(magnitudes));
  ValueId n = s.op("rms_norm", {x});
  s.output(s.op("matmul", {n, s.input(dtype, {Dim(100), Dim(56)})}));
  options.perRow = true;
  check(true);
}

// What is summed has no f16, but what comes out has.
TEST_P(MovedScale, SumsBeyondTheOperandsType) {
  ValueId x = s.input(dtype, {B, S, Dim(200)}, uniform(3e4, 6e4));
  ValueId small = s.input(dtype, {B, S, Dim(1)}, uniform(1e-5, 1e-4));
  ValueId w = s.input(dtype, {Dim(200), Dim(56)}, uniform(0.5, 1));
  s.output(s.op("matmul", {s.op("mul", {x, small}), w}));
  check(true);
}

// As libraries of products want it: rows in one axis.
TEST_P(MovedScale, FlattenedRows) {
  Shape flat{B * S, Dim(72)};
  ValueId n = s.op("rms_norm", {rows(72)});
  n = s.op("reshape", {n}, {{"shape", flat}});
  s.output(s.op("matmul", {n, weight(72, 56)}), "q");
  ValueId k = s.op("matmul", {n, weight(72, 24)});
  s.output(s.op("reshape", {k}, {{"shape", Shape{B, S, Dim(24)}}}), "k");
  ValueId x = s.op("mul", {rows(72), scales({S, Dim(1)})});
  x = s.op("div", {x, scales({Dim(1)})});
  x = s.op("reshape", {x}, {{"shape", flat}});
  s.output(s.op("matmul", {x, weight(72, 40)}), "scaled");
  check(true);
}

// Rows that a reshape splits, and a residual in the axes that they had.
TEST_P(MovedScale, SplitRows) {
  ValueId x = s.input(dtype, {S, Dim(72)});
  x = s.op("mul", {x, scales({S, Dim(1)})});
  x = s.op("reshape", {x}, {{"shape", Shape{Dim(1), S, Dim(72)}}});
  ValueId y = s.op("matmul", {x, weight(72, 56)});
  s.output(s.op("add", {y, s.input(dtype, {Dim(1), S, Dim(56)})}));
  check(true);
}
