//===- LowerTileToKernel.cpp - from tile programs to GPU kernels ----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"
#include "passes/kernel/Kernel.h"
#include "passes/kernel/MatrixLowering.h"
#include "passes/kernel/RoleAttention.h"
#include "passes/kernel/RoleLowering.h"
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

static LogicalResult lowerKernel(tile::KernelOp source,
                                 const schedule::Schedule &schedule,
                                 OpBuilder &b) {
  bool multiplies =
      source.walk([](tile::DotOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!multiplies)
    return RowLowering(source, schedule).run(b);
  auto consumers = schedule.knobs.find("consumers");
  if (consumers == schedule.knobs.end() || consumers->second == 0)
    return MatrixLowering(source, schedule).run(b);
  bool weighs =
      source.walk([](tile::OnlineSoftmaxOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return weighs ? RoleAttention(source, schedule).run(b)
                : RoleLowering(source, schedule).run(b);
}

LogicalResult lowerTileToKernel(ModuleOp module) {
  SmallVector<tile::KernelOp> sources(module.getOps<tile::KernelOp>());
  OpBuilder b(module.getContext());
  for (tile::KernelOp source : sources) {
    Result<schedule::Schedule> schedule = schedule::Schedule::parse(
        source.getSchedule().str(), target::Kind::Gpu);
    if (!schedule)
      return source.emitOpError(schedule.error().str());
    if (failed(lowerKernel(source, *schedule, b)))
      return failure();
    source.erase();
  }
  for (auto function : module.getOps<kernel::FuncOp>()) {
    placeGroupWaits(function);
    planSharedMemory(function);
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
  registerPlaceGroupWaitsPass();
  registerInjectDelaysPass();
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
