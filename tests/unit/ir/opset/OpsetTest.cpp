//===- OpsetTest.cpp - what the ops give for right operands ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Opset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace azulejo;
using namespace azulejo::opset;
using testing::HasSubstr;

namespace {

const Dim kB = Dim::symbol("B"), kS = Dim::symbol("S");

struct Case {
  const char *op;
  std::vector<TensorType> operands;
  AttrMap attrs;
  /// The result types, as str() prints them, separated by a space.
  const char *gives;
};

TensorType f32(Shape shape) { return {DType::F32, std::move(shape)}; }
TensorType f16(Shape shape) { return {DType::F16, std::move(shape)}; }
TensorType bf16(Shape shape) { return {DType::BF16, std::move(shape)}; }
TensorType i1(Shape shape) { return {DType::I1, std::move(shape)}; }
TensorType i32(Shape shape) { return {DType::I32, std::move(shape)}; }
TensorType i64(Shape shape) { return {DType::I64, std::move(shape)}; }
using Ints = std::vector<int64_t>;
using Text = std::string;

std::vector<Case> cases() {
  Shape bs{kB, kS}, row{kB, 384}, heads{kB, 12, kS, 32};
  std::vector<Case> all;
  for (const char *op :
       {"exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid",
        "silu", "gelu_erf", "gelu_tanh", "neg", "abs", "relu"})
    all.push_back({op, {bf16(bs)}, {}, "bf16[B, S]"});
  for (const char *op : {"add", "sub", "mul", "min", "max", "div", "pow"})
    all.push_back({op, {f16({kB, 1, 8}), f32({kS, 1})}, {}, "f32[B, S, 8]"});
  for (const char *op : {"and", "or"})
    all.push_back({op, {i1({kS}), i1({kB, 1})}, {}, "i1[B, S]"});
  all.push_back({"not", {i1(bs)}, {}, "i1[B, S]"});
  all.push_back({"compare",
                 {i64({kS}), i64({kS, 1})},
                 {{"predicate", Text("le")}},
                 "i1[S, S]"});
  all.push_back({"where", {i1({kS}), f32({}), f16({kB, 1})}, {}, "f32[B, S]"});
  all.push_back(
      {"clamp", {f32(bs)}, {{"low", 0.0}, {"high", 6.0}}, "f32[B, S]"});
  all.push_back({"cast", {i32(bs)}, {{"dtype", DType::F16}}, "f16[B, S]"});
  for (const char *op : {"reduce_sum", "reduce_max", "reduce_mean"}) {
    all.push_back({op, {f32({kB, kS, 8})}, {{"axes", Ints{2, 0}}}, "f32[S]"});
    all.push_back({op,
                   {f32({kB, kS})},
                   {{"axes", Ints{1}}, {"keepdims", true}},
                   "f32[B, 1]"});
  }
  all.push_back({"softmax", {bf16(bs)}, {{"axis", int64_t{0}}}, "bf16[B, S]"});
  all.push_back(
      {"layer_norm", {f32(row), f32({384}), f32({384})}, {}, "f32[B, 384]"});
  all.push_back({"rms_norm", {f16(row), f32({384})}, {}, "f16[B, 384]"});
  all.push_back({"rope",
                 {f32(heads), f32({kS, 16}), f32({kS, 16})},
                 {{"pairing", Text("interleaved")}},
                 "f32[B, 12, S, 32]"});
  all.push_back({"matmul",
                 {bf16({kB, 1, kS, 64}), bf16({12, 32, 64})},
                 {{"transpose_b", true}},
                 "bf16[B, 12, S, 32]"});
  all.push_back({"matmul",
                 {f16({64, kS}), f32({64, 8})},
                 {{"transpose_a", true}},
                 "f32[S, 8]"});
  all.push_back({"matmul",
                 {f32({8, kS}), f32({kS, 4})},
                 {{"precision", Text("tf32")}},
                 "f32[8, 4]"});
  all.push_back({"attention",
                 {bf16(heads), bf16({kB, 4, 128, 32}), bf16({kB, 4, 128, 16})},
                 {{"scale", 0.5}, {"lse", true}},
                 "bf16[B, 12, S, 16] f32[B, 12, S]"});
  all.push_back({"attention",
                 {f32({kB, kS, 8, 64}), f32({kB, kS, 1, 64}),
                  f32({kB, kS, 1, 64}), i32({kB}), f32({8}), i1({kS, kS})},
                 {{"scale", 0.125},
                  {"layout", Text("bshd")},
                  {"causal", Text("top_left")},
                  {"window", int64_t{128}},
                  {"roles", Text("lengths,slopes,mask")}},
                 "f32[B, S, 8, 64]"});
  all.push_back({"constant",
                 {},
                 {{"value", 1.5}, {"dtype", DType::F16}, {"shape", Shape{kS}}},
                 "f16[S]"});
  all.push_back({"iota",
                 {},
                 {{"shape", Shape{kB, kS}}, {"axis", int64_t{1}}},
                 "i64[B, S]"});
  all.push_back({"broadcast",
                 {f32({kS, 1})},
                 {{"shape", Shape{kB, kS, 8}}},
                 "f32[B, S, 8]"});
  all.push_back({"reshape",
                 {f32({kB, kS, 12, 32})},
                 {{"shape", Shape{kB * kS, 384}}},
                 "f32[B*S, 384]"});
  all.push_back({"transpose",
                 {f32({kB, kS, 8})},
                 {{"perm", Ints{2, 0, 1}}},
                 "f32[8, B, S]"});
  all.push_back(
      {"slice",
       {f32({kS, 10})},
       {{"starts", Ints{0, 1}}, {"sizes", Shape{kS, 3}}, {"steps", Ints{1, 4}}},
       "f32[S, 3]"});
  all.push_back({"concat",
                 {f32({kB, kS}), f32({kB, 1}), f32({kB, kS})},
                 {{"axis", int64_t{1}}},
                 "f32[B, 2*S + 1]"});
  all.push_back(
      {"gather", {f16({30522, 384}), i32({kB, kS})}, {}, "f16[B, S, 384]"});
  all.push_back({"cache_update",
                 {f16({kB, 8, 4096, 64}), f16({kB, 8, 1, 64}), i32({kB})},
                 {{"axis", int64_t{2}}},
                 "f16[B, 8, 4096, 64]"});
  return all;
}

InferResult infer(const Case &c, AttrMap &attrs) {
  std::vector<std::string> names(c.operands.size());
  return inferOp(c.op, "", c.operands, names, attrs);
}

TEST(Opset, RightOperandsGiveTheStatedTypes) {
  for (const Case &c : cases()) {
    AttrMap attrs = c.attrs;
    InferResult result = infer(c, attrs);
    ASSERT_TRUE(result) << c.op << ": " << result.error().str();
    std::string types;
    for (const TensorType &type : *result)
      types += (types.empty() ? "" : " ") + type.str();
    EXPECT_EQ(types, c.gives) << c.op;
  }
}

TEST(Opset, EveryOpHasACase) {
  std::set<std::string> covered;
  for (const Case &c : cases())
    covered.insert(c.op);
  for (const OpSpec &spec : allOps())
    EXPECT_TRUE(covered.count(spec.name)) << spec.name;
}

TEST(Opset, InferenceFillsInEveryDefault) {
  for (const Case &c : cases()) {
    AttrMap attrs = c.attrs;
    ASSERT_TRUE(infer(c, attrs)) << c.op;
    for (const AttrSpec &spec : findOp(c.op)->attrs) {
      ASSERT_TRUE(attrs.count(spec.name)) << c.op << " " << spec.name;
      EXPECT_EQ(kindOf(attrs[spec.name]), spec.kind) << c.op;
    }
    EXPECT_EQ(attrs.size(), findOp(c.op)->attrs.size()) << c.op;
  }
}

TEST(Opset, IsSortedAndFindable) {
  std::span<const OpSpec> ops = allOps();
  for (size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(findOp(ops[i].name), &ops[i]);
    if (i > 0) {
      EXPECT_LT(ops[i - 1].name, ops[i].name);
    }
  }
  EXPECT_EQ(findOp("matmu"), nullptr);
  EXPECT_EQ(findOp(""), nullptr);
}

TEST(Opset, DefaultsAreAllowedValues) {
  for (const OpSpec &spec : allOps())
    for (const AttrSpec &attr : spec.attrs) {
      if (!attr.defaultValue)
        continue;
      EXPECT_EQ(kindOf(*attr.defaultValue), attr.kind) << spec.name;
      if (!attr.allowed.empty()) {
        EXPECT_THAT(attr.allowed,
                    testing::Contains(std::get<Text>(*attr.defaultValue)));
      }
    }
}

TEST(Opset, ErrorsNameTheUsersOpAndTensors) {
  std::vector<TensorType> operands{f32({kS, 64}), f32({32, 64})};
  std::vector<std::string> names{"hidden", "weight"};
  AttrMap attrs;
  InferResult result = inferOp("matmul", "scores", operands, names, attrs);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::InvalidGraph);
  EXPECT_EQ(result.error().where, "op 'scores' (matmul)");
  EXPECT_EQ(result.error().rule, "matmul.C3");
  EXPECT_THAT(result.error().message, HasSubstr("'hidden' f32[S, 64]"));
  EXPECT_THAT(result.error().message, HasSubstr("'weight' f32[32, 64]"));
  EXPECT_THAT(result.error().hint, HasSubstr("transpose_b"));
}

