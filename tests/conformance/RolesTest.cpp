//===- RolesTest.cpp - products by warps with roles -----------------------===//
//
// Products under every kind of schedule that has the knob `consumers`, in sizes
// that fill no tile. Rows are padded to multiples of 16 bytes with elements
// that read as NaN, so bulk copies can fetch them, and what lies beyond a
// tensor's edge must not reach a sum. A device without the schedules runs the
// same products by its own.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Neighbour.h"

#include "tests/conformance/RoleCheck.h"
#include "tests/conformance/Skips.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

/// Elements of 16 bytes.
constexpr int64_t kChunk = 8;

int64_t padded(int64_t size) { return (size + kChunk - 1) / kChunk * kChunk; }

struct Roles {
  int64_t consumers = 2, tileM = 128, tileN = 128, tileK = 64, stages = 3;
  bool inTurns = false, lhsRegisters = false;
  int64_t cluster = 1;
  bool dynamic = false;

  friend void PrintTo(const Roles &roles, std::ostream *out) {
    *out << (roles.inTurns ? "InTurns" : "Shared") << roles.consumers << "x"
         << roles.tileM << "x" << roles.tileN << "x" << roles.tileK;
  }

  std::string text() const {
    auto knob = [](const char *name, int64_t value) {
      return std::string(name) + "=" + std::to_string(value);
    };
    return "Matmul{" + knob("tileM", tileM) + "," + knob("tileN", tileN) + "," +
           knob("tileK", tileK) + ",warpsM=1,warpsN=1," +
           knob("consumers", consumers) + "," + knob("pingpong", inTurns) +
           "," + knob("lhsRegisters", lhsRegisters) + "," +
           knob("cluster", cluster) + "," + knob("dynamic", dynamic) + "," +
           knob("stages", stages) + ",rasterGroup=8,minBlocks=1}";
  }
};

/// A product of [batch x] M x K and [batch x] K x N.
struct Product {
  DType dtype = DType::BF16;
  int64_t m = 200, n = 264, k = 200;
  int64_t lhsBatch = 0, rhsBatch = 0; ///< 0: no such axis
  bool transposeA = false, transposeB = false;

  static Shape matrix(int64_t batch, int64_t rows, int64_t columns, bool turn) {
    Shape shape =
        turn ? Shape{Dim(columns), Dim(rows)} : Shape{Dim(rows), Dim(columns)};
    if (batch)
      shape.insert(shape.begin(), Dim(batch));
    return shape;
  }

  ValueId emit(Sketch &s) const {
    ValueId a = s.input(dtype, matrix(lhsBatch, m, k, transposeA));
    ValueId b = s.input(dtype, matrix(rhsBatch, k, n, transposeB));
    return s.op("matmul", {a, b},
                {{"transpose_a", transposeA}, {"transpose_b", transposeB}});
  }

  /// Strides of a tensor whose rows are padded.
  static std::vector<int64_t> strides(int64_t batch, int64_t rows,
                                      int64_t columns, bool turn) {
    if (turn)
      std::swap(rows, columns);
    std::vector<int64_t> result{padded(columns), 1};
    if (batch)
      result.insert(result.begin(), rows * padded(columns));
    return result;
  }
  std::vector<std::vector<int64_t>> inputStrides() const {
    return {strides(lhsBatch, m, k, transposeA),
            strides(rhsBatch, k, n, transposeB)};
  }

  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " +
           std::to_string(k) + (transposeA ? ", a transposed" : "") +
           (transposeB ? ", b transposed" : "");
  }
};

/// Options that pin the schedule where the device has it.
Options pinned(const Roles &roles) {
  Options options;
  if (hasRoles())
    options.pin = roles.text();
  return options;
}

/// Runs the sketch on padded rows, its kernels compiled for debugging or not.
void check(const Sketch &s, const Product &product, const Roles &roles,
           const std::string &debugKernels = {}) {
  SCOPED_TRACE(product.text() + ", " + roles.text() + " " + debugKernels);
  Options options;
  options.debugKernels = debugKernels;
  options.inputStrides = product.inputStrides();
  checkWithRoles(s, options, roles.text(), roles.consumers);
}

void check(const Product &product, const Roles &roles,
           const std::string &debugKernels = {}) {
  Sketch s;
  s.output(product.emit(s));
  check(s, product, roles, debugKernels);
}

} // namespace

