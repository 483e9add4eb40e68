//===- Tf32Test.cpp - products that may round their operands to tf32 ------===//
//
// Products and attention of f32 with the precision "tf32": every way in which
// operands lie, ragged sizes, what is fused around them, few rows, few queries.
// On a GPU they run on matrix units; elsewhere they are exact, as they may be.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Sketch.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

AttrMap tf32(AttrMap attrs = {}) {
  attrs["precision"] = std::string("tf32");
  return attrs;
}

Shape turned(bool turn, Dim rows, Dim columns) {
  return turn ? Shape{columns, rows} : Shape{rows, columns};
}

struct Attention {
  int64_t headsQ = 4, headsKv = 4, size = 64, sizeV = 64;
  bool bshd = false;
  AttrMap attrs = {};
  bool bias = false, lengths = false;

  Sketch sketch() const {
    Sketch s;
    Dim B = s.dim("B", 0, 8), S = s.dim("S", 0, 1024), T = s.dim("T", 0, 1024);
    auto shape = [&](int64_t heads, Dim length, int64_t channels) {
      return bshd ? Shape{B, length, Dim(heads), Dim(channels)}
                  : Shape{B, Dim(heads), length, Dim(channels)};
    };
    std::vector<ValueId> operands{
        s.input(DType::F32, shape(headsQ, S, size), uniform(-2, 2)),
        s.input(DType::F32, shape(headsKv, T, size), uniform(-2, 2)),
        s.input(DType::F32, shape(headsKv, T, sizeV))};
    AttrMap all = tf32(attrs);
    std::string roles;
    if (bias) {
      operands.push_back(s.input(DType::F32, {Dim(headsQ), S, T}));
      roles = "bias";
    }
    if (lengths) {
      operands.push_back(s.input(DType::I32, {B}, values({5, 0, 70})));
      roles += roles.empty() ? "lengths" : ",lengths";
    }
    all["roles"] = roles;
    all["layout"] = std::string(bshd ? "bshd" : "bhsd");
    all["lse"] = true;
    for (ValueId id : s.ops("attention", operands, all))
      s.output(id);
    return s;
  }

  void agrees(const std::vector<DimValues> &sizes) const {
    Options options;
    options.perRow = true;
    checkEverywhere(sketch(), sizes, options);
  }
};

DimValues lengthsOf(int64_t b, int64_t s, int64_t t) {
  return {{"B", b}, {"S", s}, {"T", t}};
}

} // namespace

TEST(Tf32, ProductsAsTheirOperandsLie) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      SCOPED_TRACE(std::string(ta ? "a transposed " : "") +
                   (tb ? "b transposed" : ""));
      Sketch s;
      Dim M = s.dim("M"), N = s.dim("N"), K = s.dim("K");
      ValueId a = s.input(DType::F32, turned(ta, M, K)),
              b = s.input(DType::F32, turned(tb, K, N));
      s.output(s.op("matmul", {a, b},
                    tf32({{"transpose_a", ta}, {"transpose_b", tb}})));
      auto size = [](int64_t m, int64_t n, int64_t k) {
        return DimValues{{"M", m}, {"N", n}, {"K", k}};
      };
      checkEverywhere(s, {size(0, 5, 5), size(7, 9, 0), size(1, 1, 1),
                          size(65, 33, 17), size(128, 128, 64),
                          size(129, 200, 100), size(300, 65, 37)});
    }
}

// Each warp's rectangle, tile and depth, with operands in every order.
TEST(Tf32, ProductsUnderManySchedules) {
  const char *schedules[] = {
      "tileM=64,tileN=64,tileK=16,warpsM=2,warpsN=2,stages=2",
      "tileM=128,tileN=128,tileK=16,warpsM=2,warpsN=2,stages=3",
      "tileM=128,tileN=128,tileK=32,warpsM=4,warpsN=2,stages=3",
      "tileM=16,tileN=64,tileK=32,warpsM=1,warpsN=4,stages=2",
      "tileM=256,tileN=64,tileK=16,warpsM=4,warpsN=1,stages=3"};
  for (const char *schedule : schedules)
    for (int turn : {0, 1, 2, 3}) {
      bool ta = turn & 1, tb = turn & 2;
      SCOPED_TRACE(std::string(schedule) + (ta ? ", a transposed" : "") +
                   (tb ? ", b transposed" : ""));
      Sketch s;
      Dim m(200), n(136), k(72);
      ValueId a = s.input(DType::F32, turned(ta, m, k)),
              b = s.input(DType::F32, turned(tb, k, n));
      s.output(s.op("matmul", {a, b},
                    tf32({{"transpose_a", ta}, {"transpose_b", tb}})));
      Options options;
      if (TestDevice::current().isGpu())
        options.pin = "Matmul{" + std::string(schedule) + "}";
      checkFused(s, {{}}, options);
    }
}

