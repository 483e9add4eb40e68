//===- FuseVertical.cpp - a consumer joins its producer -------------------===//
//
// Saves writing and reading the value between them. Producers are tried from
// the latest one back, so that a chain grows along its critical edge and an
// epilogue joins its anchor before anything else.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/fusion/Partition.h"

using namespace mlir;

namespace azulejo::fusion {

void fuseVertical(Partition &partition) {
  bool changed = true;
  DenseSet<std::pair<GroupId, GroupId>> refused;
  while (changed) {
    changed = false;
    for (GroupId id : partition.liveGroups()) {
      if (partition.opsOf(id).empty())
        continue;
      SmallVector<GroupId> producers(partition.producersOf(id).takeVector());
      llvm::sort(producers, [&](GroupId x, GroupId y) {
        return partition.opsOf(y).back()->isBeforeInBlock(
            partition.opsOf(x).back());
      });
      for (GroupId producer : producers) {
        if (refused.contains({producer, id}))
          continue;
        if (partition.tryMerge(producer, id, "vertical")) {
          changed = true;
          // Other groups may fit the merged one even if they did not before.
          refused.clear();
          break;
        }
        refused.insert({producer, id});
      }
    }
  }
}

} // namespace azulejo::fusion
