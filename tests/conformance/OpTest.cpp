//===- OpTest.cpp - every op in every dtype at every size -----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/OpCases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

using namespace azulejo;
using namespace azulejo::conformance;

namespace {

class OpConformance : public testing::TestWithParam<size_t> {};

TEST_P(OpConformance, AgreesWithTheOracleAtEverySize) {
  const OpCase &one = opCases()[GetParam()];
  checkEverywhere(one.sketch, one.sizes, one.options);
}

std::string nameOf(const testing::TestParamInfo<size_t> &info) {
  return opCases()[info.param].label;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpConformance,
                         testing::Range<size_t>(0, opCases().size()), nameOf);

TEST(OpCoverage, EveryOpInEveryDTypeItTakes) {
  std::set<std::string> ops;
  std::set<std::pair<std::string, DType>> rows;
  for (const OpCase &one : opCases()) {
    ops.insert(one.op);
    rows.insert({one.op, one.dtype});
  }
  for (const opset::OpSpec &spec : opset::allOps()) {
    EXPECT_TRUE(ops.count(spec.name)) << spec.name << " has no case";
    if (spec.minOperands != 1 || spec.maxOperands != 1)
      continue;
    // Which dtypes an op of one tensor takes, its rules say.
    for (int i = 0; i < kDTypeCount; ++i) {
      DType dtype = static_cast<DType>(i);
      graph::TensorType type{dtype, {Dim(4), Dim(6)}};
      AttrMap attrs;
      for (const opset::AttrSpec &attr : spec.attrs)
        if (!attr.defaultValue) {
          if (attr.name == "axes")
            attrs["axes"] = Ints{0};
          else if (attr.name == "perm")
            attrs["perm"] = Ints{1, 0};
          else if (attr.name == "starts")
            attrs["starts"] = Ints{0, 0};
          else if (attr.name == "steps")
            attrs["steps"] = Ints{1, 1};
          else if (attr.kind == opset::AttrKind::Shape)
            attrs[attr.name] = type.shape;
          else if (attr.kind == opset::AttrKind::Float)
            attrs[attr.name] = 0.;
          else if (attr.kind == opset::AttrKind::DType)
            attrs[attr.name] = DType::F32;
        }
      std::string name = "x";
      if (dtype != DType::F64 &&
          opset::inferOp(spec.name, "", {&type, 1}, {&name, 1}, attrs)) {
        EXPECT_TRUE(rows.count({spec.name, dtype}))
            << spec.name << " has no case for " << dtypeName(dtype);
      }
    }
  }
}

/// Zeros, infinities, NaN, subnormals, the ends of the range, at a length with
/// a vector body and a tail.
class SpecialValues
    : public testing::TestWithParam<std::tuple<std::string, DType>> {};

std::vector<double> specialValues(DType dtype) {
  double inf = std::numeric_limits<double>::infinity();
  double largest = dtype == DType::F16 ? 65504 : 3.3895313892515355e38;
  double tiny = dtype == DType::F16    ? 0x1p-24
                : dtype == DType::BF16 ? 0x1p-133
                                       : 0x1p-149;
  double normal = dtype == DType::F16 ? 0x1p-14 : 0x1p-126;
  return {0.,   -0.,     inf,      -inf,   std::nan(""), 1.,     -1.,
          tiny, -tiny,   3.,       normal, -normal,      100.,   -100.,
          88.5, -88.5,   -104.,    1000.,  -1000.,       20000., -20000.,
          0.5,  largest, -largest, 11.,    -11.,         -0.5,   -20.};
}

TEST_P(SpecialValues, AgreeWithTheOracle) {
  auto [op, dtype] = GetParam();
  Sketch s;
  Dim n = s.dim("N");
  ValueId x = s.input(dtype, {n}, values(specialValues(dtype)));
  AttrMap attrs;
  if (op == "clamp")
    attrs = {{"low", -0.25}, {"high", 0.75}};
  s.output(s.op(op, {x}, attrs));
  s.output(s.op("neg", {s.op(op, {x}, attrs)}));
  Options options;
  options.expectNan = true;
  checkEverywhere(s, {{{"N", 28}}, {{"N", 61}}, {{"N", 5}}}, options);
}

INSTANTIATE_TEST_SUITE_P(
    Unary, SpecialValues,
    testing::Combine(testing::Values("exp", "exp2", "log", "sqrt", "rsqrt",
                                     "tanh", "sigmoid", "silu", "gelu_erf",
                                     "gelu_tanh", "neg", "abs", "relu",
                                     "clamp"),
                     testing::ValuesIn(kFloats)),
    [](const auto &info) {
      return std::get<0>(info.param) + "_" +
             std::string(dtypeName(std::get<1>(info.param)));
    });

/// Every pair of special values.
TEST(SpecialPairs, AgreeWithTheOracle) {
  for (const char *op : {"add", "sub", "mul", "div", "min", "max", "compare"})
    for (DType dtype : kFloats)
      for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        AttrMap attrs;
        if (std::string(op) == "compare")
          attrs["predicate"] = std::string(predicate);
        else if (std::string(predicate) != "eq")
          continue;
        SCOPED_TRACE(std::string(op) + " " + predicate + " " +
                     std::string(dtypeName(dtype)));
        std::vector<double> list = specialValues(dtype);
        Sketch s;
        ValueId row = s.input(dtype, {Dim(28)}, values(list)),
                column = s.input(dtype, {Dim(28), Dim(1)}, values(list));
        s.output(s.op(op, {row, column}, attrs));
        Options options;
        options.expectNan = true;
        checkEverywhere(s, {{}}, options);
      }
}

/// Large arguments need a reduction by more than a few multiples of pi.
TEST(SpecialValuesOf, SineAndCosineOfLargeArguments) {
  for (const char *op : {"sin", "cos"})
    for (DType dtype : kFloats) {
      SCOPED_TRACE(std::string(op) + " " + std::string(dtypeName(dtype)));
      Sketch s;
      s.output(s.op(
          op, {s.input(dtype, {Dim(4), Dim(257)}, uniform(-30000, 30000))}));
      checkEverywhere(s, {{}});
    }
}

} // namespace
