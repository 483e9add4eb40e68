//===- ExactTest.cpp - integers for which nothing rounds ------------------===//
//
// The proof is held against the plain evaluation, which rounds every result to
// its type and adds in another order than the oracle: on the integers that are
// chosen, both must give the same.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/reference/Evaluate.h"
#include "ir/reference/ExactInputs.h"
#include "ir/reference/Float.h"
#include "tests/conformance/RandomTape.h"

#include <gtest/gtest.h>

#include <functional>

namespace azulejo::reference {
namespace {

using graph::Attr;
using graph::AttrMap;
using graph::Dim;
using graph::Graph;
using graph::ValueId;
using Tensors = std::vector<HostTensor>;

ValueId input(Graph &graph, const std::string &name, std::vector<int64_t> sizes,
              DType dtype) {
  graph::Shape shape;
  for (int64_t size : sizes)
    shape.emplace_back(size);
  Result<ValueId> id = graph.input(name, {dtype, shape});
  EXPECT_TRUE(id) << id.error().str();
  return *id;
}

ValueId append(Graph &graph, const std::string &kind,
               std::vector<ValueId> operands, AttrMap attrs = {}) {
  auto made = graph.append(kind, std::move(operands), std::move(attrs));
  EXPECT_TRUE(made) << made.error().str();
  return made->front();
}

ValueId castTo(Graph &graph, ValueId x, DType dtype) {
  return append(graph, "cast", {x}, {{"dtype", dtype}});
}

/// relu(x @ w + residual), or x @ w alone.
Graph productOf(DType dtype, int64_t m, int64_t k, int64_t n, bool epilogue,
                bool batched = false, const char *precision = "ieee") {
  Graph graph;
  auto shape = [&](int64_t a, int64_t b, bool batch) {
    return batch ? std::vector<int64_t>{3, a, b} : std::vector<int64_t>{a, b};
  };
  ValueId x = input(graph, "x", shape(m, k, batched), dtype);
  ValueId w = input(graph, "w", shape(k, n, false), dtype);
  ValueId y =
      append(graph, "matmul", {x, w}, {{"precision", std::string(precision)}});
  if (epilogue) {
    ValueId residual = input(graph, "r", shape(m, n, batched), dtype);
    y = append(graph, "relu", {append(graph, "add", {y, residual})});
  }
  EXPECT_TRUE(graph.output("y", y));
  return graph;
}

ExactChoice choose(const Graph &graph, size_t favoured = 0,
                   const std::map<std::string, int64_t> &dims = {}) {
  Result<ExactChoice> choice = chooseIntegers(graph, dims, {}, favoured);
  EXPECT_TRUE(choice) << choice.error().str();
  return *choice;
}

Tensors draw(const Graph &graph, const ExactChoice &choice, uint64_t seed = 1) {
  Tensors inputs;
  for (size_t i = 0; i < choice.inputs.size(); ++i) {
    const graph::TensorType &type = graph.type(graph.inputs()[i]);
    inputs.push_back(drawIntegers(type.dtype,
                                  *concreteShape(type.shape, {}, "input"),
                                  choice.inputs[i], seed + i));
  }
  return inputs;
}

/// The largest of the range, or one less, wherever something was drawn: sums
/// are as long as they can be, and odd.
Tensors worstOf(const ExactChoice &choice, Tensors drawn) {
  for (size_t t = 0; t < drawn.size(); ++t)
    for (int64_t i = 0; i < drawn[t].elements(); ++i)
      if (drawn[t].flat(i) != 0)
        drawn[t].setFlat(i, static_cast<double>(std::max<int64_t>(
                                choice.inputs[t].high - i % 2, 1)));
  return drawn;
}

Tensors oracleOf(const Graph &graph, const Tensors &inputs) {
  auto oracle = evaluate(graph, {}, inputs, Mode::Oracle);
  EXPECT_TRUE(oracle) << oracle.error().str();
  for (size_t i = 0; i < oracle->size(); ++i)
    (*oracle)[i] =
        roundedOnce((*oracle)[i], graph.type(graph.outputs()[i].value).dtype);
  return *oracle;
}

/// Nothing, or how the plain evaluation differs.
std::string plainDiffers(const Graph &graph, const Tensors &inputs) {
  auto plain = evaluate(graph, {}, inputs, Mode::Plain);
  EXPECT_TRUE(plain) << plain.error().str();
  Tensors oracle = oracleOf(graph, inputs);
  for (size_t i = 0; i < oracle.size(); ++i)
    if (auto what = firstDifference((*plain)[i], oracle[i]))
      return *what;
  return "";
}

TEST(Exact, ProductsOfEveryTypeShapeAndEpilogue) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (int64_t k : {0, 1, 5, 37, 96, 1024})
      for (bool epilogue : {false, true})
        for (bool batched : {false, true}) {
          Graph graph = productOf(dtype, 13, k, 19, epilogue, batched);
          for (size_t favoured = 0; favoured < graph.inputs().size();
               ++favoured) {
            ExactChoice choice = choose(graph, favoured);
            ASSERT_EQ(choice.whyNot, "") << dtypeName(dtype) << " " << k;
            Tensors inputs = draw(graph, choice);
            EXPECT_EQ(plainDiffers(graph, inputs), "")
                << dtypeName(dtype) << " " << k;
            EXPECT_EQ(plainDiffers(graph, worstOf(choice, inputs)), "")
                << dtypeName(dtype) << " " << k;
          }
        }
}

/// Operands that may be rounded to tf32 are values of it, of up to 11 bits:
/// more than bf16 has, so that a kernel which computes in that is found out.
TEST(Exact, ProductsThatMayRoundToTf32) {
  for (int64_t k : {0, 1, 5, 37, 96, 1024}) {
    Graph graph = productOf(DType::F32, 13, k, 19, true, false, "tf32");
    for (size_t favoured = 0; favoured < 2; ++favoured) {
      ExactChoice choice = choose(graph, favoured);
      ASSERT_EQ(choice.whyNot, "") << k;
      for (size_t i : {0, 1})
        EXPECT_LE(choice.inputs[i].high, 2048) << k;
      EXPECT_GT(choice.inputs[favoured].high, 256) << k;
      Tensors inputs = draw(graph, choice);
      EXPECT_EQ(plainDiffers(graph, inputs), "") << k;
      EXPECT_EQ(plainDiffers(graph, worstOf(choice, inputs)), "") << k;
    }
  }
  // Without the precision the operands have more bits: rounding them shows.
  ExactChoice wide = choose(productOf(DType::F32, 13, 5, 19, false));
  EXPECT_GT(wide.inputs[0].high, 2048);
  Graph graph = productOf(DType::F32, 13, 5, 19, false, false, "tf32");
  EXPECT_NE(plainDiffers(graph, draw(graph, wide)), "");
}

/// A long sum that is stored in bf16 before it is used allows few ones.
TEST(Exact, LongSumsInNarrowTypesAreThinnedOut) {
  Graph graph = productOf(DType::BF16, 33, 4096, 17, true);
  ExactChoice choice = choose(graph);
  ASSERT_EQ(choice.whyNot, "");
  EXPECT_GT(choice.inputs[0].spacing * choice.inputs[1].spacing, 1);
  Tensors inputs = draw(graph, choice);
  EXPECT_EQ(plainDiffers(graph, inputs), "");
  EXPECT_EQ(plainDiffers(graph, worstOf(choice, inputs)), "");
  // Every step of 16 along k still counts.
  Tensors wanted = oracleOf(graph, inputs);
  for (int64_t step = 0; step < 4096; step += 16) {
    Tensors dropped = inputs;
    for (int64_t row = 0; row < 33; ++row)
      for (int64_t k = step; k < step + 16; ++k)
        dropped[0].setFlat(row * 4096 + k, 0);
    if (step % 512 == 0) { // each evaluation takes a while
      EXPECT_TRUE(firstDifference(oracleOf(graph, dropped)[0], wanted[0]))
          << step;
    }
    EXPECT_NE(dropped[0].bytes, inputs[0].bytes) << step;
  }
}

/// What a broken kernel may do, done to the inputs of a right one.
TEST(Exact, MistakesThatAToleranceForgivesChangeTheResult) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    Graph graph = productOf(dtype, 13, 37, 19, false);
    Tensors inputs = draw(graph, choose(graph));
    Tensors wanted = oracleOf(graph, inputs);
    auto differs = [&](const std::function<void(Tensors &)> &change) {
      Tensors changed = inputs;
      change(changed);
      return firstDifference(oracleOf(graph, changed)[0], wanted[0])
          .has_value();
    };
    EXPECT_FALSE(differs([](Tensors &) {}));
    // One term of one sum.
    EXPECT_TRUE(differs([](Tensors &t) { t[0].setFlat(5 * 37 + 36, 0); }));
    // Two columns of w, as two steps along n that were swapped.
    EXPECT_TRUE(differs([](Tensors &t) {
      for (int64_t k = 0; k < 37; ++k) {
        double a = t[1].flat(k * 19 + 3);
        t[1].setFlat(k * 19 + 3, t[1].flat(k * 19 + 4));
        t[1].setFlat(k * 19 + 4, a);
      }
    }));
  }
}

