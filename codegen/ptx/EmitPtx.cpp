//===- EmitPtx.cpp - the pass around emitPtx ------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/ptx/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace azulejo::codegen {

#define GEN_PASS_DECL
#define GEN_PASS_DEF_EMITPTXPASS
#define GEN_PASS_REGISTRATION
#include "codegen/ptx/Passes.h.inc"

namespace {
struct EmitPtxPass : impl::EmitPtxPassBase<EmitPtxPass> {
  using EmitPtxPassBase::EmitPtxPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
    registerPtxTranslation(registry);
  }

  void runOnOperation() override {
    Result<target::TargetDesc> desc = target::resolveTarget(target);
    if (!desc) {
      getOperation().emitError(desc.error().str());
      return signalPassFailure();
    }
    Result<PtxCode> code = emitPtx(getOperation(), *desc);
    if (!code) {
      getOperation().emitError(code.error().str());
      return signalPassFailure();
    }
    llvm::outs() << code->text << "// entry " << code->entry << ", "
                 << code->blockThreads << " threads, " << code->sharedBytes
                 << " bytes of shared memory\n";
    getOperation().getBody()->clear();
  }
};
} // namespace

void registerPtxPasses() {
  registerEmitPtxPass();
  struct Options : PassPipelineOptions<Options> {
    Option<std::string> target{*this, "target",
                               llvm::cl::desc("device to generate for"),
                               llvm::cl::init("h200")};
  };
  PassPipelineRegistration<Options>(
      "azulejo-kernel-to-ptx", "a GPU kernel to PTX text on standard output",
      [](OpPassManager &pm, const Options &options) {
        EmitPtxPassOptions emit;
        emit.target = options.target;
        pm.addPass(createEmitPtxPass(emit));
      });
}

} // namespace azulejo::codegen
