//===- RaiseTest.cpp - raised attention means the same --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "PassCase.h"

using namespace azulejo;
using namespace azulejo::graphpasses;

namespace {

struct RaiseCase : PassCase {
  int64_t heads = 4, headsKv = 2, queries = 5, keys = 7, size = 8;
  Dim b, s, t;
  ValueId q, k, v;

  void operands(DType dtype = DType::F32) {
    b = dim("B", 2), s = dim("S", queries), t = dim("T", keys);
    q = input(dtype, {b, Dim(heads), s, Dim(size)});
    k = input(dtype, {b, Dim(headsKv), t, Dim(size)});
    v = input(dtype, {b, Dim(headsKv), t, Dim(6)});
  }
  ValueId number(double value, DType dtype = DType::F32) {
    return op("constant", {}, {{"value", value}, {"dtype", dtype}});
  }
  ValueId reshape(ValueId x, Shape shape) {
    return op("reshape", {x}, {{"shape", shape}});
  }
  /// Each KV head repeated for its query heads.
  ValueId repeated(ValueId x) {
    Shape shape = graph.type(x).shape;
    Dim group(heads / headsKv);
    ValueId five = reshape(x, {shape[0], shape[1], Dim(1), shape[2], shape[3]});
    five =
        op("broadcast", {five},
           {{"shape", Shape{shape[0], shape[1], group, shape[2], shape[3]}}});
    return reshape(five, {shape[0], Dim(heads), shape[2], shape[3]});
  }
  ValueId scores(double scale = 0.25) {
    ValueId product = op("matmul", {q, repeated(k)}, {{"transpose_b", true}});
    return op("mul", {product, number(scale, graph.type(q).dtype)});
  }
  ValueId iota(Shape shape, int64_t axis) {
    return op("iota", {}, {{"shape", shape}, {"axis", axis}});
  }
  ValueId compare(const char *predicate, ValueId a, ValueId c) {
    return op("compare", {a, c}, {{"predicate", std::string(predicate)}});
  }
  /// T - S, as the difference of the largest coordinates.
  ValueId corner() {
    AttrMap all{{"axes", std::vector<int64_t>{0}}};
    ValueId last = op("reduce_max", {iota({t}, 0)}, all);
    return op("sub", {last, op("reduce_max", {iota({s}, 0)}, all)});
  }
  ValueId attend(ValueId masked) {
    return op("matmul", {op("softmax", {masked}), repeated(v)});
  }

  /// Raises and compares; the attributes of the attention op that came out.
  AttrMap expectRaised(double tolerance = 1e-12) {
    graph::Graph after = rewritten([](mlir::OpPassManager &manager) {
      manager.addPass(createCanonicaliseGraphPass());
      manager.addPass(createRaiseAttentionPass());
      manager.addPass(createCanonicaliseGraphPass());
    });
    expectSameMeaning(after, tolerance);
    for (const graph::Op &op : after.ops())
      if (op.kind == "attention")
        return op.attrs;
    ADD_FAILURE() << "no attention was raised";
    return {};
  }
};

std::string text(const AttrMap &attrs, const char *name) {
  auto found = attrs.find(name);
  return found == attrs.end() ? "?" : std::get<std::string>(found->second);
}

} // namespace

TEST(RaiseAttention, PlainAndGrouped) {
  RaiseCase c;
  c.operands();
  c.output(c.attend(c.scores()));
  AttrMap attrs = c.expectRaised();
  EXPECT_EQ(text(attrs, "causal"), "none");
  EXPECT_EQ(std::get<double>(attrs["scale"]), 0.25);
}

TEST(RaiseAttention, SoftcapFoldsFactorsInsideAndOutside) {
  RaiseCase c;
  c.operands();
  ValueId inner = c.op("mul", {c.scores(0.5), c.number(0.5)});
  c.output(c.attend(c.op("mul", {c.number(4), c.op("tanh", {inner})})));
  AttrMap attrs = c.expectRaised();
  EXPECT_EQ(std::get<double>(attrs["softcap"]), 4);
  EXPECT_EQ(std::get<double>(attrs["scale"]), 1);
}

// Visibility by position, at every relation of lengths. Rows without a key
// are left out: there the original gives NaN and attention 0.
TEST(RaiseAttention, AlignmentsAndWindows) {
  for (int64_t queries : {1, 5, 7})
    for (bool bottomRight : {false, true})
      for (int64_t window : {0, 1, 3}) {
        RaiseCase c;
        c.queries = queries;
        c.operands();
        ValueId own = c.iota({c.s, Dim(1)}, 0);
        if (bottomRight)
          own = c.op("add", {own, c.corner()});
        ValueId key = c.iota({c.t}, 0);
        ValueId visible = c.compare("ge", own, key);
        if (window > 0)
          visible = c.op("and", {c.compare("lt", c.op("sub", {own, key}),
                                           c.number(static_cast<double>(window),
                                                    DType::I64)),
                                 visible});
        c.output(
            c.attend(c.op("where", {visible, c.scores(), c.number(-kInf)})));
        AttrMap attrs = c.expectRaised();
        EXPECT_EQ(text(attrs, "causal"),
                  bottomRight ? "bottom_right" : "top_left");
        EXPECT_EQ(std::get<int64_t>(attrs["window"]), window);
        EXPECT_EQ(text(attrs, "roles"), "");
      }
}