TEST(Roles, EveryTile) {
  int turn = 0;
  for (int64_t consumers : {1, 2, 3})
    for (int64_t rows : {64, 128})
      for (int64_t tileN : {64, 96, 128, 256})
        for (int64_t tileK : {64, 128}) {
          Roles roles{consumers, rows * consumers, tileN, tileK,
                      /*stages=*/2 + turn % 3};
          int64_t sums = rows * tileN / 128;
          // What a thread's registers and a block's shared memory hold.
          if (roles.tileM > 256 || sums > (consumers == 3 ? 96 : 128) ||
              roles.stages * (roles.tileM + tileN) * tileK * 2 > 180000)
            continue;
          Product product;
          product.dtype = turn++ % 2 ? DType::F16 : DType::BF16;
          product.m = 385;
          check(product, roles);
        }
  EXPECT_GT(turn, 20);
}

TEST(Roles, RaggedSizes) {
  for (int64_t size : {1, 7, 8, 63, 64, 65, 127, 128, 129, 255, 256, 257}) {
    // A tile of more than twice the columns is not in the space.
    Roles roles{2, 128, size > 64 ? 128 : 64, 64, 4};
    Product rows, columns, depth;
    rows.m = columns.n = depth.k = size;
    // Fewer rows than 65 are another family's.
    rows.m += 65;
    for (const Product &product : {rows, columns, depth})
      check(product, roles);
  }
}

TEST(Roles, OperandsEitherWay) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (DType dtype : {DType::BF16, DType::F16})
        for (int64_t tileM : {128, 256}) {
          Product product;
          product.dtype = dtype;
          product.transposeA = a;
          product.transposeB = b;
          product.k = 71;
          product.m = 193;
          product.n = 135;
          check(product, Roles{2, tileM, 128, 64, 3});
        }
}

TEST(Roles, LeftOperandByRegisters) {
  for (const Roles &roles : {Roles{1, 64, 128, 64, 2, false, true},
                             Roles{2, 128, 128, 64, 3, false, true},
                             Roles{2, 256, 64, 128, 2, false, true},
                             Roles{3, 192, 64, 64, 4, false, true},
                             Roles{2, 64, 128, 64, 3, true, true}})
    for (bool a : {false, true}) {
      Product product{.m = 385, .n = 264, .k = 200, .transposeA = a};
      product.dtype = a ? DType::F16 : DType::BF16;
      check(product, roles);
      check(Product{.m = 300,
                    .n = 264,
                    .k = 456,
                    .lhsBatch = 5,
                    .rhsBatch = 5,
                    .transposeA = a,
                    .transposeB = true},
            roles);
    }
}

TEST(Roles, Batches) {
  for (auto [lhs, rhs] : {std::pair<int64_t, int64_t>{5, 5},
                          {5, 0}, // its rows are walked as one
                          {1, 3},
                          {4, 1}}) {
    Product product;
    product.lhsBatch = lhs;
    product.rhsBatch = rhs;
    product.m = 77;
    product.k = 129;
    check(product, Roles{2, 128, 64, 64, 3});
    check(product, Roles{1, 64, 256, 64, 2});
  }
}

// Axes of one element among the rows join the others.
TEST(Roles, SingleAxes) {
  for (Shape shape : {Shape{Dim(1), Dim(1), Dim(90), Dim(64)},
                      Shape{Dim(90), Dim(1), Dim(64)},
                      Shape{Dim(3), Dim(1), Dim(30), Dim(64)},
                      Shape{Dim(1), Dim(1), Dim(1), Dim(64)}}) {
    Sketch s;
    ValueId a = s.input(DType::BF16, shape);
    s.output(s.op("matmul", {a, s.input(DType::BF16, {Dim(64), Dim(72)})}));
    checkFused(s, {{}});
  }
}

