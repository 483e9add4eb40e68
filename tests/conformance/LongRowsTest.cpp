//===- LongRowsTest.cpp - rows that no register file holds ----------------===//
//
// A GPU keeps a row between its passes in registers, a longer one in shared
// memory, too, and reads the longest again. Lengths on all sides of these
// borders, odd ones among them, whose rows begin at no multiple of 16 bytes.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

constexpr int64_t kRows = 3;
constexpr int64_t kWidths[] = {8200,  16381, 28672,  40961,
                               50257, 65536, 128256, 200001};

struct Row {
  Sketch sketch;
  Shape shape;
  Dim width;
  DType dtype;

  ValueId tensor() { return sketch.input(dtype, shape); }
  ValueId vector() { return sketch.input(dtype, {width}); }
};

class LongRows : public testing::TestWithParam<DType> {
protected:
  /// Checks the graph that `build` makes, at every width.
  template <typename Build> void check(Build build) {
    for (int64_t width : kWidths) {
      SCOPED_TRACE(width);
      Row row{{}, {Dim(kRows), Dim(width)}, Dim(width), GetParam()};
      build(row);
      checkFused(row.sketch, {{}});
    }
  }
};

TEST_P(LongRows, Softmax) {
  check([](Row &row) {
    row.sketch.output(row.sketch.op("softmax", {row.tensor()}));
  });
}

TEST_P(LongRows, LayerNorm) {
  check([](Row &row) {
    ValueId x = row.tensor(), scale = row.vector(), shift = row.vector();
    row.sketch.output(row.sketch.op("layer_norm", {x, scale, shift}));
  });
}

// The sum is an output of the first pass and an operand of the second.
TEST_P(LongRows, ResidualAndRmsNorm) {
  check([](Row &row) {
    ValueId sum = row.sketch.op("add", {row.tensor(), row.tensor()});
    row.sketch.output(sum);
    row.sketch.output(row.sketch.op("rms_norm", {sum, row.vector()}));
  });
}

// Nothing is folded: several blocks share a row.
TEST_P(LongRows, SwiGlu) {
  check([](Row &row) {
    ValueId gate = row.sketch.op("silu", {row.tensor()});
    row.sketch.output(row.sketch.op("mul", {gate, row.tensor()}));
  });
}

// Values that are no words of 32 bits are kept in registers only.
TEST(LongRowsOf, WideIntegers) {
  for (int64_t width : {8200, 56320, 65537}) {
    SCOPED_TRACE(width);
    Sketch s;
    ValueId x = s.input(DType::I64, {Dim(kRows), Dim(width)});
    ValueId most =
        s.op("reduce_max", {x},
             {{"axes", std::vector<int64_t>{1}}, {"keepdims", true}});
    s.output(s.op("sub", {x, most}));
    checkFused(s, {{}});
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, LongRows,
                         testing::Values(DType::F32, DType::F16, DType::BF16),
                         [](const auto &info) {
                           return std::string(dtypeName(info.param));
                         });

} // namespace