/// The favoured operand of f32 has more bits than the types that a kernel may
/// wrongly compute in: bf16 with 8, tf32 with 11.
TEST(Exact, AnOperandThatIsRoundedChangesTheResult) {
  Graph graph = productOf(DType::F32, 13, 37, 19, false);
  for (size_t favoured : {0, 1}) {
    Tensors inputs = draw(graph, choose(graph, favoured));
    Tensors rounded = inputs;
    int cut = 0;
    for (int64_t i = 0; i < inputs[favoured].elements(); ++i) {
      double value = inputs[favoured].flat(i);
      double step = value == 0 ? 1 : std::ldexp(1, std::ilogb(value) - 10);
      rounded[favoured].setFlat(i, std::nearbyint(value / step) * step);
      cut += rounded[favoured].flat(i) != value;
    }
    EXPECT_GT(cut, 10);
    EXPECT_TRUE(firstDifference(oracleOf(graph, rounded)[0],
                                oracleOf(graph, inputs)[0]));
  }
}

/// Adding in bf16 shows in an output of bf16, too, which is rounded once.
TEST(Exact, SumsThatAreRoundedOnTheWayChangeTheResult) {
  Graph graph = productOf(DType::BF16, 13, 37, 19, false);
  Tensors inputs = draw(graph, choose(graph));
  HostTensor narrow = oracleOf(graph, inputs)[0];
  for (int64_t i = 0; i < 13; ++i)
    for (int64_t j = 0; j < 19; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 37; ++k)
        sum = roundTo(DType::BF16, sum + inputs[0].flat(i * 37 + k) *
                                             inputs[1].flat(k * 19 + j));
      narrow.setFlat(i * 19 + j, sum);
    }
  EXPECT_TRUE(firstDifference(narrow, oracleOf(graph, inputs)[0]));
}

