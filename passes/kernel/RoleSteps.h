//===- RoleSteps.h - the steps of a product with roles ----------*- C++ -*-===//
//
// What a multiplying group does along the contracted axis of an item: wait for
// a stage of the ring, start its products, release the stage when they are
// over.
//
//   for each step
//     wait full[s]
//     start its products
//     wait for those of the step before; arrive on its empty
//
// With the left operand by registers the wait for the step before comes first,
// since its products read their registers until they are over. A group then has
// a gap between two steps, which another group's products fill.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROLESTEPS_H
#define AZULEJO_PASSES_KERNEL_ROLESTEPS_H

#include "passes/kernel/BulkOperand.h"
#include "passes/kernel/RoleRing.h"

namespace azulejo::gpu {

class RoleSteps {
public:
  /// The contracted axis, as i64.
  struct Range {
    mlir::Value low, high, step;
  };
  struct Product {
    const BulkOperand &lhs, &rhs;
    tile::DotOp dot;
    /// The group's first row of a stage's left tile, and the warp's number
    /// within the group; i32.
    mlir::Value firstRow, warpOfGroup;
  };
  struct Ring {
    mlir::Value full, empty;
    int64_t stages;
    const WarpGrid &grid;
    int64_t blocks; ///< of a cluster, which release a stage together
  };
  RoleSteps(ThreadBuilder &t, const Range &range, const Product &product,
            const Ring &ring);

  /// Adds all steps to the sums, one for each 64 rows, beginning with the stage
  /// `at`. The last products are still under way; gives the position behind
  /// their stage, all up to which have been waited for.
  RingPosition run(RingPosition at, llvm::MutableArrayRef<Fragment> sums,
                   bool lhsRegisters);
  /// Waits for the last products, which gives the sums, and releases their
  /// stage.
  void finish(llvm::MutableArrayRef<Fragment> sums);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  Values loadLhs(mlir::Value stage, int64_t blocks);
  mlir::Value start(mlir::Value stage, mlir::ValueRange registers,
                    llvm::MutableArrayRef<Fragment> sums);
  mlir::Value before(mlir::Value stage);

  ThreadBuilder &t;
  Range range;
  Product product;
  Ring ring;
  int64_t depth;
  mlir::Value pending;   ///< the last products
  mlir::Value lastStage; ///< theirs
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROLESTEPS_H
