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

} // namespace
