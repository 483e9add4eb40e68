//===- RandomGraphTest.cpp - the generator keeps its promises -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Check.h"
#include "ir/reference/Evaluate.h"
#include "tests/conformance/RandomTape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace azulejo::conformance {
namespace {

using namespace reference;

TEST(RandomGraph, IsAPureFunctionOfTheSeed) {
  for (uint64_t seed : {1, 2, 3, 99}) {
    auto a = makeRandomGraph(drawTape(seed)),
         b = makeRandomGraph(drawTape(seed));
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->graph.canonical(), b->graph.canonical());
    EXPECT_EQ(a->dims, b->dims);
    ASSERT_EQ(a->inputs.size(), b->inputs.size());
    for (size_t i = 0; i < a->inputs.size(); ++i)
      EXPECT_EQ(a->inputs[i].bytes, b->inputs[i].bytes);
  }
  EXPECT_NE(makeRandomGraph(drawTape(1))->graph.canonical(),
            makeRandomGraph(drawTape(2))->graph.canonical());
}

TEST(RandomGraph, CoversTheOpSetAndItsLimits) {
  std::set<std::string> kinds, layouts, alignments, roles;
  const int graphs = 400;
  int withAttention = 0, withZero = 0, reused = 0;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    auto made = makeRandomGraph(drawTape(seed));
    ASSERT_TRUE(made.ok()) << seed << ": " << made.error().str();
    EXPECT_GE(made->opCount(), kMinOps) << seed;
    EXPECT_GE(made->graph.outputs().size(), 2u) << seed;
    EXPECT_LE(made->flops, kMaxFlops) << seed;
    bool attention = false, zero = false;
    std::map<graph::ValueId, int> uses;
    for (const graph::Op &op : made->graph.ops()) {
      kinds.insert(op.kind);
      for (graph::ValueId id : op.operands)
        ++uses[id];
      if (op.kind != "attention")
        continue;
      attention = true;
      layouts.insert(std::get<std::string>(op.attrs.at("layout")));
      alignments.insert(std::get<std::string>(op.attrs.at("causal")));
      for (const std::string &role : opset::attentionRoles(op.attrs))
        roles.insert(role);
    }
    for (const graph::Value &value : made->graph.values()) {
      auto sizes = concreteShape(value.type.shape, made->dims, value.name);
      ASSERT_TRUE(sizes.ok());
      int64_t count = 1;
      for (int64_t size : *sizes)
        count *= size;
      zero |= count == 0;
      EXPECT_LE(count, kMaxElements) << seed;
    }
    withAttention += attention;
    withZero += zero;
    for (auto [id, times] : uses)
      reused += times > 1;
  }
  EXPECT_GE(withAttention, graphs * 3 / 10);
  EXPECT_GE(withZero, graphs / 100);
  EXPECT_GE(reused, graphs);
  EXPECT_EQ(layouts.size(), 2u);
  EXPECT_EQ(alignments.size(), 3u);
  EXPECT_EQ(roles.size(), 4u);
  // Truth-value algebra, iota and integers are left to directed tests.
  const std::set<std::string> left{"and", "or", "not", "iota"};
  for (const opset::OpSpec &spec : opset::allOps())
    EXPECT_EQ(kinds.count(spec.name), left.count(spec.name) ? 0u : 1u)
        << spec.name;
}

// Plain against itself must pass, with sane values everywhere. The oracle
// rounded to the output type is another right answer.
TEST(RandomGraph, IsTameEnoughToCheck) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    auto made = makeRandomGraph(drawTape(seed));
    ASSERT_TRUE(made.ok());
    auto oracle = evaluate(made->graph, made->dims, made->inputs, Mode::Oracle);
    auto plain = evaluate(made->graph, made->dims, made->inputs, Mode::Plain);
    ASSERT_TRUE(oracle.ok() && plain.ok()) << seed;
    for (size_t i = 0; i < oracle->size(); ++i) {
      const HostTensor &want = (*oracle)[i], &got = (*plain)[i];
      CheckOptions options;
      options.perRow = true;
      options.precision =
          narrowestFloat(made->graph, made->graph.outputs()[i].value);
      CheckReport report = check(got, want, got, options);
      EXPECT_TRUE(report.pass) << seed << " y" << i << ": " << report.str();
      HostTensor rounded = got;
      bool fresh = true; // no infinity but an LSE's
      for (int64_t j = 0; j < want.elements(); ++j) {
        double value = want.flat(j);
        rounded.setFlat(j, value);
        fresh &=
            std::isfinite(value) ? std::fabs(value) < 1000 : value == -INFINITY;
      }
      EXPECT_TRUE(fresh) << seed << " y" << i;
      report = check(rounded, want, got, options);
      EXPECT_TRUE(report.pass) << seed << " y" << i << ": " << report.str();
      EXPECT_LT(report.plainRelativeNorm, 0.1) << seed << " y" << i;
    }
  }
}

} // namespace
} // namespace azulejo::conformance
