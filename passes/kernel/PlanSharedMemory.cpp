//===- PlanSharedMemory.cpp - places in the block's shared memory ---------===//
//
// An allocation lives from its first to its last use, counted in ops at the top
// level of the kernel. Two allocations may share bytes when one is dead before
// the other is born and a barrier at the top level lies between, so that no
// thread can still be reading what another one overwrites.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/kernel/Kernel.h"
#include "passes/kernel/Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace azulejo::gpu {

namespace {
struct Allocation {
  Operation *op;
  int64_t bytes, alignment;
  int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
  int64_t offset = 0;
};
} // namespace

static std::optional<Allocation> allocationOf(Operation &op) {
  if (auto array = dyn_cast<kernel::SharedAllocOp>(op))
    return Allocation{
        &op,
        array.getType().getCount() *
            kernel::storageBytes(array.getType().getElementType()),
        kernel::kAccessBytes};
  // The swizzles of asynchronous units count from a multiple of 1024.
  if (auto tile = dyn_cast<kernel::TileAllocOp>(op))
    return Allocation{&op, tile.getType().bytes(), 1024};
  if (auto phases = dyn_cast<kernel::PhasesAllocOp>(op))
    return Allocation{&op, kernel::kPhaseBytes * phases.getType().getCount(),
                      kernel::kPhaseBytes};
  return std::nullopt;
}

void planSharedMemory(kernel::FuncOp function) {
  Block &body = function.getBody().front();
  llvm::DenseMap<Operation *, int64_t> position;
  SmallVector<int64_t> barriers;
  SmallVector<Allocation> allocations;
  for (Operation &op : body) {
    int64_t at = position.size();
    position[&op] = at;
    if (isa<kernel::BarrierOp>(op))
      barriers.push_back(at);
    if (std::optional<Allocation> allocation = allocationOf(op))
      allocations.push_back(*allocation);
  }
  for (Allocation &allocation : allocations)
    for (Operation *user : allocation.op->getResult(0).getUsers()) {
      int64_t at = position[body.findAncestorOpInBlock(*user)];
      allocation.first = std::min(allocation.first, at);
      allocation.last = std::max(allocation.last, at);
    }
  auto apart = [&](const Allocation &x, const Allocation &y) {
    return llvm::any_of(barriers, [&](int64_t barrier) {
      return (x.last < barrier && barrier < y.first) ||
             (y.last < barrier && barrier < x.first);
    });
  };
  // Largest first, each at the lowest place where it disturbs nobody.
  llvm::stable_sort(allocations, [](const Allocation &x, const Allocation &y) {
    return x.bytes > y.bytes;
  });
  for (size_t i = 0; i < allocations.size(); ++i) {
    Allocation &mine = allocations[i];
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t j = 0; j < i; ++j) {
        const Allocation &other = allocations[j];
        if (apart(mine, other) || mine.offset >= other.offset + other.bytes ||
            other.offset >= mine.offset + mine.bytes)
          continue;
        mine.offset = static_cast<int64_t>(
            llvm::alignTo(other.offset + other.bytes, mine.alignment));
        moved = true;
      }
    }
    mine.op->setAttr("offset", Builder(mine.op).getI64IntegerAttr(mine.offset));
  }
}

} // namespace azulejo::gpu
