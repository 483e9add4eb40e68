//===- PtxTest.cpp - PTX of kernels, and what is done to its text ---------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace azulejo;
using azulejo::codegen::withoutOccupancyGoal;

namespace {

TEST(WithoutOccupancyGoal, AllowsOneBlockPerUnit) {
  EXPECT_EQ(withoutOccupancyGoal(".visible .entry k()\n.reqntid 64, 1, 1\n{"),
            ".visible .entry k()\n.minnctapersm 1\n.reqntid 64, 1, 1\n{");
}

TEST(WithoutOccupancyGoal, LeavesAKernelThatHasOne) {
  std::string ptx =
      ".visible .entry k()\n.reqntid 64, 1, 1\n.minnctapersm 2\n{";
  EXPECT_EQ(withoutOccupancyGoal(ptx), ptx);
}

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

/// Of a kernel that applies `op`, which names %x and %y, so many times.
std::string ptxOf(const std::string &op, int times) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect>();
  codegen::registerPtxTranslation(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string text = "kernel.func @k threads(32) {\n^bb0(%p: i64):\n"
                     "  %c0 = arith.constant 0 : i64\n"
                     "  %c1 = arith.constant 1 : i64\n"
                     "  %x0 = kernel.load f32, %p[%c0] align 4 -> f32\n"
                     "  %y = kernel.load f32, %p[%c1] align 4 -> f32\n";
  for (int i = 0; i < times; ++i) {
    std::string from = "%x" + std::to_string(i), line = op;
    line.replace(line.find("%x"), 2, from);
    text += "  %x" + std::to_string(i + 1) + " = " + line + " : f32\n";
  }
  text += "  kernel.store f32, %p[%c0] align 4, %x" + std::to_string(times) +
          " : f32\n}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  if (!module)
    return "";
  auto code = codegen::emitPtx(*module, *target::resolveTarget("h200"));
  EXPECT_TRUE(code) << code.error().str();
  return code ? code->text : "";
}

// An assembler takes minutes for some hundred of those that branch.
TEST(Branches, ManyDivisionsAndRootsHaveNone) {
  for (const char *op : {"arith.divf %x, %y", "math.sqrt %x"}) {
    std::string branching = op[0] == 'a' ? "div.rn.f32" : "sqrt.rn.f32",
                rough = op[0] == 'a' ? "rcp.approx.ftz" : "rsqrt.approx.ftz";
    std::string few = ptxOf(op, 64), many = ptxOf(op, 65);
    EXPECT_EQ(count(few, branching), 64u);
    EXPECT_EQ(count(few, rough), 0u);
    EXPECT_EQ(count(many, branching), 0u);
    EXPECT_EQ(count(many, rough), op[0] == 'a' ? 1u : 65u);
  }
  // Other functions are made of them.
  auto branches = [](const std::string &text) {
    return count(text, "div.rn") + count(text, "sqrt.rn") +
           count(text, "rcp.rn");
  };
  EXPECT_EQ(branches(ptxOf("math.rsqrt %x", 32)), 64u);
  EXPECT_EQ(branches(ptxOf("math.rsqrt %x", 33)), 0u);
  // What asked for an approximation is none of them.
  EXPECT_EQ(count(ptxOf("arith.divf %x, %y fastmath<afn>", 100), "div.approx"),
            100u);
}

} // namespace