TEST(Exact, ReductionsAndMeans) {
  for (const char *kind : {"reduce_sum", "reduce_max", "reduce_mean"})
    for (DType dtype : {DType::F32, DType::F16, DType::BF16})
      for (int64_t width : {64, 37, 1000}) {
        Graph graph;
        ValueId x = input(graph, "x", {7, width}, dtype);
        ValueId doubled = append(graph, "add", {x, x});
        ValueId y =
            append(graph, kind, {doubled}, {{"axes", std::vector<int64_t>{1}}});
        ASSERT_TRUE(graph.output("y", y));
        ExactChoice choice = choose(graph);
        if (std::string(kind) == "reduce_mean" && width != 64) {
          EXPECT_EQ(choice.whyNot, "reduce_mean: it rounds, unless the mean is "
                                   "of 2^n values");
          continue;
        }
        ASSERT_EQ(choice.whyNot, "") << kind << dtypeName(dtype) << width;
        Tensors inputs = draw(graph, choice);
        EXPECT_EQ(plainDiffers(graph, inputs), "")
            << kind << dtypeName(dtype) << width;
        EXPECT_EQ(plainDiffers(graph, worstOf(choice, inputs)), "")
            << kind << dtypeName(dtype) << width;
      }
}

TEST(Exact, SaysWhichOpIsInTheWay) {
  auto whyNot = [](const std::function<ValueId(Graph &, ValueId)> &make) {
    Graph graph;
    ValueId x = input(graph, "x", {5, 8}, DType::BF16);
    EXPECT_TRUE(graph.output("y", make(graph, x)));
    ExactChoice choice = choose(graph);
    EXPECT_TRUE(choice.inputs.empty());
    return choice.whyNot;
  };
  for (const char *kind : {"exp", "gelu_erf", "gelu_tanh", "silu", "sqrt"})
    EXPECT_EQ(whyNot([&](Graph &g, ValueId x) { return append(g, kind, {x}); }),
              std::string(kind) + ": it rounds");
  EXPECT_EQ(whyNot([](Graph &g, ValueId x) {
              return append(g, "softmax", {x}, {{"axis", int64_t{-1}}});
            }),
            "softmax: it rounds");
  EXPECT_EQ(whyNot([](Graph &g, ValueId x) {
              ValueId three = append(g, "constant", {},
                                     {{"value", 3.0}, {"dtype", DType::BF16}});
              return append(g, "div", {x, three});
            }),
            "div: it rounds, unless by one power of two");
  // Two factors of 8 bits are one of 15, whatever x is; it must be held, for
  // the sum uses it.
  EXPECT_EQ(whyNot([](Graph &g, ValueId x) {
              ValueId odd = append(g, "constant", {},
                                   {{"value", 201.0}, {"dtype", DType::BF16}});
              ValueId square = append(g, "mul", {odd, odd});
              return append(g, "add", {x, square});
            }),
            "mul: values of 16 bits, of which bf16 holds 8");
}

