//===- RowLowering.h - one row program becomes a GPU kernel -----*- C++ -*-===//
//
//   block = work item of `rowTile` rows
//   for each row of the item                         (the same for the block)
//     for each stage of the tile program
//       for each group of `width` lanes of the row   (threads side by side)
//         the map's body
//       the lanes left over, one per thread
//       folds: thread -> warp -> shared memory -> all threads
//
// A per-row tile is therefore one value per thread. While a fold is under way
// the value is the thread's part of it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROWLOWERING_H
#define AZULEJO_PASSES_KERNEL_ROWLOWERING_H

#include "ir/kernel/Kernel.h"
#include "ir/schedule/Schedule.h"
#include "passes/kernel/KernelArguments.h"

namespace azulejo::gpu {

class RowLowering {
public:
  RowLowering(tile::KernelOp source, const schedule::Schedule &schedule);

  /// Adds the kernel.func in front of the tile.kernel, which stays.
  mlir::LogicalResult run(mlir::OpBuilder &b);

private:
  /// One element of a per-row tile, for the row at hand.
  struct RowValue {
    mlir::Value whole; ///< the same in all threads
    mlir::Value part;  ///< this thread's part of a fold into `whole`, or null
    std::string kind;  ///< of the fold
  };

  mlir::LogicalResult checkShape();
  void chooseWidth();
  mlir::LogicalResult bindScalars(ThreadBuilder &t);
  mlir::LogicalResult emitRows(ThreadBuilder &t, bool wide);
  mlir::LogicalResult emitBlock(ThreadBuilder &t, mlir::Block &block);
  mlir::LogicalResult emitLoop(ThreadBuilder &t, mlir::scf::ForOp loop);
  mlir::LogicalResult emitMap(ThreadBuilder &t, tile::MapOp map);
  /// Turns parts into wholes for the given tiles, together.
  void finishFolds(ThreadBuilder &t, mlir::ValueRange tiles);
  mlir::Value foldWarps(ThreadBuilder &t, mlir::Value array,
                        mlir::StringRef kind);

  tile::KernelOp source;
  KernelArguments arguments;
  int64_t threads, accessBytes, width = 1;
  mlir::Value rowOrigin, rowLimit; ///< of the tile program, equal in all maps
  int64_t rowTile = 1;
  bool wide = false;

  kernel::FuncOp function;
  mlir::Value thread, row; ///< i64: number in the block, row at hand
  mlir::Value lane, warp;  ///< i32
  llvm::DenseMap<mlir::Value, RowValue> tiles;
  /// Both bodies of a kernel use the same arrays, in order of their folds.
  llvm::SmallVector<mlir::Value> arrays;
  size_t nextArray = 0;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROWLOWERING_H
