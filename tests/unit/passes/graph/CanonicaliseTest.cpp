//===- CanonicaliseTest.cpp - canonical forms mean the same, exactly ------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "PassCase.h"

using namespace azulejo;
using namespace azulejo::graphpasses;

static graph::Graph canonical(PassCase &c) {
  return c.rewritten([](mlir::OpPassManager &manager) {
    manager.addPass(createCanonicaliseGraphPass());
  });
}

/// Zeros of both signs, infinities, NaN, and a number that f16 cannot hold.
static std::function<double()> awkward() {
  return [n = 0]() mutable {
    const double values[] = {0.0, -0.0, kInf, -kInf, std::nan(""), 1.0 / 7};
    return values[n++ % 6];
  };
}

/// Bit for bit: the sign of zero counts.
static void expectSameBits(PassCase &c, const graph::Graph &after) {
  for (auto mode : {reference::Mode::Plain, reference::Mode::Oracle}) {
    auto want = evaluate(c.graph, c.dims, c.inputs, mode);
    auto got = evaluate(after, c.dims, c.inputs, mode);
    ASSERT_TRUE(want.ok() && got.ok());
    for (size_t i = 0; i < want->size(); ++i)
      for (int64_t j = 0; j < (*want)[i].elements(); ++j) {
        double a = (*got)[i].flat(j), b = (*want)[i].flat(j);
        EXPECT_TRUE(std::isnan(b)
                        ? std::isnan(a)
                        : a == b && std::signbit(a) == std::signbit(b))
            << "output " << i << ", element " << j << ": " << a << ", " << b;
      }
  }
}

TEST(CanonicaliseGraph, NeutralElementsKeepSignsAndNan) {
  PassCase c;
  ValueId x = c.input(DType::F32, {c.dim("N", 6)}, awkward());
  auto number = [&](double value) {
    return c.op("constant", {}, {{"value", value}, {"dtype", DType::F32}});
  };
  c.output(c.op("mul", {x, number(1)}));
  c.output(c.op("div", {x, number(1)}));
  c.output(c.op("add", {x, number(-0.0)}));
  c.output(c.op("sub", {x, number(0.0)}));
  graph::Graph after = canonical(c);
  EXPECT_TRUE(after.ops().empty());
  expectSameBits(c, after);
}

TEST(CanonicaliseGraph, ChangesOfTheSignOfZeroStay) {
  PassCase c;
  ValueId x = c.input(DType::F32, {c.dim("N", 6)}, awkward());
  auto number = [&](double value) {
    return c.op("constant", {}, {{"value", value}, {"dtype", DType::F32}});
  };
  c.output(c.op("add", {x, number(0.0)}));
  c.output(c.op("sub", {x, number(-0.0)}));
  c.output(c.op("mul", {x, number(0.0)}));
  graph::Graph after = canonical(c);
  EXPECT_EQ(kindsOf(after).count("add"), 1u);
  EXPECT_EQ(kindsOf(after).count("sub"), 1u);
  EXPECT_EQ(kindsOf(after).count("mul"), 1u);
  expectSameBits(c, after);
}

TEST(CanonicaliseGraph, RoundingCastsStay) {
  PassCase c;
  ValueId x = c.input(DType::F32, {Dim(6)}, awkward());
  ValueId half = c.op("cast", {x}, {{"dtype", DType::F16}});
  c.output(c.op("cast", {half}, {{"dtype", DType::F32}}));
  ValueId h = c.input(DType::F16, {Dim(6)}, awkward());
  ValueId wide = c.op("cast", {h}, {{"dtype", DType::F32}});
  c.output(c.op("cast", {wide}, {{"dtype", DType::F16}}));
  graph::Graph after = canonical(c);
  EXPECT_EQ(after.ops().size(), 2u); // the first pair
  expectSameBits(c, after);
}

TEST(CanonicaliseGraph, MovesMerge) {
  PassCase c;
  Dim n = c.dim("N", 3);
  ValueId x = c.input(DType::F32, {n, Dim(4), Dim(1), Dim(5)});
  ValueId t =
      c.op("transpose", {x}, {{"perm", std::vector<int64_t>{3, 0, 1, 2}}});
  t = c.op("transpose", {t}, {{"perm", std::vector<int64_t>{2, 1, 0, 3}}});
  c.output(t);
  ValueId r = c.op("reshape", {x}, {{"shape", Shape{n * Dim(20)}}});
  c.output(c.op("reshape", {r}, {{"shape", Shape{Dim(5), n, Dim(4)}}}));
  c.output(
      c.op("transpose", {x}, {{"perm", std::vector<int64_t>{2, 0, 1, 3}}}));
  graph::Graph after = canonical(c);
  EXPECT_EQ(after.ops().size(), 3u);
  expectSameBits(c, after);
}

TEST(CanonicaliseGraph, ConstantsFoldOnlyWithoutRounding) {
  PassCase c;
  auto number = [&](double value) {
    return c.op("constant", {}, {{"value", value}, {"dtype", DType::F32}});
  };
  c.output(c.op("div", {number(1), c.op("sqrt", {number(64)})}));
  c.output(c.op("div", {number(1), number(3)}));
  c.output(c.op("add", {number(1), number(1e-9)}));
  c.output(c.op("mul", {number(1e-30), number(1e-30)}));
  graph::Graph after = canonical(c);
  std::multiset<std::string> kinds;
  for (const graph::Op &op : after.ops())
    kinds.insert(op.kind);
  EXPECT_EQ(kinds.count("div"), 1u);
  EXPECT_EQ(kinds.count("sqrt"), 0u);
  EXPECT_EQ(kinds.count("add"), 1u);
  EXPECT_EQ(kinds.count("mul"), 1u);
  expectSameBits(c, after);
}

TEST(CanonicaliseGraph, AttentionReadsTransposedOperandsInPlace) {
  for (int64_t queries : {1, 5}) {
    PassCase c;
    Dim b = c.dim("B", 2), t = c.dim("T", 7);
    std::vector<int64_t> exchange{0, 2, 1, 3};
    auto moved = [&](ValueId x) {
      return c.op("transpose", {x}, {{"perm", exchange}});
    };
    ValueId q = c.input(DType::F32, {b, Dim(queries), Dim(4), Dim(8)});
    ValueId k = c.input(DType::F32, {b, t, Dim(2), Dim(8)});
    auto results = c.ops("attention", {moved(q), moved(k), moved(k)},
                         {{"scale", 0.25}, {"lse", true}});
    c.output(moved(results[0]));
    c.output(results[1]);
    graph::Graph after = canonical(c);
    EXPECT_EQ(kindsOf(after).count("transpose"), 0u);
    for (const graph::Op &op : after.ops())
      if (op.kind == "attention")
        EXPECT_EQ(std::get<std::string>(op.attrs.at("layout")), "bshd");
    c.expectSameMeaning(after, 0);
  }
}
