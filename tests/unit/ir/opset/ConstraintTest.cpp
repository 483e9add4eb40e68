//===- ConstraintTest.cpp - every rule of the op set, broken once ---------===//
//
// One row per way to break a rule. A rule is "<op>.<label>"; tools/check
// demands that each rule of ir/opset is named in a test.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Opset.h"

#include <gtest/gtest.h>
#include <limits>

using namespace azulejo;
using namespace azulejo::opset;

namespace {

struct Broken {
  std::string op;
  const char *label;
  std::vector<TensorType> operands;
  AttrMap attrs = {};
};

const Dim kB = Dim::symbol("B"), kS = Dim::symbol("S");
using Ints = std::vector<int64_t>;
using Text = std::string;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorType f32(Shape shape) { return {DType::F32, std::move(shape)}; }
TensorType f16(Shape shape) { return {DType::F16, std::move(shape)}; }
TensorType i8(Shape shape) { return {DType::I8, std::move(shape)}; }
TensorType i1(Shape shape) { return {DType::I1, std::move(shape)}; }
TensorType i32(Shape shape) { return {DType::I32, std::move(shape)}; }
TensorType f64(Shape shape) { return {DType::F64, std::move(shape)}; }
TensorType fp8(Shape shape) { return {DType::F8E4M3, std::move(shape)}; }

void expectAll(const std::vector<Broken> &rows) {
  for (const Broken &row : rows) {
    AttrMap attrs = row.attrs;
    std::vector<std::string> names(row.operands.size(), "t");
    InferResult result = inferOp(row.op, "mine", row.operands, names, attrs);
    std::string rule = row.op + "." + row.label;
    if (result) {
      ADD_FAILURE() << rule << " was not noticed";
      continue;
    }
    EXPECT_EQ(result.error().rule, rule) << result.error().str();
    EXPECT_EQ(result.error().code, ErrorCode::InvalidGraph) << rule;
    EXPECT_EQ(result.error().where, "op 'mine' (" + row.op + ")");
    EXPECT_FALSE(result.error().message.empty()) << rule;
  }
}

TEST(Constraints, Unary) {
  std::vector<Broken> rows;
  for (const char *op : {"exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos",
                         "tanh", "sigmoid", "silu", "gelu_erf", "gelu_tanh"}) {
    rows.push_back({op, "C2", {fp8({kS})}});
    rows.push_back({op, "C3", {i32({kS})}});
  }
  for (const char *op : {"neg", "abs", "relu"}) {
    rows.push_back({op, "C2", {i8({kS})}});
    rows.push_back({op, "C3", {i1({kS})}});
  }
  AttrMap range{{"low", 0.0}, {"high", 1.0}};
  rows.push_back({"clamp", "C2", {f64({kS})}, range});
  rows.push_back({"clamp", "C3", {i1({kS})}, range});
  rows.push_back({"clamp", "C4", {f32({})}, {{"low", 2.0}, {"high", 1.0}}});
  rows.push_back({"clamp", "C4", {f32({})}, {{"low", kNan}, {"high", 1.0}}});
  rows.push_back({"cast", "C2", {f32({kS})}, {{"dtype", DType::F64}}});
  rows.push_back({"cast", "C2", {f64({kS})}, {{"dtype", DType::F32}}});
  rows.push_back({"not", "C3", {f32({kS})}});
  expectAll(rows);
}

TEST(Constraints, BinaryAndTernary) {
  std::vector<Broken> rows;
  for (const char *op : {"add", "sub", "mul", "min", "max"}) {
    rows.push_back({op, "C1", {f32({kB}), f32({kS})}});
    rows.push_back({op, "C2", {f32({kB}), i8({kB})}});
    rows.push_back({op, "C3", {i1({kB}), i1({kB})}});
  }
  for (const char *op : {"div", "pow"}) {
    rows.push_back({op, "C1", {f32({2}), f32({3})}});
    rows.push_back({op, "C2", {fp8({2}), f32({2})}});
    rows.push_back({op, "C3", {i32({2}), i32({2})}});
  }
  for (const char *op : {"and", "or"}) {
    rows.push_back({op, "C1", {i1({2}), i1({3})}});
    rows.push_back({op, "C3", {i1({2}), f32({2})}});
  }
  AttrMap lt{{"predicate", Text("lt")}};
  rows.push_back({"compare", "C1", {f32({kB}), f32({kS})}, lt});
  rows.push_back({"compare", "C2", {i8({kB}), i8({kB})}, lt});
  rows.push_back({"where", "C1", {i1({kB}), f32({kS}), f32({})}});
  rows.push_back({"where", "C2", {i1({}), i8({kS}), f32({kS})}});
  rows.push_back({"where", "C3", {f32({kS}), f32({kS}), f32({kS})}});
  expectAll(rows);
}

TEST(Constraints, ReductionsAndNorms) {
  std::vector<Broken> rows;
  for (const char *op : {"reduce_sum", "reduce_max", "reduce_mean"}) {
    rows.push_back({op, "C1", {i1({kB, 4})}, {{"axes", Ints{1}}}});
    for (const Ints &axes : {Ints{}, Ints{-1}, Ints{2}, Ints{0, 0}})
      rows.push_back({op, "C2", {f32({kB, 4})}, {{"axes", axes}}});
  }
  rows.push_back({"softmax", "C1", {i32({kB, 4})}});
  for (int64_t axis : {-2, 2})
    rows.push_back({"softmax", "C2", {f32({kB, 4})}, {{"axis", axis}}});
  rows.push_back({"softmax", "C2", {f32({})}});
  for (const char *op : {"layer_norm", "rms_norm"}) {
    rows.push_back({op, "C1", {f32({kB, 4}), i32({4})}});
    rows.push_back({op, "C2", {f32({})}});
    rows.push_back({op, "C3", {f32({kB, 4}), f32({5})}});
    rows.push_back({op, "C3", {f32({kB, 4}), f32({1, 4})}});
    rows.push_back({op, "C4", {f32({kB, 4})}, {{"eps", -1.0}}});
    rows.push_back({op, "C4", {f32({kB, 4})}, {{"eps", kNan}}});
  }
  expectAll(rows);
}

TEST(Constraints, Rope) {
  TensorType x = f32({kB, 4, kS, 32});
  expectAll({
      {"rope", "C1", {i32({kS, 32}), f32({kS, 16}), f32({kS, 16})}},
      {"rope", "C2", {f32({32}), f32({16}), f32({16})}},
      {"rope", "C2", {x, f32({}), f32({})}},
      {"rope", "C3", {x, f32({kS, 16}), f32({kS, 8})}},
      {"rope", "C4", {x, f32({kS, 17}), f32({kS, 17})}},
      {"rope", "C4", {x, f32({kS, 0}), f32({kS, 0})}},
      {"rope", "C4", {x, f32({kS, kB}), f32({kS, kB})}},
      {"rope", "C5", {x, f32({kB, 16}), f32({kB, 16})}},
  });
}

TEST(Constraints, Matmul) {
  expectAll({
      {"matmul", "C1", {i32({2, 3}), f32({3, 4})}},
      {"matmul", "C1", {f32({2, 3}), fp8({3, 4})}},
      {"matmul", "C2", {f32({3}), f32({3, 4})}},
      {"matmul", "C3", {f32({2, 3}), f32({4, 5})}},
      {"matmul", "C3", {f32({2, kS}), f32({kB, 5})}},
      {"matmul", "C3", {f32({2, 3}), f32({3, 5})}, {{"transpose_b", true}}},
      {"matmul", "C4", {f32({2, 4, 3}), f32({5, 3, 4})}},
      {"matmul",
       "C5",
       {f32({2, 3}), f16({3, 4})},
       {{"precision", Text("tf32")}}},
      {"matmul",
       "C5",
       {f16({2, 3}), f16({3, 4})},
       {{"precision", Text("tf32")}}},
      {"matmul",
       "attrs",
       {f32({2, 3}), f32({3, 4})},
       {{"precision", Text("bf16")}}},
  });
}

Broken attention(const char *label, Shape q, Shape k, Shape v,
                 AttrMap attrs = {}, std::vector<TensorType> extra = {}) {
  attrs.try_emplace("scale", 1.0);
  std::vector<TensorType> operands{f32(q), f32(k), f32(v)};
  operands.insert(operands.end(), extra.begin(), extra.end());
  return {"attention", label, operands, attrs};
}

TEST(Constraints, AttentionShapes) {
  Shape q{kB, 8, kS, 64}, kv{kB, 2, 128, 64};
  expectAll({
      {"attention", "C1", {i32(q), i32(kv), i32(kv)}, {{"scale", 1.0}}},
      {"attention", "C1", {f32(q), f16(kv), f32(kv)}, {{"scale", 1.0}}},
      attention("C2", {8, kS, 64}, kv, kv),
      attention("C3", q, {1, 2, 128, 64}, kv),
      attention("C4", q, {kB, 2, 128, 32}, kv),
      attention("C5", q, kv, {kB, 2, 127, 64}),
      attention("C5", q, kv, {kB, 1, 128, 64}),
      attention("C6", q, {kB, 3, 128, 64}, {kB, 3, 128, 64}),
      attention("C6", q, {kB, 0, 128, 64}, {kB, 0, 128, 64}),
      attention("C6", {kB, kS, 4, 64}, kv, kv),
      attention("C7", {kB, 8, kS, kS}, {kB, 2, 128, kS}, {kB, 2, 128, kS}),
      attention("C7", q, kv, {kB, 2, 128, kS}),
  });
}

TEST(Constraints, AttentionOptions) {
  Shape q{kB, 8, kS, 64}, kv{kB, 2, 128, 64};
  auto roles = [](const char *list) { return AttrMap{{"roles", Text(list)}}; };
  expectAll({
      attention("C8", q, kv, kv, {{"window", int64_t{-1}}}),
      attention("C8", q, kv, kv, {{"window", int64_t{64}}}),
      attention("C9", q, kv, kv, {{"scale", kNan}}),
      attention("C9", q, kv, kv, {{"softcap", -1.0}}),
      attention("C10", q, kv, kv, roles("mask")),
      attention("C10", q, kv, kv, {}, {i32({kB})}),
      attention("C10", q, kv, kv, roles("sink"), {f32({8})}),
      attention("C10", q, kv, kv, roles("lengths,lengths"),
                {i32({kB}), i32({kB})}),
      attention("C11", q, kv, kv, roles("mask"), {f32({kS, 128})}),
      attention("C11", q, kv, kv, roles("bias"), {i1({kS, 128})}),
      attention("C11", q, kv, kv, roles("bias"), {f32({3, kS, 128})}),
      attention("C12", q, kv, kv, roles("lengths"), {f32({kB})}),
      attention("C12", q, kv, kv, roles("lengths"), {i32({kB, 1})}),
      attention("C13", q, kv, kv, roles("slopes"), {f32({2})}),
      attention("C13", q, kv, kv, roles("slopes"), {i32({8})}),
      {"attention",
       "C14",
       {f16(q), f16(kv), f16(kv)},
       {{"scale", 1.0}, {"precision", Text("tf32")}}},
  });
}

TEST(Constraints, MakingElements) {
  int64_t zero = 0;
  expectAll({
      {"constant", "C1", {}, {{"value", 1.0}, {"dtype", DType::F64}}},
      {"iota",
       "C1",
       {},
       {{"shape", Shape{4}}, {"axis", zero}, {"dtype", DType::F16}}},
      {"iota", "C2", {}, {{"shape", Shape{4}}, {"axis", int64_t{1}}}},
      {"iota", "C2", {}, {{"shape", Shape{}}, {"axis", zero}}},
  });
}

Broken slice(const char *label, Shape shape, Ints starts, Shape sizes,
             Ints steps) {
  return {"slice",
          label,
          {f32(std::move(shape))},
          {{"starts", starts}, {"sizes", sizes}, {"steps", steps}}};
}

TEST(Constraints, MovingElements) {
  expectAll({
      {"broadcast", "C1", {f32({3})}, {{"shape", Shape{kB, 4}}}},
      {"broadcast", "C1", {f32({kB, 4})}, {{"shape", Shape{4}}}},
      {"reshape", "C1", {f32({kB, 6})}, {{"shape", Shape{kB, 7}}}},
      {"transpose", "C1", {f32({kB, 6})}, {{"perm", Ints{0}}}},
      {"transpose", "C1", {f32({kB, 6})}, {{"perm", Ints{0, 0}}}},
      {"transpose", "C1", {f32({kB, 6})}, {{"perm", Ints{0, 2}}}},
      {"transpose", "C1", {f32({kB, 6})}, {{"perm", Ints{0, 1, 1}}}},
      slice("C1", {8, 8}, {0}, {8}, {1}),
      slice("C2", {8}, {-1}, {4}, {1}),
      slice("C2", {8}, {0}, {4}, {0}),
      slice("C2", {8}, {0}, {-1}, {1}),
      slice("C3", {8}, {5}, {4}, {1}),
      slice("C3", {8}, {0}, {5}, {2}),
      slice("C3", {8}, {0}, {3}, {int64_t{1} << 62}),
      slice("C3", {kS}, {0}, {4}, {1}),
      slice("C3", {kS}, {1}, {kS}, {1}),
  });
}

TEST(Constraints, PlacingElements) {
  AttrMap axis1{{"axis", int64_t{1}}}, axis2{{"axis", int64_t{2}}};
  TensorType cache = f16({kB, 8, 64}), update = f16({kB, 1, 64});
  expectAll({
      {"concat", "C1", {f32({kB, 4})}, axis2},
      {"concat", "C1", {f32({})}, {{"axis", int64_t{0}}}},
      {"concat", "C2", {f32({kB, 4}), f16({kB, 4})}, axis1},
      {"concat", "C3", {f32({kB, 4}), f32({kS, 4})}, axis1},
      {"concat", "C3", {f32({kB, 4}), f32({kB, 4, 1})}, axis1},
      {"gather", "C1", {f32({kB, 4}), i32({kS})}, axis2},
      {"gather", "C2", {f32({kB, 4}), f32({kS})}},
      {"cache_update", "C1", {cache, update, i32({})}, {{"axis", int64_t{3}}}},
      {"cache_update", "C2", {cache, f32({kB, 1, 64}), i32({})}, axis1},
      {"cache_update", "C2", {cache, f16({kB, 1, 32}), i32({})}, axis1},
      {"cache_update", "C3", {cache, update, f32({})}, axis1},
      {"cache_update", "C3", {cache, update, i32({kS})}, axis1},
  });
}

TEST(Constraints, OperandCountsOfEveryOp) {
  for (const OpSpec &spec : allOps()) {
    std::vector<int> wrong;
    if (spec.minOperands > 0)
      wrong.push_back(spec.minOperands - 1);
    if (spec.maxOperands >= 0)
      wrong.push_back(spec.maxOperands + 1);
    for (int count : wrong) {
      std::vector<TensorType> operands(count, f32({kS}));
      expectAll({{spec.name, "operands", operands}});
    }
  }
}

TEST(Constraints, AttributesOfEveryOp) {
  for (const OpSpec &spec : allOps()) {
    std::vector<TensorType> operands(spec.minOperands, f32({kS}));
    expectAll({{spec.name, "attrs", operands, {{"colour", int64_t{3}}}}});
    for (const AttrSpec &attr : spec.attrs) {
      Attr wrong = attr.kind == AttrKind::Int ? Attr(true) : Attr(int64_t{7});
      expectAll({{spec.name, "attrs", operands, {{attr.name, wrong}}}});
      if (!attr.allowed.empty())
        expectAll({{spec.name, "attrs", operands, {{attr.name, Text("??")}}}});
    }
    bool required = false;
    for (const AttrSpec &attr : spec.attrs)
      required |= !attr.defaultValue;
    if (required)
      expectAll({{spec.name, "attrs", operands, {}}});
  }
}

TEST(Constraints, UnknownOp) {
  AttrMap attrs;
  InferResult result = inferOp("matmull", "mine", {}, {}, attrs);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().rule, "op.name");
  EXPECT_EQ(result.error().where, "op 'mine' (matmull)");
}

} // namespace