TEST(Broadcast, AlignsAtTheRight) {
  EXPECT_EQ(broadcastShapes({kB, 1, 8}, {kS, 1}), (Shape{kB, kS, 8}));
  EXPECT_EQ(broadcastShapes({}, {kB}), (Shape{kB}));
  EXPECT_FALSE(broadcastShapes({kB}, {kS}));
  EXPECT_FALSE(broadcastShapes({2}, {3}));
  EXPECT_TRUE(broadcastsTo({1, kS}, {kB, kS}));
  EXPECT_FALSE(broadcastsTo({kB, kS}, {1, kS}));
  EXPECT_FALSE(broadcastsTo({kB, kS}, {kS}));
}

TEST(Attention, RolesNameTheOptionalOperands) {
  AttrMap attrs{{"roles", Text("bias,lengths")}};
  EXPECT_EQ(attentionRoles(attrs), (std::vector<Text>{"bias", "lengths"}));
  EXPECT_EQ(attentionOperand(attrs, "k"), 1);
  EXPECT_EQ(attentionOperand(attrs, "bias"), 3);
  EXPECT_EQ(attentionOperand(attrs, "lengths"), 4);
  EXPECT_EQ(attentionOperand(attrs, "mask"), -1);
  EXPECT_TRUE(attentionRoles({}).empty());
}

} // namespace
