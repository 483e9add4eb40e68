//===- EvaluateTest.cpp - sizes, strides and refusals of the evaluator ----===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "GraphCase.h"
#include "ir/opset/Opset.h"

namespace azulejo::reference {
namespace {

/// y = neg(x) with x: f32[N, 2 * N].
struct Symbolic {
  graph::Graph g;
  Symbolic() {
    graph::Dim n = *g.dim("N", 0, 1 << 30);
    ValueId x = *g.input("x", {DType::F32, {n, n * graph::Dim(2)}});
    EXPECT_TRUE(g.output("y", (*g.append("neg", {x}))[0]).ok());
  }
  Result<std::vector<HostTensor>> run(std::map<std::string, int64_t> dims,
                                      const HostTensor &x) {
    return evaluate(g, dims, std::span(&x, 1), Mode::Oracle);
  }
};

TEST(Evaluate, SymbolicSizes) {
  Symbolic c;
  HostTensor x = HostTensor::of(DType::F32, {1, 2}, Values{1, 2});
  auto y = c.run({{"N", 1}}, x);
  ASSERT_TRUE(y.ok());
  EXPECT_EQ((*y)[0].at({0, 1}), -2);
  ASSERT_TRUE(c.run({{"N", 0}}, HostTensor::dense(DType::F32, {0, 0})).ok());
}

TEST(Evaluate, RefusesWhatDoesNotFit) {
  Symbolic c;
  HostTensor x = HostTensor::dense(DType::F32, {2, 4});
  EXPECT_EQ(c.run({}, x).error().rule, "reference.dims");
  EXPECT_EQ(c.run({{"N", -1}}, x).error().rule, "reference.dims");
  EXPECT_EQ(c.run({{"N", 3}}, x).error().rule, "reference.inputs");
  for (int64_t n : {1 << 20, 1 << 14, 1 << 30}) {
    Error error = c.run({{"N", n}}, x).error();
    EXPECT_EQ(error.code, ErrorCode::ResourceLimit);
    EXPECT_EQ(error.rule, "reference.size");
    EXPECT_EQ(error.where, "tensor 'x'");
  }
  EXPECT_EQ(
      c.run({{"N", 2}}, HostTensor::dense(DType::F16, {2, 4})).error().rule,
      "reference.inputs");
  EXPECT_EQ(evaluate(c.g, {{"N", 2}}, {}, Mode::Plain).error().rule,
            "reference.inputs");
}

TEST(Evaluate, ReadsStridedInputsAndChecksTheirBounds) {
  Symbolic c;
  HostTensor x = HostTensor::of(DType::F32, {6}, Values{0, 1, 2, 3, 4, 5});
  x.shape = {1, 2};
  x.strides = {100, -3};
  x.offset = 5;
  auto y = c.run({{"N", 1}}, x);
  ASSERT_TRUE(y.ok());
  EXPECT_EQ((*y)[0].at({0, 0}), -5);
  EXPECT_EQ((*y)[0].at({0, 1}), -2);
  x.strides = {100, -6};
  EXPECT_EQ(c.run({{"N", 1}}, x).error().rule, "reference.tensor");
  x.strides = {100, std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(c.run({{"N", 1}}, x).error().rule, "reference.tensor");
  x.strides = {1};
  EXPECT_EQ(c.run({{"N", 1}}, x).error().rule, "reference.tensor");
}

TEST(Evaluate, RoundTripsEveryDtype) {
  for (int i = 0; i < kDTypeCount; ++i) {
    auto dtype = static_cast<DType>(i);
    if (dtype == DType::F64)
      continue;
    GraphCase c;
    ValueId x = c.input(dtype, {2}, {1, 0});
    HostTensor plain =
        c.run(c.op("reshape", {x}, {{"shape", shapeOf({2, 1})}}), Mode::Plain);
    EXPECT_EQ(plain.dtype, dtype);
    EXPECT_EQ(plain.bytes, c.inputs[0].bytes) << dtypeName(dtype);
  }
}

/// A call of each op on valid operands; the test fails when the op set grows
/// without one.
ValueId callOf(GraphCase &c, const opset::OpSpec &spec) {
  const std::string &kind = spec.name;
  Values x{0.5, 1, 1.5, 2};
  auto f = [&] { // operands differ, so that none cancels another
    Values next = x;
    for (double &value : x)
      value += 0.25;
    return c.input(DType::F32, {2, 2}, next);
  };
  auto scalar = [&] { return c.input(DType::I32, {}, {0}); };
  graph::Shape square = shapeOf({2, 2});
  std::vector<int64_t> zeros{0, 0}, ones{1, 1};
  if (kind == "and" || kind == "or" || kind == "not") {
    ValueId truth = c.input(DType::I1, {2}, {1, 0});
    return c.op(kind,
                kind == "not" ? std::vector{truth} : std::vector{truth, truth});
  }
  if (kind == "attention") {
    ValueId q = c.input(DType::F32, {1, 1, 2, 2}, x);
    return c.op(kind, {q, q, q});
  }
  if (kind == "where")
    return c.op(kind, {c.input(DType::I1, {2}, {1, 0}), f(), f()});
  if (kind == "constant" || kind == "iota")
    return c.op(kind, {},
                kind == "iota"
                    ? AttrMap{{"shape", square}, {"axis", int64_t{1}}}
                    : AttrMap{{"value", 1.0}, {"dtype", DType::F32}});
  if (kind == "rope") {
    ValueId table = c.input(DType::F32, {2, 1}, {0, 1});
    return c.op(kind, {f(), table, table});
  }
  if (kind == "gather")
    return c.op(kind, {f(), scalar()});
  if (kind == "cache_update")
    return c.op(kind, {f(), f(), scalar()}, {{"axis", int64_t{0}}});
  AttrMap attrs;
  if (spec.opClass == opset::OpClass::Reduction)
    attrs["axes"] = std::vector<int64_t>{0};
  if (kind == "compare")
    attrs["predicate"] = std::string("lt");
  if (kind == "clamp")
    attrs = {{"low", 0.0}, {"high", 1.0}};
  if (kind == "cast")
    attrs["dtype"] = DType::F16;
  if (kind == "broadcast" || kind == "reshape")
    attrs["shape"] = square;
  if (kind == "transpose")
    attrs["perm"] = std::vector<int64_t>{1, 0};
  if (kind == "slice")
    attrs = {{"starts", zeros}, {"sizes", square}, {"steps", ones}};
  if (kind == "concat")
    attrs["axis"] = int64_t{0};
  std::vector<ValueId> operands;
  for (int i = 0; i < std::max(1, spec.minOperands); ++i)
    operands.push_back(f());
  return c.op(kind, operands, attrs);
}

TEST(Evaluate, EveryOpOfTheOpSetRunsInBothModes) {
  for (const opset::OpSpec &spec : opset::allOps()) {
    SCOPED_TRACE(spec.name);
    GraphCase c;
    ValueId value = callOf(c, spec);
    Values oracle = c.values(value), plain = c.values(value, Mode::Plain);
    EXPECT_FALSE(oracle.empty());
    expectValues(plain, oracle, 1e-5);
    bool anything = false; // an op that nobody evaluates would leave zeros
    for (double x : oracle)
      anything |= x != 0;
    EXPECT_TRUE(anything);
  }
}

} // namespace
} // namespace azulejo::reference