TEST(Exact, AttentionIsInTheWay) {
  Graph graph;
  ValueId q = input(graph, "q", {1, 2, 5, 16}, DType::F16);
  ASSERT_TRUE(graph.output("y", append(graph, "attention", {q, q, q})));
  EXPECT_EQ(choose(graph).whyNot, "attention: it rounds");
}

TEST(Exact, ConstantsCastsMasksAndMoves) {
  Graph graph;
  ValueId x = input(graph, "x", {6, 4, 8}, DType::F16);
  ValueId y = input(graph, "y", {6, 8}, DType::F32);
  ValueId scale =
      append(graph, "constant", {}, {{"value", 0.75}, {"dtype", DType::F32}});
  ValueId wide = append(graph, "mul", {castTo(graph, x, DType::F32), scale});
  ValueId flat = append(graph, "reshape", {wide},
                        {{"shape", graph::Shape{Dim(6), Dim(32)}}});
  ValueId turned = append(graph, "transpose", {flat},
                          {{"perm", std::vector<int64_t>{1, 0}}});
  ValueId product = append(graph, "matmul", {turned, y});
  ValueId positive =
      append(graph, "compare", {product, scale}, {{"predicate", "gt"}});
  ValueId clamped =
      append(graph, "clamp", {product}, {{"low", -96.5}, {"high", 1000.0}});
  ValueId chosen = append(graph, "where", {positive, clamped, scale});
  ASSERT_TRUE(graph.output("a", castTo(graph, chosen, DType::BF16)));
  ASSERT_TRUE(graph.output("b", castTo(graph, product, DType::I32)));
  ExactChoice choice = choose(graph);
  ASSERT_EQ(choice.whyNot, "");
  EXPECT_EQ(plainDiffers(graph, draw(graph, choice)), "");
}

