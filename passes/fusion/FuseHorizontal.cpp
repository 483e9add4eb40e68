//===- FuseHorizontal.cpp - siblings that read the same value -------------===//
//
// Two row chains that read one tensor become one kernel with more outputs, so
// that the tensor is read once. Anchored groups are left alone: two anchors
// never share a kernel.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/fusion/Partition.h"

using namespace mlir;

namespace azulejo::fusion {

static bool isAnchored(const Partition &partition, GroupId id) {
  return llvm::any_of(partition.opsOf(id), [](Operation *op) {
    return isa<graphir::MatmulOp, graphir::AttentionOp>(op);
  });
}

/// A tensor worth reading once: as large as what either group writes.
static bool sharesLargeInput(const Partition &partition, GroupId a, GroupId b) {
  llvm::SetVector<Value> other = partition.inputsOf(b);
  for (Value value : partition.inputsOf(a))
    if (other.contains(value) &&
        cast<RankedTensorType>(value.getType()).getRank() > 1)
      return true;
  return false;
}

void fuseHorizontal(Partition &partition) {
  SmallVector<GroupId> live = partition.liveGroups();
  for (size_t i = 0; i < live.size(); ++i)
    for (size_t j = i + 1; j < live.size(); ++j) {
      GroupId a = live[i], b = live[j];
      if (partition.opsOf(a).empty() || partition.opsOf(b).empty() ||
          isAnchored(partition, a) || isAnchored(partition, b) ||
          partition.producersOf(b).contains(a) ||
          partition.producersOf(a).contains(b) ||
          !sharesLargeInput(partition, a, b))
        continue;
      partition.tryMerge(a, b, "horizontal");
    }
}

} // namespace azulejo::fusion
