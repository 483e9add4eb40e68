//===- Register.cpp - dialects, passes and pipelines, in one place --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/register/Register.h"
#include "codegen/ptx/Ptx.h"
#include "frontend/register/Oracle.h"
#include "ir/graph/GraphDialect.h"
#include "ir/kernel/Kernel.h"
#include "ir/tile/Tile.h"
#include "passes/cpu/Cpu.h"
#include "passes/fusion/Fusion.h"
#include "passes/graph/Graph.h"
#include "passes/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <mutex>

void azulejo::registerAllDialects(mlir::DialectRegistry &registry) {
  // Upstream dialects that our stages emit.
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  // Our own.
  registry.insert<graphir::GraphDialect, tile::TileDialect,
                  kernel::KernelDialect>();
}

static void registerFusion() {
  mlir::registerPass([]() -> std::unique_ptr<mlir::Pass> {
    return azulejo::fusion::createFormRegionsPass(azulejo::familyOracle());
  });
  mlir::registerPass([]() -> std::unique_ptr<mlir::Pass> {
    return azulejo::fusion::createMoveReshapesPass();
  });
  mlir::registerPass([]() -> std::unique_ptr<mlir::Pass> {
    return azulejo::fusion::createMoveScalesPass();
  });
}

/// One line per part: what registers its passes and its pipelines.
static void (*const kRegistrations[])() = {
    mlir::registerCanonicalizerPass,
    mlir::registerCSEPass,
    mlir::registerSymbolDCEPass,
    azulejo::graphpasses::registerPasses,
    registerFusion,
    azulejo::cpu::registerAzulejoCpuPasses,
    azulejo::gpu::registerPasses,
    azulejo::codegen::registerPtxPasses,
};

void azulejo::registerAllPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (void (*registerPart)() : kRegistrations)
      registerPart();
  });
}

void azulejo::registerAll(mlir::DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllPasses();
}
