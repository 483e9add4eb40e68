//===- LowerTileToKernel.cpp - the pass around the row lowering -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"
#include "passes/kernel/Kernel.h"
#include "passes/kernel/RowLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace azulejo::gpu {

#define GEN_PASS_DEF_LOWERTILETOKERNELPASS
#define GEN_PASS_REGISTRATION
#include "passes/kernel/Passes.h.inc"

std::optional<std::string> refusesFamily(StringRef family) {
  if (family == "RowChain")
    return std::nullopt;
  return "code generation of " + family.str() +
         " kernels for GPUs does not exist yet";
}

LogicalResult lowerTileToKernel(ModuleOp module) {
  SmallVector<tile::KernelOp> sources(module.getOps<tile::KernelOp>());
  OpBuilder b(module.getContext());
  for (tile::KernelOp source : sources) {
    if (std::optional<std::string> reason = refusesFamily(source.getFamily()))
      return source.emitOpError(*reason);
    Result<schedule::Schedule> schedule =
        schedule::Schedule::parse(source.getSchedule().str());
    if (!schedule)
      return source.emitOpError(schedule.error().str());
    if (failed(RowLowering(source, *schedule).run(b)))
      return failure();
    source.erase();
  }
  return success();
}

namespace {
struct LowerTileToKernelPass
    : impl::LowerTileToKernelPassBase<LowerTileToKernelPass> {
  void runOnOperation() override {
    if (failed(lowerTileToKernel(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void registerPasses() {
  registerLowerTileToKernelPass();
  PassPipelineRegistration<>(
      "azulejo-tile-to-kernel",
      "tile programs to GPU kernels, tidied up for reading",
      [](OpPassManager &pm) {
        pm.addPass(createLowerTileToKernelPass());
        pm.addPass(createCanonicalizerPass());
        pm.addPass(createCSEPass());
      });
}

} // namespace azulejo::gpu
