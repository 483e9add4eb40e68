//===- RoleLowering.h - products by warps with roles ------------*- C++ -*-===//
//
// For devices with bulk copies and products of warp groups (sm_90a). Of the
// block's warp groups the last one copies, the others multiply; a ring of
// stages with two barriers each lies between them:
//
//                         full[s]: the bytes of stage s have arrived
//     copying  ---------------------------------------->  multiplying
//     group    <----------------------------------------  groups
//                         empty[s]: every warp is through with stage s
//
//   copying, one thread               multiplying, each group its own rows
//     for each item of the block        for each item of the block
//       for each step                     for each step
//         wait empty[s]                     wait full[s]
//         expect the bytes on full[s]       start the step's products
//         start the copies                  wait for those of the step before
//                                           arrive on its empty
//                                         wait for the last products; arrive
//                                         epilogue, each warp its own rows
//
// Both walk the same items (RoleItems.h says which) and steps, so both know
// stage and parity without telling each other. While the groups are in an
// epilogue, the ring fills with the next item's first steps.
//
// In turns (ping-pong) each group has whole items instead of some rows of every
// item, and leaves the stages of the others' items out: one group's products
// run while another one writes. turn[g] lets group g begin when the group
// before it has waited for the last stage of its item. Parities can only tell a
// phase from the one before, so nobody may wait for a stage that others have
// yet to use twice.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROLELOWERING_H
#define AZULEJO_PASSES_KERNEL_ROLELOWERING_H

#include "ir/schedule/Schedule.h"
#include "passes/kernel/BulkEpilogue.h"
#include "passes/kernel/BulkOperand.h"
#include "passes/kernel/RoleItems.h"
#include "passes/kernel/SliceEpilogue.h"

namespace azulejo::gpu {

class RoleLowering {
public:
  RoleLowering(tile::KernelOp source, const schedule::Schedule &schedule);

  /// Adds the kernel.func in front of the tile.kernel, which stays. The program
  /// is one product over a loop and maps that write it.
  mlir::LogicalResult run(mlir::OpBuilder &b);

private:
  mlir::LogicalResult findProgram();
  /// Which rows of which items a group has, for tiles of so many rows.
  mlir::LogicalResult shareItems(int64_t rows);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);
  void chooseEpilogue();
  /// The right operand, which neighbouring items have in common, is copied by
  /// all blocks of a cluster together.
  mlir::LogicalResult formClusters();
  void allocate(ThreadBuilder &t);
  void initialise(ThreadBuilder &t);
  /// All threads of the block, and of its cluster.
  void meet(ThreadBuilder &t) const;
  /// Who takes the items that a group has.
  RoleItems::Walker walkerOf(RoleItems::Role role, mlir::Value group) const {
    return {role, inTurns ? group : mlir::Value()};
  }
  /// An item of a walk, which has been placed.
  struct Item {
    RingPosition at;
    mlir::Value isFirst; ///< i1
    mlir::Value turn;    ///< i32: 0 for the walk's first item, then 1, 0, 1 ...
  };
  /// `body` gives the ring's position behind the item.
  void forItems(ThreadBuilder &t, const RoleItems::Walker &walker,
                llvm::function_ref<RingPosition(const Item &)> body);
  /// Where the stages of a group's item begin: behind those that other groups
  /// have between it and the group's last one.
  RingPosition beginOf(ThreadBuilder &t, const Item &item);
  /// Waits until the groups before it are through with the ring.
  void awaitTurn(ThreadBuilder &t, const Item &item);
  void passTurn(ThreadBuilder &t);

  mlir::LogicalResult emitCopies(ThreadBuilder &t);
  mlir::LogicalResult emitStores(ThreadBuilder &t);
  mlir::LogicalResult emitProducts(ThreadBuilder &t);
  RingPosition emitSteps(ThreadBuilder &t, RingPosition at,
                         llvm::SmallVectorImpl<Fragment> &sums);
  void emitEpilogue(ThreadBuilder &t, BulkEpilogue::ColumnReads reads,
                    llvm::MutableArrayRef<Fragment> sums, mlir::Value turn);

  tile::KernelOp source;
  KernelArguments arguments;
  int64_t consumers, stages, rasterGroup;
  int64_t cluster;   ///< blocks of one; 1: none
  bool inTurns;      ///< each group has items of its own
  bool lhsRegisters; ///< products take the left operand from registers
  RoleItems items;
  kernel::FuncOp function;

  mlir::scf::ForOp loop;
  tile::DotOp dot;
  tile::FillOp fill;
  llvm::SmallVector<tile::MapOp> outputs;
  std::optional<BulkOperand> lhs, rhs;
  int64_t groupRows = 0, columns = 0, depth = 0;

  std::optional<BulkEpilogue> stored; ///< the epilogue: one of these
  std::optional<SliceEpilogue> sliced;
  mlir::Value lhsMap, rhsMap, full, empty, turns;
  WarpGrid grid; ///< of the multiplying groups: all warps along the rows
  mlir::Value group, warpOfGroup, rank;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROLELOWERING_H
