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

TEST(LaneAnalysis, ConstantsAreDividedByTheirLowestBit) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect>();
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  const std::pair<int64_t, int64_t> cases[] = {
      {1, 1},          {6, 2},    {-8, 8}, {4096, 4096},   {12288, 4096},
      {1 << 20, 4096}, {0, 4096}, {-1, 1}, {INT64_MAX, 1}, {INT64_MIN, 4096}};
  for (auto [value, divisor] : cases)
    EXPECT_EQ(gpu::knownDivisor(constant(value)), divisor) << value;

  Value product =
      arith::MulIOp::create(b, loc, constant(12), constant(INT64_MIN));
  EXPECT_EQ(gpu::knownDivisor(product), 4096);
  Value sum = arith::AddIOp::create(b, loc, constant(12), constant(INT64_MIN));
  EXPECT_EQ(gpu::knownDivisor(sum), 4);
}

// What is no power of two, too: tiles may have 96 or 224 columns.
TEST(LaneAnalysis, MultiplesOfAnyNumberAreFoundThroughProductsAndSums) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect>();
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(b, loc, x, y);
  };
  auto plus = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, loc, x, y);
  };
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
