//===- RowLowering.h - one row program becomes a GPU kernel -----*- C++ -*-===//
//
//   block = work item of `rowTile` rows
//   for each row of the item                         (one per team)
//     for each stage of the tile program
//       for each group of `width` lanes of the row   (threads side by side)
//         the map's body
//       the lanes left over, one per thread
//       folds: thread -> warp -> shared memory -> all threads
//
// A team is the threads that share a row: the block, or a part of a warp, so
// that a block has several rows under way and folds need no shared memory.
//
// A per-row tile is one value per thread. While a fold is under way the value
// is the thread's part of it. A tile of whole rows is the values of a thread's
// lanes, if those are few. What several maps read is kept per thread where
// it fits (RowKeeping): then the groups are written out instead of looped over,
// and all accesses of a map are issued before the first is used.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_ROWLOWERING_H
#define AZULEJO_PASSES_KERNEL_ROWLOWERING_H

#include "ir/kernel/Kernel.h"
#include "ir/schedule/Schedule.h"
#include "passes/kernel/KernelArguments.h"
#include "passes/kernel/RowKeeping.h"

namespace azulejo::gpu {

class RowLowering {
public:
  RowLowering(tile::KernelOp source, const schedule::Schedule &schedule);

  /// Adds the kernel.func in front of the tile.kernel, which stays.
  mlir::LogicalResult run(mlir::OpBuilder &b);

private:
  /// Of a unit of any GPU that is supported. A thread of a large block has few.
  static constexpr int64_t kUnitRegisters = 65536;

  using Values = llvm::SmallVector<mlir::Value>;

  /// One element of a per-row tile, for the row at hand.
  struct RowValue {
    mlir::Value whole; ///< the same in all threads
    mlir::Value part;  ///< this thread's part of a fold into `whole`, or null
    std::string kind;  ///< of the fold
  };

  mlir::LogicalResult checkShape();
  std::optional<std::string> refusesMap(tile::MapOp map) const;
  bool holdsLanes(int64_t lanes) const;
  void chooseWidth();
  void planKeeping();
  mlir::LogicalResult bindScalars(ThreadBuilder &t);
  mlir::LogicalResult emitRows(ThreadBuilder &t, bool wide);
  mlir::LogicalResult emitBlock(ThreadBuilder &t, mlir::Block &block);
  mlir::LogicalResult emitLoop(ThreadBuilder &t, mlir::scf::ForOp loop);
  mlir::LogicalResult emitMap(ThreadBuilder &t, tile::MapOp map);
  /// A map's walk over its lanes: how many there are, how they are combined.
  struct Walk {
    tile::MapOp map;
    MapBody &body;
    mlir::Value origin, count;
    int64_t most;     ///< that `count` can be
    bool hasLeftOver; ///< lanes that fill no group
    llvm::SmallVector<std::string> kinds;
  };
  Values emitLooped(ThreadBuilder &t, const Walk &walk, Values parts);
  Values emitWrittenOut(ThreadBuilder &t, const Walk &walk,
                        const RowKeeping::Pass *pass, Values parts);
  int64_t groupsTogether(tile::MapOp map, const RowKeeping::Pass *pass,
                         int64_t groups) const;
  void keep(ThreadBuilder &t, int value, mlir::Operation *op,
            llvm::ArrayRef<mlir::Value> lanes);
  Values takeKept(ThreadBuilder &t, int value, mlir::Operation *op,
                  size_t first, size_t count);
  Values foldGroup(ThreadBuilder &t, const Walk &walk,
                   llvm::ArrayRef<Values> lanes, mlir::ValueRange parts);
  void bindTiles(const Walk &walk, size_t group);
  void takeTiles(const Walk &walk, llvm::ArrayRef<Values> lanes);
  /// A tile of whole rows, the same everywhere.
  void fillLanes(tile::FillOp fill);
  /// Turns parts into wholes for the given tiles, together.
  void finishFolds(ThreadBuilder &t, mlir::ValueRange tiles);
  mlir::Value foldWarps(ThreadBuilder &t, mlir::Value array,
                        mlir::StringRef kind);

  tile::KernelOp source;
  KernelArguments arguments;
  int64_t threads, team, accessBytes, width = 1;
  mlir::Value rowOrigin, rowLimit; ///< of the tile program, equal in all maps
  int64_t rowTile = 1;
  bool wide = false;

  kernel::FuncOp function;
  mlir::Value thread, row; ///< i64: number in the team, row at hand
  mlir::Value teamId;      ///< i64
  mlir::Value present;     ///< whether the team has a row; null: it has
  mlir::Value lane, warp;  ///< i32
  RowKeeping keeping;
  /// The thread's lanes of a value: each, or words with two and a half. Where
  /// they lie in shared memory, a part is the place there.
  struct Kept {
    Values parts;
    llvm::SmallVector<bool> inShared;
    mlir::Value half; ///< of the next word
  };
  void keepWord(ThreadBuilder &t, Kept &all, mlir::Value word);
  mlir::Value takeWord(ThreadBuilder &t, const Kept &all, size_t number,
                       mlir::Type type);
  llvm::DenseMap<int, Kept> kept; ///< by value number, of the row at hand
  int64_t wordsKept = 0;          ///< of the row at hand, so far
  int64_t keptRegisters = 0;      ///< the words beyond lie in shared memory
  mlir::Value keptWords;          ///< that, if there are any
  mlir::Value threadOfBlock;      ///< i32
  llvm::DenseMap<mlir::Value, RowValue> tiles;
  /// Of tiles of whole rows: of each of the thread's groups, its lanes' values.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Values>> laneTiles;
  /// Both bodies of a kernel use the same arrays, in order of their folds.
  llvm::SmallVector<mlir::Value> arrays;
  size_t nextArray = 0;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_ROWLOWERING_H
