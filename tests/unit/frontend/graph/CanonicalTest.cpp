//===- CanonicalTest.cpp - the text that keys the cache -------------------===//
//
// The text must change with everything that can change code, and with nothing
// else. A missed field would hand one user another user's kernel.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/graph/Graph.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>

using namespace azulejo;
using namespace azulejo::graph;

namespace {

/// Everything about the base graph that a variant may change.
struct Recipe {
  std::string symbol = "S", input = "x", output = "y", kind = "softmax";
  int64_t min = 1, max = 64, columns = 8;
  DType dtype = DType::F32;
  double low = 0.0;
  std::string opName, secondName;
  bool twoInputs = false, swapped = false, twoOutputs = false;
};

std::string textOf(const Recipe &r) {
  Graph g;
  Dim s = *g.dim(r.symbol, r.min, r.max);
  ValueId x = *g.input(r.input, {r.dtype, {s, r.columns}});
  ValueId other = x;
  if (r.twoInputs)
    other = *g.input("other", {r.dtype, {s, r.columns}});
  ValueId a = r.swapped ? other : x, b = r.swapped ? x : other;
  ValueId d = (*g.append("sub", {a, b}, {}, r.opName))[0];
  AttrMap attrs;
  if (r.kind == "clamp")
    attrs = {{"low", r.low}, {"high", 6.0}};
  ValueId e = (*g.append(r.kind, {d}, attrs, r.secondName))[0];
  EXPECT_TRUE(g.output(r.output, e));
  if (r.twoOutputs) {
    EXPECT_TRUE(g.output("y2", d));
  }
  return g.canonical();
}

std::vector<std::function<void(Recipe &)>> changes() {
  return {
      [](Recipe &r) {},
      [](Recipe &r) { r.symbol = "T"; },
      [](Recipe &r) { r.input = "xx"; },
      [](Recipe &r) { r.output = "yy"; },
      [](Recipe &r) { r.kind = "exp"; },
      [](Recipe &r) { r.kind = "exp2"; },
      [](Recipe &r) { r.min = 2; },
      [](Recipe &r) { r.max = 65; },
      [](Recipe &r) { r.columns = 9; },
      [](Recipe &r) { r.dtype = DType::BF16; },
      [](Recipe &r) { r.twoInputs = true; },
      [](Recipe &r) { r.twoInputs = r.swapped = true; },
      [](Recipe &r) { r.twoOutputs = true; },
      [](Recipe &r) { r.kind = "clamp"; },
      // -0.0 == 0.0, and these two differ in the last bit only.
      [](Recipe &r) { r.kind = "clamp", r.low = -0.0; },
      [](Recipe &r) { r.kind = "clamp", r.low = 0.1; },
      [](Recipe &r) { r.kind = "clamp", r.low = std::nextafter(0.1, 1); },
  };
}

TEST(Canonical, EveryMeaningfulChangeShows) {
  std::map<std::string, size_t> seen;
  std::vector<std::function<void(Recipe &)>> all = changes();
  for (size_t i = 0; i < all.size(); ++i) {
    Recipe recipe;
    all[i](recipe);
    auto [it, fresh] = seen.emplace(textOf(recipe), i);
    EXPECT_TRUE(fresh) << "changes " << it->second << " and " << i;
  }
}

TEST(Canonical, LabelsOfInnerOpsDoNotShow) {
  Recipe plain, named;
  named.opName = "difference";
  named.secondName = "weights";
  EXPECT_EQ(textOf(plain), textOf(named));
}

TEST(Canonical, SpellingOutADefaultDoesNotShow) {
  auto text = [](AttrMap attrs) {
    Graph g;
    ValueId x = *g.input("x", {DType::F32, {2, 8}});
    EXPECT_TRUE(g.output("y", (*g.append("softmax", {x}, attrs))[0]));
    return g.canonical();
  };
  EXPECT_EQ(text({}), text({{"axis", int64_t{-1}}}));
  EXPECT_NE(text({}), text({{"axis", int64_t{0}}}));
}

TEST(Canonical, IntegersOfDifferentLengthDoNotRunTogether) {
  auto text = [](std::vector<int64_t> axes) {
    Graph g;
    ValueId x = *g.input("x", {DType::F32, {2, 3, 4}});
    auto y = g.append("reduce_sum", {x}, {{"axes", axes}});
    EXPECT_TRUE(g.output("y", (*y)[0]));
    return g.canonical();
  };
  EXPECT_NE(text({1, 2}), text({2, 1}));
  EXPECT_NE(text({1}), text({1, 2}));
}

TEST(Canonical, ProductsInAnyOrderAreOneDimension) {
  auto text = [](bool flip) {
    Graph g;
    Dim b = *g.dim("B", 1, 8), s = *g.dim("S", 1, 8);
    ValueId x = *g.input("x", {DType::F32, {b, s}});
    Shape flat{flip ? s * b : b * s};
    EXPECT_TRUE(
        g.output("y", (*g.append("reshape", {x}, {{"shape", flat}}))[0]));
    return g.canonical();
  };
  EXPECT_EQ(text(false), text(true));
}

} // namespace