// In a wider result the rounding of the product itself shows.
TEST(Exact, AProductAmongWiderValuesIsAValueOfItsType) {
  for (const char *kind : {"min", "max"})
    for (DType other : {DType::F32, DType::BF16}) {
      Graph graph;
      ValueId x = input(graph, "x", {13, 96}, DType::BF16);
      ValueId w = input(graph, "w", {96, 19}, DType::BF16);
      ValueId product = append(graph, "matmul", {x, w});
      ValueId limit = input(graph, "limit", {13, 1}, other);
      ASSERT_TRUE(graph.output("y", append(graph, kind, {product, limit})));
      for (size_t favoured = 0; favoured < 3; ++favoured) {
        ExactChoice choice = choose(graph, favoured);
        ASSERT_EQ(choice.whyNot, "") << kind << " " << dtypeName(other);
        Tensors inputs = draw(graph, choice);
        EXPECT_EQ(plainDiffers(graph, inputs), "")
            << kind << " " << dtypeName(other);
        EXPECT_EQ(plainDiffers(graph, worstOf(choice, inputs)), "")
            << kind << " " << dtypeName(other);
      }
    }
}

TEST(Exact, SpacedIntegersAreEvenlySpreadAlongEveryAxis) {
  IntegerInput range{-3, 3, 8};
  HostTensor tensor = drawIntegers(DType::BF16, {24, 16, 40}, range, 7);
  std::vector<int64_t> shape = tensor.shape, strides = {640, 40, 1};
  for (size_t axis = 0; axis < 3; ++axis)
    for (int64_t start = 0; start < tensor.elements(); ++start) {
      if (start / strides[axis] % shape[axis] != 0)
        continue;
      int64_t others = 0;
      for (int64_t i = 0; i < shape[axis]; ++i)
        others += tensor.flat(start + i * strides[axis]) != 0;
      ASSERT_EQ(others, shape[axis] / 8) << axis << " " << start;
    }
  HostTensor again = drawIntegers(DType::BF16, {24, 16, 40}, range, 7);
  EXPECT_EQ(again.bytes, tensor.bytes);
}

/// The largest magnitude of w for which relu(move(x) @ w) + 0, which must be a
/// bf16 all the way, is exact where x holds ones with that spacing.
int64_t mostAfter(std::vector<int64_t> shape, int64_t spacing,
                  const std::string &kind, const AttrMap &attrs) {
  Graph graph;
  ValueId x = input(graph, "x", shape, DType::BF16);
  ValueId moved = append(graph, kind, {x}, attrs);
  int64_t k = graph.type(moved).shape.back().constant().value();
  ValueId w = input(graph, "w", {k, 2}, DType::BF16);
  ValueId y = append(graph, "matmul", {moved, w});
  EXPECT_TRUE(graph.output("y", append(graph, "mul", {y, y})));
  Shapes shapes;
  for (const graph::Value &value : graph.values())
    shapes.push_back(*concreteShape(value.type.shape, {}, "value"));
  for (int64_t most = 256; most > 0; --most) {
    IntegerInput inputs[] = {{-1, 1, spacing}, {-most, most}};
    if (!findObstacle(graph, shapes, inputs))
      return most;
  }
  return 0;
}

/// A bound that is too small would be a false promise, one that is too large
/// would refuse what is exact.
TEST(Exact, LinesFollowTheirElements) {
  using Ints = std::vector<int64_t>;
  auto shape = [](int64_t a, int64_t b) {
    return graph::Shape{Dim(a), Dim(b)};
  };
  // 64 elements, 4 of them ones; along the other axis 1 of 3.
  EXPECT_EQ(mostAfter({64, 3}, 16, "transpose", {{"perm", Ints{1, 0}}}), 64);
  EXPECT_EQ(mostAfter({3, 64}, 16, "transpose", {{"perm", Ints{1, 0}}}), 256);
  // Rows that are split: the whole row has 16. Rows that are joined: 2 of 2.
  graph::Shape split{Dim(3), Dim(4), Dim(64)};
  EXPECT_EQ(mostAfter({3, 256}, 16, "reshape", {{"shape", split}}), 16);
  EXPECT_EQ(mostAfter({2, 32}, 16, "reshape", {{"shape", shape(1, 64)}}), 64);
  EXPECT_EQ(mostAfter({64, 3}, 16, "reshape", {{"shape", shape(64, 3)}}), 256);
  EXPECT_EQ(mostAfter({1, 1}, 16, "broadcast", {{"shape", shape(3, 64)}}), 4);
  EXPECT_EQ(mostAfter({64, 32}, 16, "slice",
                      {{"starts", Ints{1, 0}},
                       {"sizes", shape(5, 16)},
                       {"steps", Ints{1, 2}}}),
            128);
}

