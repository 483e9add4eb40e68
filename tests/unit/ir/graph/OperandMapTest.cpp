//===- OperandMapTest.cpp - where results read their operands -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace azulejo;
using opset::AttrMap;
using opset::Dim;
using opset::DType;
using opset::Shape;

namespace {

const Dim B = Dim::symbol("B"), S = Dim::symbol("S");

class OperandMap : public testing::Test {
protected:
  OperandMap() : builder(&context) {
    context.loadDialect<func::FuncDialect, graphir::GraphDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
  }

  Operation *make(StringRef kind, std::vector<Shape> operands,
                  AttrMap attrs = {}) {
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> types;
    for (const Shape &shape : operands)
      types.push_back(graphir::fromOpset(&context, {DType::F32, shape}));
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "f",
                                         builder.getFunctionType(types, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    return graphir::createGraphOp(builder, builder.getUnknownLoc(), kind,
                                  function.getArguments(), attrs);
  }

  /// The map as text, symbols as "; s0 = ..." behind it.
  std::string map(Operation *op, unsigned operand = 0) {
    SmallVector<Dim> symbols;
    FailureOr<AffineMap> map =
        cast<graphir::IndexingOpInterface>(op).operandMap(operand, symbols);
    if (failed(map))
      return "failure";
    EXPECT_EQ(map->getNumSymbols(), symbols.size());
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << *map;
    for (auto [i, symbol] : llvm::enumerate(symbols))
      stream << "; s" << i << " = " << symbol.str();
    return text;
  }

  std::string reshape(Shape from, Shape to) {
    return map(make("reshape", {from}, {{"shape", to}}));
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(OperandMap, ElementwiseOperandsBroadcast) {
  Operation *add = make("add", {{B, 1, 8}, {S, 8}});
  EXPECT_EQ(map(add, 0), "(d0, d1, d2) -> (d0, 0, d2)");
  EXPECT_EQ(map(add, 1), "(d0, d1, d2) -> (d1, d2)");
  EXPECT_EQ(map(make("add", {{4}, {}}), 1), "(d0) -> ()");
}

TEST_F(OperandMap, Moves) {
  EXPECT_EQ(map(make("broadcast", {{1, 8}}, {{"shape", Shape{B, S, 8}}})),
            "(d0, d1, d2) -> (0, d2)");
  EXPECT_EQ(map(make("transpose", {{B, S, 8}},
                     {{"perm", std::vector<int64_t>{2, 0, 1}}})),
            "(d0, d1, d2) -> (d1, d2, d0)");
  EXPECT_EQ(map(make("slice", {{16, S}},
                     {{"starts", std::vector<int64_t>{3, 0}},
                      {"sizes", Shape{4, S}},
                      {"steps", std::vector<int64_t>{2, 1}}})),
            "(d0, d1) -> (d0 * 2 + 3, d1)");
}

// Heads split from and merged into channels, the common case, must not involve
// the batch and sequence axes.
TEST_F(OperandMap, ReshapeWorksPerGroup) {
  EXPECT_EQ(reshape({B, S, 512}, {B, S, 8, 64}),
            "(d0, d1, d2, d3) -> (d0, d1, d2 * 64 + d3)");
  EXPECT_EQ(reshape({B, S, 8, 64}, {B, S, 512}),
            "(d0, d1, d2) -> (d0, d1, d2 floordiv 64, d2 mod 64)");
  EXPECT_EQ(reshape({B, S, 8}, {B * S, 8}),
            "(d0, d1)[s0] -> (d0 floordiv s0, d0 mod s0, d1); s0 = S");
  EXPECT_EQ(reshape({B * S, 8}, {B, S, 8}),
            "(d0, d1, d2)[s0] -> (d0 * s0 + d1, d2); s0 = S");
  EXPECT_EQ(reshape({4, 6}, {6, 4}),
            "(d0, d1) -> ((d0 * 4 + d1) floordiv 6, (d0 * 4 + d1) mod 6)");
}

TEST_F(OperandMap, ReshapeSkipsAxesOfOne) {
  EXPECT_EQ(reshape({1, S, 1}, {S}), "(d0) -> (0, d0, 0)");
  EXPECT_EQ(reshape({S}, {1, S, 1}), "(d0, d1, d2) -> (d1)");
  EXPECT_EQ(reshape({1}, {}), "() -> (0)");
}

TEST_F(OperandMap, ReshapeOfNothing) {
  EXPECT_EQ(reshape({0, 3}, {5, 0}), "(d0, d1) -> (0, 0)");
}

// Row-major order is kept: enumerate every coordinate of a static reshape.
TEST_F(OperandMap, ReshapeKeepsRowMajorOrder) {
  std::vector<Shape> shapes = {{24},         {2, 12},   {4, 6},      {6, 4},
                               {2, 3, 4},    {4, 3, 2}, {3, 8},      {1, 24, 1},
                               {2, 1, 3, 4}, {8, 3, 1}, {2, 2, 2, 3}};
  for (const Shape &from : shapes)
    for (const Shape &to : shapes) {
      Operation *op = make("reshape", {from}, {{"shape", to}});
      SmallVector<Dim> symbols;
      AffineMap map =
          *cast<graphir::IndexingOpInterface>(op).operandMap(0, symbols);
      auto sizes = *opset::staticShape(to), source = *opset::staticShape(from);
      for (int64_t linear = 0; linear < 24; ++linear) {
        SmallVector<Attribute> index(sizes.size()), read;
        int64_t rest = linear;
        for (size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis])
          index[axis] = builder.getIndexAttr(rest % sizes[axis]);
        ASSERT_TRUE(succeeded(map.constantFold(index, read)));
        int64_t found = 0;
        for (auto [size, value] : llvm::zip(source, read))
          found = found * size + cast<IntegerAttr>(value).getInt();
        ASSERT_EQ(found, linear)
            << opset::shapeStr(from) << " to " << opset::shapeStr(to);
      }
    }
}

TEST_F(OperandMap, SymbolsAreSharedBetweenMaps) {
  SmallVector<Dim> symbols{S};
  Operation *op = make("reshape", {{B, S}}, {{"shape", Shape{B * S}}});
  AffineMap map =
      *cast<graphir::IndexingOpInterface>(op).operandMap(0, symbols);
  EXPECT_EQ(symbols.size(), 1u);
  EXPECT_EQ(map.getNumSymbols(), 1u);
}

TEST_F(OperandMap, ReductionsSayWhatTheyFold) {
  auto reduce = cast<graphir::ReductionOpInterface>(
      make("reduce_max", {{B, S, 8}},
           {{"axes", std::vector<int64_t>{2, 0}}, {"keepdims", true}}));
  EXPECT_EQ(reduce.getReducedAxes(), (SmallVector<int64_t>{0, 2}));
  EXPECT_TRUE(reduce.keepsDims());
  EXPECT_EQ(reduce.getReductionKind(), graphir::ReductionKind::Max);
  auto bottom = cast<FloatAttr>(reduce.getIdentity(builder.getF32Type()));
  EXPECT_TRUE(bottom.getValue().isInfinity() && bottom.getValue().isNegative());
  auto least = cast<IntegerAttr>(reduce.getIdentity(builder.getI32Type()));
  EXPECT_EQ(least.getInt(), INT32_MIN);
}

TEST_F(OperandMap, CreateReportsBrokenRules) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_EQ(make("add", {{2}, {3}}), nullptr);
  EXPECT_NE(message.find("[add.C1]"), std::string::npos) << message;
  EXPECT_EQ(make("frobnicate", {{2}}), nullptr);
  EXPECT_NE(message.find("[op.name]"), std::string::npos) << message;
  EXPECT_EQ(make("broadcast", {{1}}, {{"shape", Shape{-4}}}), nullptr);
  EXPECT_NE(message.find("[graph.size]"), std::string::npos) << message;
}

} // namespace
