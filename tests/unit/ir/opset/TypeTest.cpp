//===- TypeTest.cpp - element types and shapes ----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/opset/Type.h"

#include <gtest/gtest.h>

using namespace azulejo;
using namespace azulejo::opset;

namespace {

TEST(DTypes, NamesRoundTrip) {
  for (int i = 0; i < kDTypeCount; ++i) {
    DType dtype = static_cast<DType>(i);
    EXPECT_EQ(parseDType(dtypeName(dtype)), dtype);
    EXPECT_GT(dtypeBytes(dtype), 0);
  }
  EXPECT_FALSE(parseDType("float"));
  EXPECT_FALSE(parseDType(""));
}

TEST(DTypes, EachIsOneKind) {
  EXPECT_TRUE(isFloat(DType::F8E5M2) && isFloat(DType::F64));
  EXPECT_FALSE(isFloat(DType::I1) || isInteger(DType::I1));
  EXPECT_TRUE(isInteger(DType::I8) && isInteger(DType::I64));
}

TEST(Promote, TakesTheWiderOfOneKindAndAFloatOverAnInteger) {
  EXPECT_EQ(promote(DType::F16, DType::F32), DType::F32);
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promote(DType::I64, DType::F16), DType::F16);
  EXPECT_EQ(promote(DType::I1, DType::I8), DType::I8);
  EXPECT_EQ(promote(DType::I1, DType::BF16), DType::BF16);
  EXPECT_EQ(promote(DType::I32, DType::I64), DType::I64);
}

TEST(Promote, IsSymmetricAndIdempotent) {
  for (int i = 0; i < kDTypeCount; ++i)
    for (int j = 0; j < kDTypeCount; ++j) {
      DType a = static_cast<DType>(i), b = static_cast<DType>(j);
      EXPECT_EQ(promote(a, b), promote(b, a))
          << dtypeName(a) << " " << dtypeName(b);
      EXPECT_EQ(promote(a, a), a);
    }
}

TEST(Shapes, PrintAndCount) {
  Dim b = Dim::symbol("B"), s = Dim::symbol("S");
  Shape shape{b, s, 384};
  EXPECT_EQ(shapeStr(shape), "[B, S, 384]");
  EXPECT_EQ(elementCount(shape).str(), "384*B*S");
  EXPECT_EQ(elementCount({}).constant(), 1);
  EXPECT_EQ(elementCount({b, 0}).constant(), 0);
  EXPECT_FALSE(staticShape(shape));
  EXPECT_EQ(staticShape({2, 3}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((TensorType{DType::BF16, shape}.str()), "bf16[B, S, 384]");
}

} // namespace