TEST(Tf32, BatchesThatBroadcast) {
  Sketch s;
  Dim B = s.dim("B", 0, 8), M = s.dim("M", 0, 512);
  ValueId a = s.input(DType::F32, {B, Dim(1), M, Dim(40)}),
          b = s.input(DType::F32, {Dim(3), Dim(40), Dim(72)}),
          c = s.input(DType::F32, {B, Dim(3), Dim(72), M});
  s.output(s.op("matmul", {a, b}, tf32()), "ab");
  s.output(s.op("matmul", {c, a}, tf32({{"transpose_a", false}})), "ca");
  checkEverywhere(s, {{{"B", 0}, {"M", 9}},
                      {{"B", 1}, {"M", 1}},
                      {{"B", 2}, {"M", 67}},
                      {{"B", 3}, {"M", 130}}});
}

TEST(Tf32, WhatIsFusedAroundProducts) {
  Sketch s;
  Dim M = s.dim("M");
  ValueId x = s.input(DType::F32, {M, Dim(96)}),
          w = s.input(DType::F32, {Dim(96), Dim(80)}, uniform(-0.3, 0.3)),
          narrow = s.input(DType::BF16, {Dim(96), Dim(80)}),
          bias = s.input(DType::F32, {Dim(80)}),
          residual = s.input(DType::F32, {M, Dim(80)});
  ValueId y = s.op("matmul", {s.op("silu", {x}), w}, tf32());
  y = s.op("gelu_tanh", {s.op("add", {y, bias})});
  s.output(s.op("add", {y, residual}), "epilogue");
  ValueId wide = s.op("cast", {narrow}, {{"dtype", DType::F32}});
  s.output(s.op("matmul", {x, wide}, tf32()), "widened");
  ValueId norm = s.op("rms_norm", {x});
  s.output(s.op("matmul", {norm, w}, tf32()), "norm");
  checkEverywhere(s, {{{"M", 0}}, {{"M", 1}}, {{"M", 77}}, {{"M", 300}}});
}

TEST(Tf32, FewRowsAndNarrowWeights) {
  for (bool tb : {false, true}) {
    SCOPED_TRACE(tb ? "b transposed" : "b as it is");
    Sketch s;
    Dim M = s.dim("M", 0, 64);
    ValueId x = s.input(DType::F32, {M, Dim(264)}),
            w = s.input(DType::F32, turned(tb, Dim(264), Dim(104))),
            q = s.input(DType::I8, turned(tb, Dim(264), Dim(104)),
                        uniform(-127, 127)),
            scale = s.input(DType::F32, {Dim(104)}, uniform(0.001, 0.01));
    AttrMap attrs = tf32({{"transpose_b", tb}});
    s.output(s.op("matmul", {x, w}, attrs), "plain");
    ValueId wide = s.op("cast", {q}, {{"dtype", DType::F32}});
    s.output(s.op("mul", {s.op("matmul", {x, wide}, attrs), scale}), "i8");
    checkEverywhere(s, {{{"M", 0}}, {{"M", 1}}, {{"M", 13}}, {{"M", 64}}});
  }
}

TEST(Tf32, Attention) {
  std::vector<DimValues> sizes{lengthsOf(1, 1, 1), lengthsOf(2, 33, 70),
                               lengthsOf(1, 130, 130), lengthsOf(0, 3, 3),
                               lengthsOf(1, 5, 0)};
  for (bool bshd : {false, true}) {
    Attention one;
    one.bshd = bshd;
    one.agrees(sizes);
    one.attrs = {{"causal", std::string("bottom_right")}};
    one.headsKv = 2;
    one.agrees(sizes);
    one.attrs["window"] = int64_t{40};
    one.bias = true;
    one.agrees(sizes);
  }
}