// Rows that a reshape joins or splits are copied as they lie, and so are the
// last two axes where it joins them.
TEST(Roles, ReshapedRows) {
  const Dim k(64), n(72);
  for (auto [from, to] : std::vector<std::pair<Shape, Shape>>{
           {{Dim(3), Dim(60), k}, {Dim(180), k}},
           {{Dim(1), Dim(180), k}, {Dim(180), k}},
           {{Dim(180), Dim(1), k}, {Dim(180), k}},
           {{Dim(3), Dim(1), Dim(60), k}, {Dim(180), k}},
           {{Dim(1), Dim(3), Dim(60), k}, {Dim(180), k}},
           {{Dim(180), k}, {Dim(3), Dim(60), k}},
           {{Dim(180), k}, {Dim(180), Dim(1), k}},
           {{Dim(180), k}, {Dim(1), Dim(180), k}},
           {{Dim(180), k}, {Dim(3), Dim(1), Dim(60), k}},
           // heads of attention, joined
           {{Dim(3), Dim(60), Dim(4), Dim(16)}, {Dim(180), k}},
           {{Dim(180), Dim(2), Dim(32)}, {Dim(180), k}},
           {{Dim(1), Dim(180), Dim(4), Dim(16)}, {Dim(180), k}}}) {
    SCOPED_TRACE(opset::shapeStr(from) + " to " + opset::shapeStr(to));
    Sketch s;
    ValueId a = s.input(DType::BF16, from);
    a = s.op("reshape", {a}, {{"shape", to}});
    s.output(s.op("matmul", {a, s.input(DType::BF16, {k, n})}));
    Result<std::unique_ptr<Subject>> subject = Subject::compile(s.graph());
    ASSERT_TRUE(subject) << subject.error().str();
    recordCompiled();
    std::string schedule = (*subject)->plan().launches.front().schedule;
    EXPECT_EQ(schedule.find("consumers=0") == std::string::npos &&
                  schedule.find("consumers=") != std::string::npos,
              hasRoles())
        << schedule;
    if (TestDevice::current().canRun()) {
      EXPECT_EQ((*subject)->check({}, s.data({})), "");
    }
  }
  Sketch s;
  Dim B = s.dim("B", 1, 8), S = s.dim("S", 1, 600);
  ValueId a = s.input(DType::BF16, {B, S, k});
  a = s.op("reshape", {a}, {{"shape", Shape{B * S, k}}});
  s.output(s.op("matmul", {a, s.input(DType::BF16, {k, n})}));
  checkFused(
      s,
      {{{"B", 1}, {"S", 1}}, {{"B", 3}, {"S", 100}}, {{"B", 8}, {"S", 600}}});
}

TEST(Roles, ManyItemsPerBlock) {
  Product product;
  product.m = 2500;
  product.n = 2000;
  product.k = 64;
  check(product, Roles{1, 64, 64, 64, 4});
  check(product, Roles{2, 128, 64, 64, 2});
  product.k = 512;
  check(product, Roles{2, 128, 64, 64, 5});
  check(product, Roles{3, 192, 64, 64, 5});
}

TEST(Roles, NothingToSum) {
  Product product;
  product.k = 0;
  check(product, Roles());
  check(product, Roles{2, 64, 64, 64, 3, true});
}

/// Groups with items of their own: none, one or many for each, of more or fewer
/// steps than the ring has stages.
TEST(Roles, InTurns) {
  for (const Roles &roles :
       {Roles{2, 128, 128, 64, 5, true}, Roles{2, 128, 192, 64, 4, true},
        Roles{2, 64, 256, 64, 3, true}, Roles{2, 64, 96, 128, 2, true},
        Roles{3, 64, 128, 64, 4, true}}) {
    for (int64_t k : {72, 200, 1000})
      check(Product{.m = 385, .n = 504, .k = k}, roles);
    check(Product{.m = 130, .n = 200, .k = 300}, roles);
  }
  // Five items for a block and more; batches; either operand form.
  for (const Roles &roles :
       {Roles{2, 64, 64, 64, 2, true}, Roles{2, 64, 64, 64, 5, true},
        Roles{3, 64, 64, 64, 4, true}}) {
    check(Product{.m = 1700, .n = 1600, .k = 64}, roles);
    check(Product{.m = 1700, .n = 1600, .k = 200, .transposeB = true}, roles);
    check(Product{.m = 300, .n = 264, .k = 456, .lhsBatch = 9, .rhsBatch = 9},
          roles);
  }
}

/// Blocks that copy the right operand together: for an even or an odd number
/// of tiles of rows, in every form of the operands, beside batches, of one or
/// many items for each block, without a step.
class RoleClusters : public testing::TestWithParam<Roles> {};

