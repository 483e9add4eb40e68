//===- LayoutTest.cpp - ops that move elements, and matmul ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "GraphCase.h"

#include <numeric>

namespace azulejo::reference {
namespace {

using Ints = std::vector<int64_t>;

Values counting(int64_t count, double first = 0) {
  Values list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), first);
  return list;
}

TEST(Layout, ConstantIsDataOfItsDtype) {
  GraphCase c;
  AttrMap attrs{
      {"value", 0.1}, {"dtype", DType::BF16}, {"shape", shapeOf({2})}};
  expectValues(c.values(c.op("constant", {}, attrs)),
               {0.10009765625, 0.10009765625});
  attrs["dtype"] = DType::I32;
  attrs["value"] = -3.7;
  expectValues(c.values(c.op("constant", {}, attrs)), {-3, -3});
}

TEST(Layout, IotaCountsAlongItsAxis) {
  GraphCase c;
  AttrMap attrs{{"shape", shapeOf({2, 3})}, {"axis", int64_t{1}}};
  expectValues(c.values(c.op("iota", {}, attrs)), {0, 1, 2, 0, 1, 2});
  attrs["axis"] = int64_t{0};
  attrs["dtype"] = DType::F32;
  expectValues(c.values(c.op("iota", {}, attrs)), {0, 0, 0, 1, 1, 1});
}

TEST(Layout, BroadcastReshapeTranspose) {
  GraphCase c;
  ValueId x = c.input(DType::I32, {2, 1}, {5, 7});
  ValueId wide = c.op("broadcast", {x}, {{"shape", shapeOf({2, 2, 3})}});
  expectValues(c.values(wide), {5, 5, 5, 7, 7, 7, 5, 5, 5, 7, 7, 7});
  ValueId y = c.input(DType::F16, {2, 3}, counting(6));
  ValueId back = c.op("reshape", {y}, {{"shape", shapeOf({3, 2})}});
  expectValues(c.values(back), counting(6));
  expectValues(c.values(c.op("transpose", {y}, {{"perm", Ints{1, 0}}})),
               {0, 3, 1, 4, 2, 5});
  ValueId z = c.input(DType::F32, {2, 3, 2}, counting(12));
  expectValues(c.values(c.op("transpose", {z}, {{"perm", Ints{1, 2, 0}}})),
               {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11});
}

TEST(Layout, SliceAndConcat) {
  GraphCase c;
  ValueId x = c.input(DType::F32, {3, 4}, counting(12));
  ValueId part = c.op("slice", {x},
                      {{"starts", Ints{1, 0}},
                       {"sizes", shapeOf({2, 2})},
                       {"steps", Ints{1, 3}}});
  expectValues(c.values(part), {4, 7, 8, 11});
  ValueId y = c.input(DType::F32, {2, 1}, {-1, -2});
  expectValues(
      c.values(c.op("concat", {part, y, part}, {{"axis", int64_t{1}}})),
      {4, 7, -1, 4, 7, 8, 11, -2, 8, 11});
}

TEST(Layout, GatherReadsZeroOutsideTheTable) {
  GraphCase c;
  ValueId table = c.input(DType::F32, {3, 2}, {1, 2, 3, 4, 5, 6});
  ValueId ids = c.input(DType::I64, {2, 2}, {2, -1, 3, 0});
  expectValues(c.values(c.op("gather", {table, ids})),
               {5, 6, 0, 0, 0, 0, 1, 2});
  ValueId pick = c.input(DType::I32, {1}, {1});
  expectValues(c.values(c.op("gather", {table, pick}, {{"axis", int64_t{1}}})),
               {2, 4, 6});
}

TEST(Layout, CacheUpdateDropsRowsOutside) {
  for (auto [position, want] :
       std::vector<std::pair<double, Values>>{{1, {0, 8, 9, 0}},
                                              {3, {0, 0, 0, 8}},
                                              {-1, {9, 0, 0, 0}},
                                              {4, {0, 0, 0, 0}},
                                              {-2, {0, 0, 0, 0}}}) {
    GraphCase c;
    ValueId cache = c.input(DType::F32, {4}, {0, 0, 0, 0});
    ValueId rows = c.input(DType::F32, {2}, {8, 9});
    ValueId at = c.input(DType::I32, {}, {position});
    expectValues(c.values(c.op("cache_update", {cache, rows, at},
                               {{"axis", int64_t{0}}})),
                 want);
  }
}

