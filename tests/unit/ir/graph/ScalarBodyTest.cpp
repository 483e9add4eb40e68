//===- ScalarBodyTest.cpp - what scalar bodies compute --------------------===//
//
// Emits an op's body on constants, lets MLIR fold it, and reads the answer.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace azulejo;
using opset::AttrMap;
using opset::DType;

namespace {

/// arith's own folder leaves a truncf that loses bits to the target. Rounding
/// to nearest even is what every target of ours does.
struct FoldTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr in;
    auto to = dyn_cast<FloatType>(op.getType());
    if (!to || !matchPattern(op.getIn(), m_Constant(&in)))
      return failure();
    APFloat value = in.getValue();
    bool loses;
    value.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                   FloatAttr::get(to, value));
    return success();
  }
};

/// math has no folder for fma.
struct FoldFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr a, b, c;
    if (!matchPattern(op.getA(), m_Constant(&a)) ||
        !matchPattern(op.getB(), m_Constant(&b)) ||
        !matchPattern(op.getC(), m_Constant(&c)))
      return failure();
    APFloat value = a.getValue();
    value.fusedMultiplyAdd(b.getValue(), c.getValue(),
                           APFloat::rmNearestTiesToEven);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, FloatAttr::get(op.getType(), value));
    return success();
  }
};

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

class ScalarBody : public testing::Test {
protected:
  ScalarBody() : builder(&context) {
    context.loadDialect<func::FuncDialect, arith::ArithDialect,
                        math::MathDialect, graphir::GraphDialect>();
  }

