//===- LaneFunction.cpp - emitted arithmetic made callable ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/ir/scalar/LaneFunction.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace mlir;

namespace azulejo::scalar {

LaneFunction::LaneFunction(int operands, int lanes, const Build &build,
                           const std::vector<std::string> &features)
    : lanes(std::max(lanes, 1)) {
  compile(operands, lanes, build, features);
}

LaneFunction::~LaneFunction() = default;

std::vector<float> LaneFunction::operator()(std::vector<float> x,
                                            std::vector<float> y) const {
  size_t count = x.size(), padded = (count + lanes - 1) / lanes * lanes;
  x.resize(padded);
  y.resize(padded);
  std::vector<float> out(padded);
  for (size_t i = 0; i < padded; i += lanes)
    kernel(&x[i], &y[i], &out[i]);
  out.resize(count);
  return out;
}

/// void kernel(x, y, out); null where `build` gives nothing of the right type.
static OwningOpRef<ModuleOp> buildModule(MLIRContext &context, int operands,
                                         int lanes,
                                         const LaneFunction::Build &build) {
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto pointer = LLVM::LLVMPointerType::get(&context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context),
                                          {pointer, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, "kernel", type);
  Block *block = function.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  Type f32 = b.getF32Type();
  Type shape = lanes ? Type(VectorType::get({lanes}, f32)) : f32;
  SmallVector<Value> values;
  for (int i = 0; i < operands; ++i)
    values.push_back(
        LLVM::LoadOp::create(b, loc, shape, block->getArgument(i), 4));
  Value result = build(b, loc, values);
  if (!result || result.getType() != shape)
    return {};
  LLVM::StoreOp::create(b, loc, result, block->getArgument(2), 4);
  LLVM::ReturnOp::create(b, loc, ValueRange());
  if (failed(verify(*module)))
    return {};
  return module;
}

void LaneFunction::compile(int operands, int lanes, const Build &build,
                           const std::vector<std::string> &features) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context
      .loadDialect<arith::ArithDialect, math::MathDialect, LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = buildModule(context, operands, lanes, build);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  load(*module, features);
}

/// What a kernel goes through must not change results either.
static void optimize(llvm::Module &code, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(code, modules);
}

void LaneFunction::load(ModuleOp module,
                        const std::vector<std::string> &features) {
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, *context);
  ASSERT_TRUE(code);
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  ASSERT_TRUE(bool(host));
  host->addFeatures(features);
  auto machine = host->createTargetMachine();
  ASSERT_TRUE(bool(machine));
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  optimize(*code, **machine);
  auto made = llvm::orc::LLJITBuilder()
                  .setJITTargetMachineBuilder(std::move(*host))
                  .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                  .setLinkProcessSymbolsByDefault(false)
                  .create();
  ASSERT_TRUE(bool(made));
  jit = std::move(*made);
  ASSERT_FALSE(bool(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(code), std::move(context)))));
  // No process symbols are visible, so a call of libm would fail here.
  auto symbol = jit->lookup("kernel");
  ASSERT_TRUE(bool(symbol));
  kernel = symbol->toPtr<void (*)(const float *, const float *, float *)>();
}

} // namespace azulejo::scalar