TEST(RaiseAttention, RowsWithoutAKeyGiveZero) {
  RaiseCase c;
  c.operands();
  c.inputs.reserve(8);
  ValueId mask = c.input(DType::I1, {c.s, Dim(1)}, [n = 0]() mutable {
    return n++ == 2 ? 0.0 : 1.0; // query 2 sees nothing
  });
  c.output(c.attend(c.op("where", {mask, c.scores(), c.number(-kInf)})));
  graph::Graph after = c.rewritten([](mlir::OpPassManager &manager) {
    manager.addPass(createRaiseAttentionPass());
  });
  auto got = evaluate(after, c.dims, c.inputs, reference::Mode::Oracle);
  auto plain = evaluate(c.graph, c.dims, c.inputs, reference::Mode::Oracle);
  ASSERT_TRUE(got.ok() && plain.ok());
  for (int64_t i = 0; i < (*got)[0].elements(); ++i) {
    bool hidden = i / 6 % c.queries == 2;
    if (hidden)
      EXPECT_EQ((*got)[0].flat(i), 0) << i;
    else
      EXPECT_NEAR((*got)[0].flat(i), (*plain)[0].flat(i), 1e-12) << i;
  }
}

TEST(RaiseAttention, FiniteFillKeepsTheUniformMean) {
  RaiseCase c;
  c.operands();
  ValueId mask = c.input(DType::I1, {c.s, c.t}, [n = 0]() mutable {
    return n++ < 7 ? 0.0 : 1.0; // query 0 sees nothing
  });
  double lowest = -std::numeric_limits<float>::max();
  c.output(c.attend(c.op("where", {mask, c.scores(), c.number(lowest)})));
  EXPECT_EQ(text(c.expectRaised(), "roles"), "bias");
}

TEST(RaiseAttention, FiniteFillOverABias) {
  RaiseCase c;
  c.operands();
  ValueId bias = c.input(DType::F32, {Dim(c.heads), Dim(1), c.t});
  ValueId mask = c.input(DType::I1, {c.b, Dim(1), Dim(1), c.t},
                         [n = 0]() mutable { return n++ % 3 ? 1.0 : 0.0; });
  double lowest = -std::numeric_limits<float>::max();
  ValueId biased = c.op("add", {c.scores(), bias});
  c.output(c.attend(c.op("where", {mask, biased, c.number(lowest)})));
  EXPECT_EQ(text(c.expectRaised(), "roles"), "bias");
}

TEST(RaiseAttention, MasksOfGroupedScoresAreRefitted) {
  RaiseCase c;
  c.operands();
  Dim two(2);
  ValueId q = c.reshape(c.q, {c.b, two, two, c.s, Dim(8)});
  ValueId k = c.reshape(c.k, {c.b, two, Dim(1), c.t, Dim(8)});
  ValueId v = c.reshape(c.v, {c.b, two, Dim(1), c.t, Dim(6)});
  ValueId s = c.op("matmul", {q, k}, {{"transpose_b", true}});
  ValueId perGroup = c.input(DType::F32, {two, Dim(1), c.t});
  ValueId perBatch = c.input(DType::F32, {c.b, Dim(1), Dim(1), c.s, Dim(1)});
  ValueId mask = c.input(DType::I1, {c.b, Dim(1), Dim(1), Dim(1), c.t},
                         [n = 0]() mutable { return n++ % 5 ? 1.0 : 0.0; });
  s = c.op("add", {c.op("add", {s, perGroup}), perBatch});
  s = c.op("where", {mask, s, c.number(-kInf)});
  c.output(c.op("matmul", {c.op("softmax", {s}), v}));
  EXPECT_EQ(text(c.expectRaised(), "roles"), "bias,mask");
}

TEST(RaiseAttention, MergedHeadsWithoutAnyFourthAxis) {
  RaiseCase c;
  c.headsKv = 4;
  c.operands();
  auto merged = [&](ValueId x) {
    Shape shape = c.graph.type(x).shape;
    return c.reshape(x, {c.b * Dim(4), shape[2], shape[3]});
  };
  ValueId s =
      c.op("matmul", {merged(c.q), merged(c.k)}, {{"transpose_b", true}});
  c.output(c.op("matmul", {c.op("softmax", {s}), merged(c.v)}));
  c.expectRaised();
}

TEST(RaiseAttention, StoredTransposedOperands) {
  RaiseCase c;
  c.headsKv = 4;
  c.operands();
  ValueId k = c.input(DType::F32, {c.b, Dim(4), Dim(8), c.t});
  ValueId q = c.input(DType::F32, {c.b, Dim(4), Dim(8), c.s});
  ValueId v = c.input(DType::F32, {c.b, Dim(4), Dim(6), c.t});
  ValueId s = c.op("matmul", {q, k}, {{"transpose_a", true}});
  c.output(c.op("matmul", {c.op("softmax", {s}), v}, {{"transpose_b", true}}));
  c.expectRaised();
}

TEST(RaiseAttention, LayersInARowAreAllRaised) {
  RaiseCase c;
  c.headsKv = 4, c.keys = 5;
  c.operands();
  ValueId x = c.q;
  for (int layer = 0; layer < 3; ++layer) {
    ValueId s = c.op("matmul", {x, c.k}, {{"transpose_b", true}});
    x = c.op("matmul", {c.op("softmax", {s}), c.k});
  }
  c.output(x);
  graph::Graph after = c.rewritten([](mlir::OpPassManager &manager) {
    manager.addPass(createRaiseAttentionPass());
  });
  EXPECT_EQ(kindsOf(after).count("matmul"), 0u);
  c.expectSameMeaning(after, 1e-12);
}

TEST(RaiseAttention, SurvivesDecompositionAgain) {
  RaiseCase c;
  c.operands();
  c.output(c.attend(c.scores()));
  graph::Graph after = c.rewritten([](mlir::OpPassManager &manager) {
    manager.addPass(createRaiseAttentionPass());
    manager.addPass(createDecomposeAttentionPass());
    manager.addPass(createCanonicaliseGraphPass());
  });
  EXPECT_EQ(kindsOf(after).count("attention"), 0u);
  c.expectSameMeaning(after, 1e-12);
}
