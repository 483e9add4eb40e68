//===- LowerTileToHost.cpp - the pass around lowerTileToHost --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/tile/Tile.h"
#include "passes/cpu/Cpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace azulejo::cpu {

#define GEN_PASS_DEF_LOWERTILETOHOSTPASS
#include "passes/cpu/Passes.h.inc"

namespace {
struct LowerTileToHostPass
    : impl::LowerTileToHostPassBase<LowerTileToHostPass> {
  using LowerTileToHostPassBase::LowerTileToHostPassBase;
  void runOnOperation() override {
    Result<target::TargetDesc> desc = target::resolveTarget(target);
    if (!desc) {
      getOperation().emitError(desc.error().str());
      return signalPassFailure();
    }
    if (mlir::failed(lowerTileToHost(getOperation(), *desc)))
      signalPassFailure();
  }
};
} // namespace

} // namespace azulejo::cpu