TEST_P(RoleClusters, ShareAnOperand) {
  for (int64_t m : {200, 257, 1000})
    check(Product{.m = m, .n = 264, .k = 200}, GetParam());
  for (bool a : {false, true})
    check(Product{.dtype = DType::F16,
                  .m = 385,
                  .n = 135,
                  .k = 71,
                  .transposeA = a,
                  .transposeB = true},
          GetParam());
  check(Product{.m = 193, .n = 200, .k = 456, .lhsBatch = 5, .rhsBatch = 5},
        GetParam());
  check(Product{.m = 193, .n = 200, .k = 456, .lhsBatch = 5}, GetParam());
  check(Product{.m = 2500, .n = 2000, .k = 72, .transposeB = true}, GetParam());
  check(Product{.m = 2500, .n = 2000, .k = 520}, GetParam());
  if (GetParam().tileK == 64)
    check(Product{.k = 0}, GetParam());
}

/// The item that fills an odd number of tiles up writes nothing, in the next
/// batch neither, by whichever epilogue; nor does it read what rows have.
TEST_P(RoleClusters, WriteNothingBehindTheEnd) {
  for (int64_t batch : {0, 3})
    for (bool both : {false, true}) {
      Product product{.m = 2 * GetParam().tileM + 1,
                      .n = 136,
                      .k = 136,
                      .lhsBatch = batch,
                      .rhsBatch = batch};
      Sketch s;
      ValueId y = product.emit(s);
      s.output(
          s.op("mul", {y, s.input(DType::BF16, {Dim(product.m), Dim(1)})}));
      if (both)
        s.output(s.op("abs", {y}));
      check(s, product, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(
    Tiles, RoleClusters,
    testing::Values(Roles{2, 128, 128, 64, 3, false, false, 2},
                    Roles{1, 64, 256, 64, 2, false, false, 2},
                    Roles{2, 128, 96, 128, 2, false, true, 2},
                    Roles{3, 192, 64, 64, 4, false, false, 2},
                    Roles{2, 64, 192, 64, 5, true, false, 2}),
    testing::PrintToStringParamName());

/// A counter deals items out: fewer than blocks, some for each, one more than
/// all have; to groups that share them and to groups in turns, which may be
/// left without any; with storing threads and without.
class RoleCounters : public testing::TestWithParam<Roles> {};

TEST_P(RoleCounters, DealItemsOut) {
  Roles roles = GetParam();
  roles.dynamic = true;
  check(Product{.m = 130, .n = 200, .k = 300}, roles);
  check(Product{.m = 2500, .n = 1600, .k = 72, .transposeB = true}, roles);
  check(Product{.m = 300, .n = 264, .k = 456, .lhsBatch = 9, .rhsBatch = 9},
        roles);
  check(Product{.m = 300, .n = 264, .k = 0}, roles);
  // Two results, which warps write and no storing thread.
  Product product{.m = 1000, .n = 1504, .k = 72};
  Sketch both;
  ValueId y = both.op("cast", {product.emit(both)}, {{"dtype", DType::F32}});
  both.output(y);
  both.output(both.op("cast", {both.op("abs", {y})}, {{"dtype", DType::F16}}));
  check(both, product, roles);
}

INSTANTIATE_TEST_SUITE_P(Tiles, RoleCounters,
                         testing::Values(Roles{1, 64, 64, 64, 4},
                                         Roles{2, 128, 128, 64, 3},
                                         Roles{3, 192, 64, 64, 2},
                                         Roles{2, 64, 64, 64, 3, true},
                                         Roles{2, 128, 128, 64, 4, true},
                                         Roles{3, 64, 64, 64, 4, true, true}),
                         testing::PrintToStringParamName());

/// 133 items for 132 units, and 132.
TEST(Roles, CountedItemsBesideOneForEach) {
  Roles roles{2, 128, 64, 64, 4};
  roles.dynamic = true;
  for (int64_t columns : {133, 132})
    check(Product{.m = 100, .n = columns * 64, .k = 128}, roles);
}

/// The last item is taken while others are written; whoever is late, the
/// entries of the ring hold what everyone still has to read.
TEST(Roles, CountedAndLate) {
  int seed = 200;
  for (Roles roles : {Roles{1, 64, 64, 64, 2}, Roles{2, 128, 64, 64, 3},
                      Roles{3, 192, 64, 64, 4}, Roles{2, 64, 64, 64, 3, true},
                      Roles{3, 64, 64, 64, 2, true}}) {
    roles.dynamic = true;
    check(Product{.m = 2500, .n = 1000, .k = 128}, roles,
          (seed % 2 ? "delays=" : "waits,delays=") + std::to_string(seed));
    Product product{.m = 2500, .n = 1000, .k = 64};
    Sketch residual;
    ValueId y = product.emit(residual);
    residual.output(residual.op(
        "add",
        {y, residual.input(DType::BF16, {Dim(product.m), Dim(product.n)})}));
    check(residual, product, roles, "delays=" + std::to_string(++seed));
  }
}

TEST(Roles, Epilogues) {
  Product product;
  product.n = 150;
  for (const Roles &roles :
       {Roles{2, 128, 128, 64, 3, false, false, 2},
        Roles{2, 128, 128, 64, 3, true, false, 2}, Roles{2, 128, 256, 64, 3},
        Roles{3, 192, 64, 64, 4}, Roles{2, 256, 96, 64, 3},
        Roles{2, 128, 128, 64, 3, true}, Roles{2, 64, 256, 64, 3, true},
        Roles{3, 64, 64, 64, 4, true}}) {
    Sketch biased;
    ValueId y = product.emit(biased);
    y = biased.op("add", {y, biased.input(DType::BF16, {Dim(product.n)})});
    biased.output(biased.op("gelu_erf", {y}));
    check(biased, product, roles);

    Sketch residual;
    y = product.emit(residual);
    y = residual.op("add", {y, residual.input(DType::BF16, {Dim(product.m),
                                                            Dim(product.n)})});
    residual.output(y);
    check(residual, product, roles);

    Sketch scaled; // by row and by column, rounded to another type
    y = product.emit(scaled);
    y = scaled.op("cast", {y}, {{"dtype", DType::F32}});
    y = scaled.op("mul",
                  {y, scaled.input(DType::F32, {Dim(product.m), Dim(1)})});
    y = scaled.op("mul", {y, scaled.input(DType::F32, {Dim(product.n)})});
    scaled.output(y);
    scaled.output(scaled.op("cast", {y}, {{"dtype", DType::F16}}));
    check(scaled, product, roles);
  }
}

/// What is added begins again in every sequence, or is of another type.
TEST(Roles, ResidualsThatAreNoTileOfTheResult) {
  Product product{.m = 100, .n = 136, .k = 72, .lhsBatch = 3};
  for (Shape shape :
       {Shape{Dim(100), Dim(136)}, Shape{Dim(1), Dim(100), Dim(136)},
        Shape{Dim(3), Dim(1), Dim(136)}}) {
    Sketch s;
    ValueId y = product.emit(s);
    s.output(s.op("add", {y, s.input(DType::BF16, shape)}));
    check(s, product, Roles{2, 128, 64, 64, 3});
  }
  product = {.n = 136};
  Sketch s;
  ValueId y = product.emit(s);
  ValueId sum =
      s.op("add", {y, s.input(DType::F16, {Dim(product.m), Dim(product.n)})});
  s.output(s.op("cast", {sum}, {{"dtype", DType::BF16}}));
  check(s, product, Roles{1, 64, 128, 64, 3});
}

TEST(Roles, SizesKnownAtRunTime) {
  Sketch s;
  Dim B = s.dim("B", 1, 8), S = s.dim("S", 1, 600), K = s.dim("K", 0, 600);
  ValueId a = s.input(DType::BF16, {B, S, K});
  ValueId b = s.input(DType::BF16, {K, Dim(136)});
  s.output(s.op("matmul", {a, b}));
  Roles roles{2, 128, 128, 64, 4};
  // K that is no multiple of 8 and rows that do not merge take the other form.
  checkFused(s,
             {{{"B", 1}, {"S", 1}, {"K", 8}},
              {{"B", 3}, {"S", 100}, {"K", 200}},
              {{"B", 2}, {"S", 129}, {"K", 7}},
              {{"B", 8}, {"S", 600}, {"K", 64}},
              {{"B", 2}, {"S", 70}, {"K", 0}}},
             pinned(roles));
}

/// Any warp may be late wherever it meets others: the result is the same, and
/// no wait takes seconds.
TEST(Roles, AnyoneMayBeLate) {
  int variants = 0;
  auto late = [&](const Product &product, const Roles &roles) {
    std::string seed = std::to_string(++variants);
    check(product, roles, (variants % 2 ? "delays=" : "waits,delays=") + seed);
  };
  Product product;
  for (int64_t consumers : {1, 2, 3})
    for (int64_t tileN : {64, 128})
      for (int64_t stages : {2, 3, 4}) {
        product.transposeA = stages == 3;
        product.transposeB = consumers == 2;
        late(product, Roles{consumers, 64 * consumers, tileN, 64, stages});
      }
  product = {.m = 385, .k = 1000};
  late(product, Roles{2, 256, 128, 64, 3});
  late(product, Roles{2, 256, 96, 128, 2});
  late(product, Roles{1, 64, 256, 64, 2});
  // Several items for a block, so that roles go from one to the next.
  product = {.m = 2500, .n = 1000, .k = 128};
  late(product, Roles{1, 64, 64, 64, 2});
  late(product, Roles{2, 128, 64, 64, 4});
  late(product, Roles{3, 192, 64, 64, 5});
  for (int64_t consumers : {2, 3})
    for (int64_t stages : {2, 3, 4})
      late(product, Roles{consumers, 64, 64, 64, stages, true, stages == 3});
  // Who waits for a neighbour, or is waited for after its last item.
  for (int64_t consumers : {1, 2, 3})
    for (int64_t stages : {2, 4})
      for (bool inTurns : {false, true})
        if (consumers > 1 || !inTurns)
          late(product, Roles{consumers, inTurns ? 64 : 64 * consumers, 64, 64,
                              stages, inTurns, false, 2});
  EXPECT_GE(variants, 40);

  product = {.n = 150};
  Sketch residual; // the copies are under way while sums are written
  ValueId y = product.emit(residual);
  residual.output(residual.op(
      "add",
      {y, residual.input(DType::BF16, {Dim(product.m), Dim(product.n)})}));
  for (const char *debugKernels : {"delays=101", "delays=102", "waits"})
    for (bool inTurns : {false, true})
      check(residual, product, Roles{2, 128, 128, 64, 3, inTurns},
            debugKernels);
}

/// Which blocks run when, and on what units, depends on what else is there.
TEST(Roles, RepeatsBesideANeighbourGiveTheSameBits) {
  if (!hasRoles() || !TestDevice::current().canRun())
    GTEST_SKIP() << "roles need a device of capability 9.0 that is here; the "
                    "bits of other products are DeterminismTest's";
  Product product{.m = 1500, .n = 1000, .k = 264};
  Sketch s;
  ValueId y = product.emit(s);
  s.output(s.op("gelu_erf",
                {s.op("add", {y, s.input(DType::BF16, {Dim(product.n)})})}));
  std::vector<HostTensor> inputs = s.data({});
  // Blocks that take whole units, and blocks that fit beside others.
  Neighbour neighbour;
  Sketch taking, fitting;
  taking.output(Product{.m = 1024, .n = 1024, .k = 512}.emit(taking));
  fitting.output(fitting.op(
      "softmax", {fitting.input(DType::F32, {Dim(4096), Dim(2048)})}));
  ASSERT_TRUE(neighbour.add(taking, pinned(Roles())).ok());
  ASSERT_TRUE(neighbour.add(fitting, {}).ok());
  for (const Roles &roles :
       {Roles{1, 64, 64, 64, 3}, Roles{2, 128, 128, 64, 4},
        Roles{3, 192, 64, 64, 2}, Roles{2, 64, 128, 64, 4, true},
        Roles{2, 128, 128, 64, 4, false, false, 1, true},
        Roles{2, 64, 128, 64, 4, true, false, 1, true}}) {
    SCOPED_TRACE(roles.text());
    Options options = pinned(roles);
    options.inputStrides = product.inputStrides();
    Result<std::unique_ptr<Subject>> subject = s.compile(options);
    ASSERT_TRUE(subject) << subject.error().str();
    Result<std::vector<HostTensor>> alone =
        (*subject)->run({}, inputs, options);
    ASSERT_TRUE(alone) << alone.error().str();
    if (roles.dynamic) {
      // Who computes an item does not matter to its bits.
      Roles fixed = roles;
      fixed.dynamic = false;
      options.pin = fixed.text();
      Result<std::unique_ptr<Subject>> other = s.compile(options);
      ASSERT_TRUE(other) << other.error().str();
      Result<std::vector<HostTensor>> same = (*other)->run({}, inputs, options);
      ASSERT_TRUE(same) << same.error().str();
      EXPECT_EQ((*same)[0].bytes, (*alone)[0].bytes);
    }
    options.beside = [&] { return neighbour.start(); };
    for (int repeat = 0; repeat < 100; ++repeat) {
      Result<std::vector<HostTensor>> again =
          (*subject)->run({}, inputs, options);
      ASSERT_TRUE(again) << again.error().str();
      ASSERT_EQ((*again)[0].bytes, (*alone)[0].bytes) << "repeat " << repeat;
    }
  }
}
