//===- LaneAnalysisTest.cpp - what divides an index -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/LaneAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace azulejo;

namespace {

class LaneAnalysis : public testing::Test {
protected:
  LaneAnalysis() {
    context.loadDialect<arith::ArithDialect>();
    module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value times(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OpBuilder b{&context};
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module;
};

TEST_F(LaneAnalysis, ConstantsAreDividedByTheirLowestBit) {
  const std::pair<int64_t, int64_t> cases[] = {
      {1, 1},          {6, 2},    {-8, 8}, {4096, 4096},   {12288, 4096},
      {1 << 20, 4096}, {0, 4096}, {-1, 1}, {INT64_MAX, 1}, {INT64_MIN, 4096}};
  for (auto [value, divisor] : cases)
    EXPECT_EQ(gpu::knownDivisor(constant(value)), divisor) << value;

  EXPECT_EQ(gpu::knownDivisor(times(constant(12), constant(INT64_MIN))), 4096);
  EXPECT_EQ(gpu::knownDivisor(plus(constant(12), constant(INT64_MIN))), 4);
}

// What is no power of two, too: tiles may have 96 or 224 columns.
TEST_F(LaneAnalysis, MultiplesOfAnyNumberAreFoundThroughProductsAndSums) {
  Value unknown = arith::AndIOp::create(b, loc, constant(7), constant(3));
  Value item = times(unknown, constant(224));
  for (int64_t divisor : {1, 2, 7, 32, 112, 224})
    EXPECT_TRUE(gpu::isMultipleOf(item, divisor)) << divisor;
  for (int64_t divisor : {3, 64, 448})
    EXPECT_FALSE(gpu::isMultipleOf(item, divisor)) << divisor;
  // Each factor has a part.
  EXPECT_TRUE(gpu::isMultipleOf(times(constant(32), item), 64 * 7));
  EXPECT_TRUE(gpu::isMultipleOf(times(item, constant(3)), 3 * 224));
  EXPECT_FALSE(gpu::isMultipleOf(times(item, constant(3)), 9));
  EXPECT_TRUE(gpu::isMultipleOf(times(unknown, item), 224));
  EXPECT_TRUE(gpu::isMultipleOf(plus(item, constant(448)), 224));
  EXPECT_FALSE(gpu::isMultipleOf(plus(item, constant(32)), 224));
  EXPECT_FALSE(gpu::isMultipleOf(unknown, 2));
  EXPECT_TRUE(gpu::isMultipleOf(times(item, constant(0)), 5));
  EXPECT_TRUE(gpu::isMultipleOf(times(constant(INT64_MIN), item), 224));
}

} // namespace
