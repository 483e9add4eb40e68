//===- InjectDelays.cpp - warps that are late -----------------------------===//
//
// Roles run side by side, and a barrier that is missing, or one phase off, need
// not show as long as the producer is always faster than the consumers, or
// always slower. Delays make every warp now and then the last one:
//
//   waits, barriers     whoever comes late finds phases complete, or one
//                       phase further than it may be
//   behind a barrier    who leaves it late reads late what others overwrite
//   arrivals, copies    others wait, and leave early if they do not
//   products            operands are read late
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"
#include "passes/kernel/Kernel.h"

using namespace mlir;

namespace azulejo::gpu {

#define GEN_PASS_DEF_INJECTDELAYSPASS
#include "passes/kernel/Passes.h.inc"

static bool isBarrier(Operation *op) {
  return isa<kernel::BarrierOp, kernel::GroupBarrierOp>(op);
}

/// Whether the op meets other warps or starts what they, or this one, wait for.
static bool isBoundary(Operation *op) {
  return isBarrier(op) ||
         isa<kernel::PhaseWaitOp, kernel::PhaseArriveOp, kernel::PhaseExpectOp,
             kernel::BulkLoadOp, kernel::BulkStoreOp, kernel::GroupMmaOp,
             kernel::CopyWaitOp>(op);
}

void injectDelays(kernel::FuncOp function, int64_t seed) {
  SmallVector<Operation *> boundaries;
  function.walk([&](Operation *op) {
    if (isBoundary(op))
      boundaries.push_back(op);
  });
  OpBuilder b(function.getContext());
  int64_t site = 0;
  auto delay = [&](Operation *at) {
    kernel::DelayOp::create(b, at->getLoc(), seed, site++);
  };
  for (Operation *op : boundaries) {
    b.setInsertionPoint(op);
    delay(op);
    if (!isBarrier(op))
      continue;
    b.setInsertionPointAfter(op);
    delay(op);
  }
}

namespace {
struct InjectDelaysPass : impl::InjectDelaysPassBase<InjectDelaysPass> {
  using InjectDelaysPassBase::InjectDelaysPassBase;
  void runOnOperation() override { injectDelays(getOperation(), seed); }
};
} // namespace

} // namespace azulejo::gpu
