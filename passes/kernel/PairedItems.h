//===- PairedItems.h - items of a block that stays, in pairs ----*- C++ -*-===//
//
// Items 2 p and 2 p + 1 are pair p. Pairs are dealt out to the blocks in turns:
//
//   blocks 2, items 7     block 0: 0 1, 4 5     block 1: 2 3, 6
//
// Where a long and a short item come in turns (KernelArguments::placeItem), all
// pairs take equally long.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_PAIREDITEMS_H
#define AZULEJO_PASSES_KERNEL_PAIREDITEMS_H

#include "passes/kernel/ThreadBuilder.h"

namespace azulejo::gpu {

class PairedItems {
public:
  /// The items of `block`, one of `blocks`, of `items` in all; i64.
  PairedItems(ThreadBuilder &t, mlir::Value block, mlir::Value blocks,
              mlir::Value items);

  /// How many items the block has.
  mlir::Value count() const { return size; }
  /// Its item of that number.
  mlir::Value item(mlir::Value number) const;

private:
  ThreadBuilder &t;
  mlir::Value block, blocks, size;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_PAIREDITEMS_H
