//===- FragmentTiles.h - a program's tiles as fragments ---------*- C++ -*-===//
//
// What each tile of a program with products is in the kernel, and the ops on
// tiles that every lowering of such programs has: fills, maps that keep their
// result, the softmax. Products differ, since their operands lie elsewhere.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_FRAGMENTTILES_H
#define AZULEJO_PASSES_KERNEL_FRAGMENTTILES_H

#include "passes/kernel/Fragment.h"
#include "passes/kernel/KernelArguments.h"

namespace azulejo::gpu {

class OperandStaging;

/// Columns of a tile are padded to whole blocks.
int64_t paddedTo16(int64_t size);

struct TileValue {
  enum Kind { Row, Matrix, Staged } kind = Row;
  RowTile row;
  Fragment fragment;
  OperandStaging *staging = nullptr; ///< of a staged operand: which, where
  mlir::Value stage;

  /// The tile as a list of registers, for loops.
  void collect(llvm::SmallVectorImpl<mlir::Value> &flat) const;
  void scatter(mlir::ValueRange flat, size_t &next);
};

class FragmentTiles {
public:
  explicit FragmentTiles(KernelArguments &arguments) : arguments(arguments) {}

  TileValue &operator[](mlir::Value tile) { return values[tile]; }
  const TileValue *find(mlir::Value tile) const {
    auto it = values.find(tile);
    return it == values.end() ? nullptr : &it->second;
  }

  mlir::LogicalResult emitFill(ThreadBuilder &t, const WarpGrid &grid,
                               tile::FillOp fill);
  /// A map that keeps tiles of two axes.
  mlir::LogicalResult emitMap(ThreadBuilder &t, const WarpGrid &grid,
                              tile::MapOp map);
  mlir::LogicalResult emitSoftmax(ThreadBuilder &t,
                                  tile::OnlineSoftmaxOp softmax);
  /// A loop's argument is like the tile that it begins with, whose registers
  /// are added to `carried`. Fails if that is no tile.
  mlir::LogicalResult begin(ThreadBuilder &t, mlir::Value init,
                            mlir::BlockArgument argument,
                            llvm::SmallVectorImpl<mlir::Value> &carried);

private:
  KernelArguments &arguments;
  llvm::DenseMap<mlir::Value, TileValue> values;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENTTILES_H
