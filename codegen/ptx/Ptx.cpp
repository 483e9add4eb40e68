//===- Ptx.cpp - from the LLVM dialect to PTX text ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Ptx.h"
#include "codegen/ptx/AsyncLowering.h"
#include "codegen/ptx/SharedMemory.h"

#include "ir/kernel/Kernel.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

// By hand: the umbrella header wants every backend of the LLVM build.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;

namespace azulejo::codegen {

void registerPtxTranslation(DialectRegistry &registry) {
  registry.insert<kernel::KernelDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static Error internal(std::string message) {
  return makeError(ErrorCode::Internal, "PTX code generation",
                   std::move(message));
}

static Result<std::unique_ptr<llvm::TargetMachine>>
makeMachine(const target::TargetDesc &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Shared memory fits 32-bit addresses, which cost half the registers. The
    // backend has no other way to ask for them.
    auto option = llvm::cl::getRegisteredOptions().find("nvptx-short-ptr");
    if (option != llvm::cl::getRegisteredOptions().end())
      option->second->addOccurrence(0, "nvptx-short-ptr", "true");
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return internal("this build has no NVPTX backend");
  std::string version = "+ptx" + std::to_string(target.ptxVersion);
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.arch, version, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return internal("no target machine for " + target.arch);
  return machine;
}

/// Loops that run once or never, as small sizes make them. LLVM, which folds
/// all else, keeps a loop that it is not told to unroll, and with it whatever
/// depends on which round it is.
static void foldShortLoops(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  module.walk([&](scf::ForOp loop) {
    std::optional<APInt> rounds = loop.getStaticTripCount();
    if (!rounds)
      return;
    if (rounds->isZero())
      rewriter.replaceOp(loop, loop.getInitArgs());
    else
      (void)loop.promoteIfSingleIteration(rewriter);
  });
}

static LogicalResult lowerToLlvmDialect(ModuleOp module) {
  foldShortLoops(module);
  PassManager pm(module.getContext());
#ifdef NDEBUG
  // The kernel was verified; these passes are tested where this is on.
  pm.enableVerifier(false);
#endif
  // No canonicalisation: LLVM does it again, and sooner.
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

/// What a launch may rely on: an entry point that is called with exactly this
/// many threads.
static void markEntry(llvm::Function &function, int64_t threads,
                      std::optional<uint32_t> minBlocks,
                      int64_t clusterBlocks) {
  function.setCallingConv(llvm::CallingConv::PTX_Kernel);
  function.addFnAttr("nvvm.reqntid", std::to_string(threads) + ",1,1");
  if (minBlocks)
    function.addFnAttr("nvvm.minctasm", std::to_string(*minBlocks));
  if (clusterBlocks > 1)
    function.addFnAttr("nvvm.cluster_dim",
                       std::to_string(clusterBlocks) + ",1,1");
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr(llvm::Attribute::WillReturn);
}

/// The loops are in their final form: fold, hoist what is uniform, and leave
/// addressing and scheduling to the backend and the assembler.
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

/// Straight-line strength reduction compares every address computation with
/// the earlier ones that share an operand with it. What that takes grows with
/// the square of a group's size: milliseconds for most kernels, seconds for
/// some, where the pass buys a percent of the code's size. This many pairs are
/// worth their time; a kernel with more goes without.
static constexpr size_t kMostAddressPairs = 5000;

static size_t addressPairs(const llvm::Module &module) {
  llvm::DenseMap<const llvm::Value *, size_t> readers;
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &op : block)
        if (op.getOpcode() == llvm::Instruction::Add ||
            op.getOpcode() == llvm::Instruction::Mul ||
            op.getOpcode() == llvm::Instruction::GetElementPtr)
          for (const llvm::Value *operand : op.operands())
            if (!llvm::isa<llvm::Constant>(operand))
              ++readers[operand];
  size_t pairs = 0;
  for (auto [value, count] : readers)
    pairs += count * count;
  return pairs;
}

namespace {
/// The backend's pipeline is fixed; this is how a pass of it is left out.
class StrengthReductionGate final : public llvm::OptPassGate {
public:
  explicit StrengthReductionGate(bool closed) : closed(closed) {}
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "slsr";
  }
  bool isEnabled() const override { return closed; }

private:
  bool closed;
};
} // namespace

std::string withoutOccupancyGoal(std::string ptx) {
  size_t bound = ptx.find("\n.reqntid ");
  bool stated = ptx.find("\n.minnctapersm ") != std::string::npos;
  if (bound != std::string::npos && !stated)
    ptx.insert(bound, "\n.minnctapersm 1");
  return ptx;
}

/// What a launch has to know, unless the kernel asks for more than the target
/// has.
static Result<PtxCode> describe(kernel::FuncOp function,
                                const target::TargetDesc &target) {
  PtxCode code;
  code.entry = function.getSymName().str();
  code.blockThreads = function.getBlockThreads();
  code.sharedBytes = function.sharedBytes();
  if (code.sharedBytes > kStaticSharedBytes)
    code.dynamicSharedBytes = code.sharedBytes;
  if (code.sharedBytes > target.smemPerBlock)
    return makeError(ErrorCode::ResourceLimit, "kernel '" + code.entry + "'",
                     "needs " + std::to_string(code.sharedBytes) +
                         " bytes of shared memory; one block of " +
                         target.name + " has " +
                         std::to_string(target.smemPerBlock),
                     "ptx.shared", "pin a schedule with smaller tiles");
  if (Status status = checkAsyncOps(function, target); !status)
    return status.error();
  return code;
}

/// Registers can only change hands if the assembler knows how many a thread
/// begins with, and it does if it knows the number of blocks per SM.
static std::optional<uint32_t> minBlocksOf(kernel::FuncOp function) {
  if (function.getMinBlocks())
    return function.getMinBlocks();
  bool changes =
      function
          .walk([](kernel::SetRegistersOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return changes ? std::optional<uint32_t>(1) : std::nullopt;
}

Result<PtxCode> emitPtx(ModuleOp module, const target::TargetDesc &target,
                        std::string *listing) {
  if (target.kind != target::Kind::Gpu)
    return makeError(ErrorCode::InvalidArgument, "device '" + target.name + "'",
                     "is no GPU", "ptx.target",
                     "azulejo devices lists the names of GPUs");
  SmallVector<kernel::FuncOp> kernels(module.getOps<kernel::FuncOp>());
  if (kernels.size() != 1)
    return internal("expected one kernel, found " +
                    std::to_string(kernels.size()));
  Result<PtxCode> code = describe(kernels[0], target);
  if (!code)
    return code;
  std::optional<uint32_t> minBlocks = minBlocksOf(kernels[0]);
  ArrayAttr maps = kernels[0].getTensorMapsAttr();
  int64_t clusterBlocks = kernels[0].clusterBlocks();
  Result<std::unique_ptr<llvm::TargetMachine>> machine = makeMachine(target);
  if (!machine)
    return machine.error();
  if (failed(expandMathForPtx(module, target)))
    return makeError(ErrorCode::Unsupported, "kernel '" + code->entry + "'",
                     "it uses a function without a GPU instruction sequence",
                     "ptx.math", "write it with ops that docs/ops.md lists");
  if (failed(lowerKernelToNvvm(module, target)) ||
      failed(lowerToLlvmDialect(module)))
    return internal("the kernel did not lower to the LLVM dialect");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "azulejo-kernels");
  if (!llvmModule)
    return internal("the kernel did not translate to LLVM IR");
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  llvm::Function &entry = *llvmModule->getFunction(code->entry);
  markEntry(entry, code->blockThreads, minBlocks, clusterBlocks);
  markAsync(entry, maps ? maps.size() : 0);
  optimise(*llvmModule, **machine);
  if (listing) {
    llvm::raw_string_ostream stream(*listing);
    llvmModule->print(stream, nullptr);
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  StrengthReductionGate gate(addressPairs(*llvmModule) > kMostAddressPairs);
  context.setOptPassGate(gate);
  llvm::legacy::PassManager codegen;
  if ((*machine)->addPassesToEmitFile(codegen, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return internal("the backend emits no text");
  codegen.run(*llvmModule);
  code->text.assign(buffer.begin(), buffer.end());
  if (code->text.empty())
    return internal("the backend emitted nothing");
  return code;
}

} // namespace azulejo::codegen
