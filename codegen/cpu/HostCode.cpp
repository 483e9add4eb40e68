//===- HostCode.cpp - host functions to object code -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/cpu/HostCode.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;

namespace azulejo::codegen {

void registerHostTranslation(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static Error internal(std::string message) {
  return makeError(ErrorCode::Internal, "CPU code generation",
                   std::move(message));
}

static void initialiseTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

static Result<std::unique_ptr<llvm::TargetMachine>>
makeMachine(const target::TargetDesc &target) {
  initialiseTargets();
  std::string arch = target.arch == "x86-64" ? "x86_64" : target.arch;
  llvm::Triple triple(arch + "-unknown-linux-gnu");
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return makeError(ErrorCode::Unsupported, "device '" + target.name + "'",
                     "this build has no backend for " + target.arch, {},
                     "build on a machine of that architecture");
  // No CPU name: a name would switch on features that the operating system may
  // have masked. The feature list alone decides.
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.arch == "x86-64" ? "x86-64" : "generic", target.features,
      options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
  if (!machine)
    return internal("no target machine for " + target.arch);
  return machine;
}

/// Rounds to bf16 by integer arithmetic where the target has no instruction for
/// it. LLVM would call its run-time library, which a flat image has not.
static LogicalResult expandBf16(ModuleOp module,
                                const target::TargetDesc &target) {
  if (StringRef(target.features).contains("avx512bf16"))
    return success();
  RewritePatternSet patterns(module.getContext());
  arith::populateExpandBFloat16Patterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(module, std::move(patterns), config);
}

static LogicalResult lowerToLlvmDialect(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

/// The loops are already in their final form, so a short pipeline is enough:
/// fold, hoist, and leave addressing to the code generator.
static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(llvm::EarlyCSEPass());
  functions.addPass(llvm::InstCombinePass());
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  functions.addPass(llvm::EarlyCSEPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  all.run(module, mam);
}

static std::string emit(llvm::Module &module, llvm::TargetMachine &machine,
                        llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, type))
    return {};
  codegen.run(module);
  return std::string(buffer.begin(), buffer.end());
}

Result<HostImage> compileHost(ModuleOp module, const target::TargetDesc &target,
                              HostText *text) {
  Result<std::unique_ptr<llvm::TargetMachine>> machine = makeMachine(target);
  if (!machine)
    return machine.error();
  if (failed(expandBf16(module, target)) || failed(lowerToLlvmDialect(module)))
    return internal("the kernel did not lower to the LLVM dialect");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "azulejo-kernels");
  if (!llvmModule)
    return internal("the kernel did not translate to LLVM IR");
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  llvmModule->setPICLevel(llvm::PICLevel::SmallPIC);
  for (llvm::Function &function : *llvmModule)
    if (!function.isDeclaration())
      function.setDSOLocal(true);
  optimise(*llvmModule, **machine);
  if (text) {
    llvm::raw_string_ostream stream(text->llvm);
    llvmModule->print(stream, nullptr);
    // Code generation changes the module, so the listing uses a clone.
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
    text->assembly =
        emit(*copy, **machine, llvm::CodeGenFileType::AssemblyFile);
  }
  std::string object =
      emit(*llvmModule, **machine, llvm::CodeGenFileType::ObjectFile);
  if (object.empty())
    return internal("the backend emitted no object");
  return linkFlat(object);
}

} // namespace azulejo::codegen