TEST(Layout, CacheUpdatePerBatchAndExtremePositions) {
  GraphCase c;
  ValueId cache = c.input(DType::F16, {4, 2, 2, 1}, repeated(16, 0));
  ValueId rows = c.input(DType::F16, {4, 2, 1, 1}, counting(8, 1));
  HostTensor at = HostTensor::dense(DType::I64, {4});
  at.setFlatInt(0, 1);
  at.setFlatInt(1, 0);
  at.setFlatInt(2, std::numeric_limits<int64_t>::max());
  at.setFlatInt(3, std::numeric_limits<int64_t>::min());
  ValueId position = c.input(at);
  expectValues(c.values(c.op("cache_update", {cache, rows, position},
                             {{"axis", int64_t{2}}})),
               {0, 1, 0, 2, 3, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(Matmul, TransposesAndBatches) {
  // [[0,1,2],[3,4,5]] times [[1,0],[0,1],[1,1]] = [[2,3],[8,9]]
  const Values a{0, 1, 2, 3, 4, 5}, at{0, 3, 1, 4, 2, 5};
  const Values b{1, 0, 0, 1, 1, 1}, bt{1, 0, 1, 0, 1, 1};
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      GraphCase c;
      ValueId x =
          ta ? c.input(DType::F32, {3, 2}, at) : c.input(DType::F32, {2, 3}, a);
      ValueId y =
          tb ? c.input(DType::F32, {2, 3}, bt) : c.input(DType::F32, {3, 2}, b);
      expectValues(c.values(c.op("matmul", {x, y},
                                 {{"transpose_a", ta}, {"transpose_b", tb}})),
                   {2, 3, 8, 9});
    }
  GraphCase c; // [2, 1] batches with [3] batches
  ValueId x = c.input(DType::F32, {2, 1, 1, 1}, {1, 10});
  ValueId y = c.input(DType::BF16, {3, 1, 1}, {1, 2, 3});
  ValueId product = c.op("matmul", {x, y});
  EXPECT_EQ(c.run(product).shape, (Ints{2, 3, 1, 1}));
  expectValues(c.values(product), {1, 2, 3, 10, 20, 30});
}

TEST(Matmul, EmptyContractionGivesZero) {
  GraphCase c;
  ValueId x = c.input(DType::F32, {2, 0}, {});
  ValueId y = c.input(DType::F32, {0, 3}, {});
  expectValues(c.values(c.op("matmul", {x, y})), repeated(6, 0));
}

/// 1 + 2^-11 is a tie of tf32, which goes away from zero, and the next larger
/// f32 is above it. Only the plain run, which says what a kernel may lose,
/// rounds; and only where the graph lets it.
TEST(Matmul, Tf32RoundsThePlainRunOnly) {
  double tie = 1 + std::ldexp(1, -11), up = 1 + std::ldexp(1, -10);
  for (const char *precision : {"ieee", "tf32"}) {
    GraphCase c;
    ValueId x = c.input(DType::F32, {2, 1}, {tie, -tie});
    ValueId y = c.input(DType::F32, {1, 2}, {1, tie});
    ValueId product = c.op("matmul", {x, y}, {{"precision", precision}});
    expectValues(c.values(product), {tie, tie * tie, -tie, -tie * tie});
    bool rounds = std::string(precision) == "tf32";
    double once = rounds ? up : tie,
           twice = static_cast<double>(static_cast<float>(once * once));
    expectValues(c.values(product, Mode::Plain), {once, twice, -once, -twice});
  }
}

TEST(Matmul, NanAndInfinityPropagate) {
  GraphCase c;
  ValueId x = c.input(DType::F32, {2, 2}, {kInf, 1, 0, kNan});
  ValueId y = c.input(DType::F32, {2, 1}, {1, 2});
  expectValues(c.values(c.op("matmul", {x, y})), {kInf, kNan});
}

} // namespace
} // namespace azulejo::reference