TEST(Exact, DifferencesNameTheFirstElement) {
  double a[] = {1, -0.0, 3, 4, 5, 6}, b[] = {1, 0.0, 3, 4.5, 5, NAN};
  HostTensor x = HostTensor::of(DType::F32, {2, 3}, a),
             y = HostTensor::of(DType::F32, {2, 3}, b);
  EXPECT_EQ(firstDifference(x, y),
            "element [1, 0] is 4, wanted 4.5 (2 of 6 differ)");
  b[3] = 4;
  b[5] = 6;
  EXPECT_EQ(firstDifference(x, HostTensor::of(DType::F32, {2, 3}, b)),
            std::nullopt);
}

/// Whatever the analysis accepts is exact.
TEST(Exact, RandomGraphs) {
  int accepted = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    auto made = conformance::makeRandomGraph(conformance::drawTape(seed));
    ASSERT_TRUE(made) << made.error().str();
    // Each value of the graph is an output of one of its own, as regions are
    // parts of graphs; so most ops are reached before one that rounds.
    const Graph &whole = made->graph;
    for (size_t last = 0; last < whole.ops().size(); ++last) {
      Graph part;
      for (const graph::DimSymbol &dim : whole.dims())
        ASSERT_TRUE(part.dim(dim.name, dim.min, dim.max));
      std::vector<ValueId> ids(whole.values().size());
      std::vector<std::optional<IntegerInput>> given;
      for (ValueId id : whole.inputs()) {
        ids[id] = *part.input(whole.name(id), whole.type(id));
        given.emplace_back();
        if (!isFloat(whole.type(id).dtype))
          given.back() = {0, 1};
      }
      for (size_t i = 0; i <= last; ++i) {
        const graph::Op &op = whole.ops()[i];
        std::vector<ValueId> operands;
        for (ValueId id : op.operands)
          operands.push_back(ids[id]);
        auto results = part.append(op.kind, operands, op.attrs);
        ASSERT_TRUE(results);
        for (size_t r = 0; r < results->size(); ++r)
          ids[op.results[r]] = (*results)[r];
      }
      ValueId end = ids[whole.ops()[last].results[0]];
      ASSERT_TRUE(part.output("end", end));
      auto choice = chooseIntegers(part, made->dims, given, seed % 3);
      ASSERT_TRUE(choice) << choice.error().str();
      if (!choice->whyNot.empty())
        break; // so do all that hold this part
      ++accepted;
      if (last % 3 != seed % 3)
        continue; // evaluating takes a while
      Tensors inputs;
      for (size_t i = 0; i < choice->inputs.size(); ++i) {
        const graph::TensorType &type = part.type(part.inputs()[i]);
        inputs.push_back(drawIntegers(
            type.dtype, *concreteShape(type.shape, made->dims, "input"),
            choice->inputs[i], seed + i));
      }
      auto plain = evaluate(part, made->dims, inputs, Mode::Plain);
      auto oracle = evaluate(part, made->dims, inputs, Mode::Oracle);
      ASSERT_TRUE(plain && oracle);
      auto what = firstDifference(
          (*plain)[0], roundedOnce((*oracle)[0], part.type(end).dtype));
      EXPECT_EQ(what, std::nullopt)
          << "seed " << seed << ", op " << last << "\n"
          << part.canonical();
    }
  }
  EXPECT_GT(accepted, 300);
}

} // namespace
} // namespace azulejo::reference