TEST(Tf32, AttentionOfManyHeadSizes) {
  for (int64_t size : {8, 40, 80, 128, 256}) {
    SCOPED_TRACE(size);
    Attention one;
    one.size = size;
    one.sizeV = size == 128 ? 64 : size;
    one.agrees({lengthsOf(1, 66, 81), lengthsOf(2, 129, 40)});
  }
}

TEST(Tf32, AttentionWithLengths) {
  Attention one;
  one.lengths = true;
  one.agrees({lengthsOf(3, 20, 90), lengthsOf(3, 70, 70)});
}

TEST(Tf32, AttentionOfFewQueries) {
  for (int64_t headsKv : {1, 2}) {
    Sketch s;
    Dim T = s.dim("T", 1, 2048);
    ValueId q = s.input(DType::F32, {Dim(2), Dim(8), Dim(1), Dim(64)}),
            k = s.input(DType::F32, {Dim(2), Dim(headsKv), T, Dim(64)}),
            v = s.input(DType::F32, {Dim(2), Dim(headsKv), T, Dim(64)});
    s.output(s.op("attention", {q, k, v}, tf32()));
    Options options;
    options.perRow = true;
    checkEverywhere(s, {{{"T", 1}}, {{"T", 100}}, {{"T", 1500}}}, options);
  }
}

/// 1 + 2^-11 is not a value of tf32, and a tie: away from zero it is 1 + 2^-10.
/// A GPU uses its matrix units, which tells who rounds: with "ieee" nobody may.
TEST(Tf32, TiesGoAwayFromZeroWhereUnitsRound) {
  double tie = 1 + std::ldexp(1, -11), up = 1 + std::ldexp(1, -10);
  bool gpu = TestDevice::current().isGpu();
  for (const char *precision : {"ieee", "tf32"})
    for (bool turn : {false, true}) {
      Sketch s;
      Dim size(128);
      ValueId a = s.input(DType::F32, {size, size}, values({tie, -tie})),
              b = s.input(DType::F32, {size, size},
                          [](DType dtype, Ints shape, uint64_t) {
                            HostTensor one = HostTensor::dense(dtype, shape);
                            for (int64_t i = 0; i < shape[0]; ++i)
                              one.setFlat(i * shape[1] + i, 1);
                            return one;
                          });
      s.output(s.op("matmul", {a, b},
                    {{"precision", std::string(precision)},
                     {"transpose_a", turn},
                     {"transpose_b", turn}}));
      double want = gpu && std::string(precision) == "tf32" ? up : tie;
      for (const HostTensor &out : outputsOf(s))
        for (int64_t i = 0; i < out.elements(); ++i)
          ASSERT_EQ(std::fabs(out.flat(i)), want) << precision << " " << i;
    }
}

/// Each element of the result says where its operands came from, and nothing
/// rounds: a holds its row and its column in 11 bits, b selects one.
TEST(Tf32, EveryElementComesFromItsPlace) {
  for (int turn : {0, 1, 2, 3}) {
    bool ta = turn & 1, tb = turn & 2;
    const int64_t m = 150, n = 90, k = 74;
    Sketch s;
    auto fill = [](bool turn, std::function<double(int64_t, int64_t)> element) {
      return [=](DType dtype, Ints shape, uint64_t) {
        HostTensor tensor = HostTensor::dense(dtype, shape);
        for (int64_t i = 0; i < shape[0]; ++i)
          for (int64_t j = 0; j < shape[1]; ++j)
            tensor.setFlat(i * shape[1] + j,
                           turn ? element(j, i) : element(i, j));
        return tensor;
      };
    };
    auto place = [](int64_t i, int64_t l) {
      return static_cast<double>((i * 67 + l * 29) % 2047);
    };
    auto chosen = [](int64_t j) { return (j * 31 + 7) % 74; };
    ValueId a = s.input(DType::F32, turned(ta, Dim(m), Dim(k)),
                        fill(ta, place)),
            b = s.input(DType::F32, turned(tb, Dim(k), Dim(n)),
                        fill(tb, [&](int64_t l, int64_t j) {
                          return l == chosen(j) ? 1.0 : 0.0;
                        }));
    s.output(s.op("matmul", {a, b},
                  tf32({{"transpose_a", ta}, {"transpose_b", tb}})));
    for (const HostTensor &out : outputsOf(s))
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          ASSERT_EQ(out.at({i, j}), place(i, chosen(j)))
              << turn << ": " << i << ", " << j;
  }
}
