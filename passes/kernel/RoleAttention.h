//===- RoleAttention.h - attention by warps with roles ----------*- C++ -*-===//
//
// The attention program on the ring and the roles that RoleLowering describes,
// for devices with bulk copies and products of warp groups. For each item:
//
//   copying thread                     multiplying group, its own 64 queries
//     wait empty k[s]; keys of 0 -> k[s]
//     wait empty q; the queries -> q     wait full q
//     for each step j over the keys      for each step j over the keys
//       the same with keys of j+1          wait full k; start q x keys of j
//       wait empty v[s]; values -> v[s]    wait full v; start output +=
//                                            weights of j-1 x values of j-1
//                                          wait for the scores; empty k
//                                          masks and the like, weights of j
//                                          wait for the output; empty v
//                                          bring the output to j's reference
//                                        empty q; output += last weights x
//                                          values; empty v
//                                        the program's last maps, by registers
//
// Items are dealt out to blocks that stay, so that the first copies of an item
// run under the end of the one before. Under a causal mask they are dealt out
// in pairs of a long and a short one, which take equally long, or one by one by
// a counter (RoleItems.h), the longest first. Without a bound on the blocks
// each item has a block of its own, and the device deals them out.
//
// The exponentials of a step run under a product of the step before, and
// under the products of the other groups, which nothing orders. Scores, weights
// and output are fragments (Fragment.h): masks and softmax are those of every
// other attention.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROLEATTENTION_H
#define AZULEJO_PASSES_KERNEL_ROLEATTENTION_H

#include "ir/schedule/Schedule.h"
#include "passes/kernel/BulkOperand.h"
#include "passes/kernel/FragmentTiles.h"
#include "passes/kernel/RoleItems.h"

namespace azulejo::gpu {

class RoleAttention {
public:
  RoleAttention(tile::KernelOp source, const schedule::Schedule &schedule);

  /// Adds the kernel.func in front of the tile.kernel, which stays. The program
  /// is a loop over the keys with two products and a softmax between them.
  mlir::LogicalResult run(mlir::OpBuilder &b);

private:
  /// A ring of tiles and its barriers; q has one place.
  struct Ring {
    std::optional<BulkOperand> operand;
    int64_t stages = 1;
    mlir::Value map, full, empty;
  };
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);
  mlir::LogicalResult findProgram();
  mlir::LogicalResult findOperands();
  void allocate(ThreadBuilder &t);
  void initialise(ThreadBuilder &t);
  /// Walks the block's items; `body` takes and gives the position of keys and
  /// values. `turn` is 0 for the block's first item, then 1, 0, 1 and so on.
  void forItems(
      ThreadBuilder &t, RoleItems::Role role,
      llvm::function_ref<RingPosition(const RingPosition &, mlir::Value turn)>
          body);

  mlir::LogicalResult emitCopies(ThreadBuilder &t);
  void copy(ThreadBuilder &t, const Ring &ring, mlir::Value stage);
  mlir::LogicalResult emitProducts(ThreadBuilder &t);
  /// These take and give the position of keys and values.
  mlir::LogicalResult emitItem(ThreadBuilder &t, RingPosition &at);
  mlir::LogicalResult emitLoop(ThreadBuilder &t, RingPosition &at);
  /// What a step hands on: its weights, packed as an operand, and where the
  /// values are that they belong to.
  struct Pending {
    RingPosition values;
    llvm::SmallVector<mlir::Value> weights;
  };
  mlir::LogicalResult emitStep(ThreadBuilder &t, const RingPosition &at,
                               Pending *before, Pending &now);
  kernel::GroupMmaOp startScores(ThreadBuilder &t, const RingPosition &at);
  kernel::GroupMmaOp startOutput(ThreadBuilder &t, const Pending &of);
  /// Zeros over the values of the last step, at `at`, that are behind the end
  /// of the item's `keys`.
  void clearValues(ThreadBuilder &t, const RingPosition &at, mlir::Value keys);
  void finish(ThreadBuilder &t, kernel::GroupMmaOp product, TileValue &result);

  tile::KernelOp source;
  KernelArguments arguments;
  FragmentTiles tiles;
  int64_t consumers;
  RoleItems items;
  kernel::FuncOp function;

  mlir::scf::ForOp loop;
  tile::DotOp scoreDot, outputDot;
  tile::OnlineSoftmaxOp softmax;
  TileValue reference, sum, output; ///< as they are at this place
  Ring q, k, v;
  WarpGrid grid; ///< of the multiplying groups: all warps along the rows
  mlir::Value group;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROLEATTENTION_H