  /// The value of op `kind` on scalars of these element types. With `vector`
  /// the body is only made, on vectors, and verified; the answer is then how
  /// many of its ops do not map elementwise.
  double run(StringRef kind, std::vector<DType> types,
             std::vector<double> values, AttrMap attrs = {},
             bool vector = false) {
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> tensors;
    for (DType type : types)
      tensors.push_back(graphir::fromOpset(&context, {type, {}}));
    auto function = func::FuncOp::create(builder, loc, "f",
                                         builder.getFunctionType(tensors, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    Operation *op = graphir::createGraphOp(builder, loc, kind,
                                           block->getArguments(), attrs);
    EXPECT_NE(op, nullptr);
    SmallVector<Value> scalars;
    for (auto [type, value] : llvm::zip(types, values))
      scalars.push_back(constant(type, value, vector));
    Value body = cast<graphir::ElementwiseOpInterface>(op).emitScalar(
        builder, loc, scalars);
    Type element = getElementTypeOrSelf(body);
    EXPECT_EQ(element, graphir::computeType(
                           getElementTypeOrSelf(op->getResult(0).getType())));
    EXPECT_EQ(isa<VectorType>(body.getType()), vector);
    func::ReturnOp::create(builder, loc, body);
    function.setFunctionType(
        builder.getFunctionType(tensors, {body.getType()}));
    EXPECT_TRUE(succeeded(verify(*module)));
    if (vector)
      return llvm::count_if(*block, [&](Operation &made) {
        return &made != op && !isa<arith::ConstantOp, func::ReturnOp>(made) &&
               !OpTrait::hasElementwiseMappableTraits(&made);
      });
    RewritePatternSet patterns(&context);
    patterns.add<FoldTruncF, FoldFma>(&context);
    EXPECT_TRUE(succeeded(applyPatternsGreedily(*module, std::move(patterns))));
    auto exit = cast<func::ReturnOp>(block->getTerminator());
    auto folded = exit.getOperand(0).getDefiningOp<arith::ConstantOp>();
    EXPECT_TRUE(folded) << "the body of " << kind.str() << " did not fold";
    return folded ? valueOf(folded.getValue()) : 12345.0;
  }

  double unary(StringRef kind, double x) {
    return run(kind, {DType::F32}, {x});
  }
  double cast_(DType from, DType to, double x) {
    return run("cast", {from}, {x}, {{"dtype", to}});
  }

private:
  Value constant(DType type, double value, bool vector) {
    Type element = graphir::computeType(graphir::fromDType(&context, type));
    Location loc = builder.getUnknownLoc();
    TypedAttr attr;
    if (isa<FloatType>(element))
      attr = builder.getFloatAttr(element, value);
    else
      attr = builder.getIntegerAttr(element, static_cast<int64_t>(value));
    if (vector)
      attr = DenseElementsAttr::get(VectorType::get({2}, element),
                                    Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }

  static double valueOf(Attribute attr) {
    if (auto number = dyn_cast<FloatAttr>(attr))
      return number.getValueAsDouble();
    auto integer = cast<IntegerAttr>(attr);
    if (integer.getType().isInteger(1))
      return integer.getValue().getBoolValue();
    return static_cast<double>(integer.getInt());
  }

  MLIRContext context;
  OpBuilder builder;
};

TEST_F(ScalarBody, ActivationsAreStableFarOut) {
  for (StringRef kind : {"silu", "gelu_tanh", "gelu_erf"}) {
    EXPECT_EQ(unary(kind, -kInf), 0.0) << kind.str();
    EXPECT_EQ(unary(kind, -1000), 0.0) << kind.str();
    EXPECT_EQ(unary(kind, 1000), 1000.0) << kind.str();
    EXPECT_EQ(unary(kind, kInf), kInf) << kind.str();
    EXPECT_TRUE(std::isnan(unary(kind, kNan))) << kind.str();
  }
  EXPECT_EQ(unary("sigmoid", -1000), 0.0);
  EXPECT_EQ(unary("sigmoid", 1000), 1.0);
  EXPECT_EQ(unary("sigmoid", 0), 0.5);
}

TEST_F(ScalarBody, ActivationsMatchTheirFormulas) {
  for (double x : {-3.0, -0.5, 0.25, 2.0}) {
    EXPECT_NEAR(unary("silu", x), x / (1 + std::exp(-x)), 1e-6);
    EXPECT_NEAR(unary("gelu_erf", x),
                0.5 * x * (1 + std::erf(x / std::sqrt(2.0))), 1e-6);
    double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    EXPECT_NEAR(unary("gelu_tanh", x), 0.5 * x * (1 + std::tanh(inner)), 1e-6);
    EXPECT_NEAR(unary("exp2", x), std::exp2(x), 1e-5);
    EXPECT_NEAR(unary("tanh", x), std::tanh(x), 1e-6);
  }
}

TEST_F(ScalarBody, ReluKeepsNanAndDropsTheSignOfZero) {
  EXPECT_TRUE(std::isnan(unary("relu", kNan)));
  EXPECT_FALSE(std::signbit(unary("relu", -0.0)));
  EXPECT_EQ(unary("relu", -3), 0.0);
  EXPECT_EQ(unary("relu", 3), 3.0);
  EXPECT_EQ(run("relu", {DType::I32}, {-3}), 0.0);
}

TEST_F(ScalarBody, MinAndMaxPropagateNan) {
  for (StringRef kind : {"min", "max"}) {
    EXPECT_TRUE(std::isnan(run(kind, {DType::F32, DType::F32}, {kNan, 1})));
    EXPECT_TRUE(std::isnan(run(kind, {DType::F32, DType::F32}, {1, kNan})));
  }
  EXPECT_EQ(run("min", {DType::I64, DType::I64}, {-1, 1}), -1);
  EXPECT_EQ(run("max", {DType::I64, DType::I64}, {-1, 1}), 1);
}

TEST_F(ScalarBody, MixedOperandsArePromoted) {
  EXPECT_EQ(run("add", {DType::I32, DType::F16}, {3, 0.5}), 3.5);
  EXPECT_EQ(run("mul", {DType::I1, DType::I32}, {1, 7}), 7);
  EXPECT_EQ(run("sub", {DType::I32, DType::I64}, {-1, 5}), -6);
  EXPECT_EQ(run("div", {DType::F32, DType::I64}, {1, 4}), 0.25);
  EXPECT_EQ(run("where", {DType::I1, DType::I32, DType::F32}, {1, 3, 0.5}), 3);
  EXPECT_EQ(run("where", {DType::I1, DType::I32, DType::F32}, {0, 3, 0.5}),
            0.5);
}

TEST_F(ScalarBody, CompareTreatsNanAsUnequal) {
  auto compare = [&](const char *predicate, DType type, double a, double b) {
    return run("compare", {type, type}, {a, b},
               {{"predicate", std::string(predicate)}}) != 0;
  };
  for (const char *predicate : {"eq", "lt", "le", "gt", "ge"})
    EXPECT_FALSE(compare(predicate, DType::F32, kNan, 1)) << predicate;
  EXPECT_TRUE(compare("ne", DType::F32, kNan, kNan));
  EXPECT_TRUE(compare("lt", DType::I32, -1, 0));
  EXPECT_TRUE(compare("lt", DType::I1, 0, 1));
  EXPECT_TRUE(compare("ge", DType::F32, 2, 2));
}

TEST_F(ScalarBody, LogicAndIntegers) {
  EXPECT_EQ(run("and", {DType::I1, DType::I1}, {1, 0}), 0);
  EXPECT_EQ(run("or", {DType::I1, DType::I1}, {1, 0}), 1);
  EXPECT_EQ(run("not", {DType::I1}, {1}), 0);
  EXPECT_EQ(run("not", {DType::I1}, {0}), 1);
  EXPECT_EQ(run("neg", {DType::I32}, {5}), -5);
  EXPECT_EQ(run("abs", {DType::I64}, {-5}), 5);
}

TEST_F(ScalarBody, Clamp) {
  auto clamp = [&](DType type, double x, double low, double high) {
    return run("clamp", {type}, {x}, {{"low", low}, {"high", high}});
  };
  EXPECT_EQ(clamp(DType::F32, 5, -1, 1), 1);
  EXPECT_EQ(clamp(DType::F32, -5, -1, 1), -1);
  EXPECT_TRUE(std::isnan(clamp(DType::F32, kNan, -1, 1)));
  EXPECT_EQ(clamp(DType::I32, 9, -2.5, 2.5), 2);
  EXPECT_EQ(clamp(DType::I32, -9, -2.5, 2.5), -2);
  EXPECT_EQ(clamp(DType::I64, 9, -kInf, kInf), 9);
}

TEST_F(ScalarBody, CastRoundsFloats) {
  EXPECT_EQ(cast_(DType::F32, DType::F16, 1.0 + 0x1p-12), 1.0);
  EXPECT_EQ(cast_(DType::F32, DType::F16, 1e6), kInf);
  EXPECT_EQ(cast_(DType::F32, DType::BF16, 1.0 + 0x1p-7), 1.0 + 0x1p-7);
  EXPECT_EQ(cast_(DType::F32, DType::BF16, 1.0 + 0x1p-9), 1.0);
  EXPECT_EQ(cast_(DType::F32, DType::F8E4M3, 17), 16);
  EXPECT_EQ(cast_(DType::F32, DType::F8E4M3, 1e6), 448);
  EXPECT_EQ(cast_(DType::F32, DType::F8E5M2, -kInf), -57344);
  EXPECT_TRUE(std::isnan(cast_(DType::F32, DType::F8E4M3, kNan)));
  EXPECT_EQ(cast_(DType::I64, DType::F16, 2049), 2048);
}

TEST_F(ScalarBody, CastToIntegersSaturates) {
  EXPECT_EQ(cast_(DType::F32, DType::I32, -2.9), -2);
  EXPECT_EQ(cast_(DType::F32, DType::I32, kNan), 0);
  EXPECT_EQ(cast_(DType::F32, DType::I32, 3e9), 2147483647.0);
  EXPECT_EQ(cast_(DType::F32, DType::I32, -kInf), -2147483648.0);
  EXPECT_EQ(cast_(DType::F32, DType::I64, 1e30), 0x1p63);
  EXPECT_EQ(cast_(DType::F16, DType::I8, 127.9), 127);
  EXPECT_EQ(cast_(DType::F16, DType::I8, 300), 127);
  EXPECT_EQ(cast_(DType::F16, DType::I8, -128.9), -128);
  EXPECT_EQ(cast_(DType::F16, DType::I8, -300), -128);
  EXPECT_EQ(cast_(DType::I32, DType::I8, 200), -56);
  EXPECT_EQ(cast_(DType::I64, DType::I32, 0x1p32 + 5), 5);
  EXPECT_EQ(cast_(DType::I8, DType::F32, -7), -7);
  EXPECT_EQ(cast_(DType::I1, DType::I64, 1), 1);
}

TEST_F(ScalarBody, CastToTruthAsksForNonZero) {
  EXPECT_EQ(cast_(DType::F32, DType::I1, 0.25), 1);
  EXPECT_EQ(cast_(DType::F32, DType::I1, -0.0), 0);
  EXPECT_EQ(cast_(DType::F32, DType::I1, kNan), 1);
  EXPECT_EQ(cast_(DType::I64, DType::I1, 2), 1);
  EXPECT_EQ(cast_(DType::I1, DType::I1, 1), 1);
}

// Every body must be valid on vectors as it stands.
TEST_F(ScalarBody, EveryOpTakesVectors) {
  for (const opset::OpSpec &spec : opset::allOps()) {
    if (spec.opClass != opset::OpClass::Elementwise)
      continue;
    bool logical =
        spec.name == "and" || spec.name == "or" || spec.name == "not";
    AttrMap attrs;
    if (spec.name == "cast")
      attrs = {{"dtype", DType::I32}};
    if (spec.name == "compare")
      attrs = {{"predicate", std::string("lt")}};
    if (spec.name == "clamp")
      attrs = {{"low", 0.0}, {"high", 1.0}};
    std::vector<DType> types(spec.minOperands,
                             logical ? DType::I1 : DType::F32);
    if (spec.name == "where")
      types[0] = DType::I1;
    std::vector<double> values(types.size(), 1.0);
    EXPECT_EQ(run(spec.name, types, values, attrs, /*vector=*/true), 0)
        << spec.name;
  }
}

} // namespace
