//===- KernelArguments.h - what a kernel is called with ---------*- C++ -*-===//
//
// The arguments of a kernel.func follow from those of the tile.kernel: for
// every view its address and outer strides, then the sizes. This class adds
// them, finds the block's position in the tile program's grid, and keeps the
// kernel's value for every integer and float of the tile program that is the
// same for all threads of the block.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_KERNELARGUMENTS_H
#define AZULEJO_PASSES_KERNEL_KERNELARGUMENTS_H

#include "ir/kernel/Kernel.h"
#include "passes/kernel/MapBody.h"

#include <map>
#include <set>

namespace azulejo::gpu {

class KernelArguments {
public:
  explicit KernelArguments(tile::KernelOp source)
      : source(source), assumeAligned(source.getAssumeAligned()) {}

  /// Adds the arguments to `entry`, behind what it has, and emits the program
  /// ids of the block's one item.
  mlir::LogicalResult bind(ThreadBuilder &t, mlir::Block &entry,
                           int64_t rasterGroup = 1);
  /// Only adds the arguments: a block has several items, to be placed.
  mlir::LogicalResult bindArguments(ThreadBuilder &t, mlir::Block &entry);

  /// From here on so many neighbouring items are neighbours along the axis
  /// before the last, which is filled up with items behind its end. For
  /// clusters, whose blocks then share what does not depend on that axis; once,
  /// behind bindArguments() of a grid of two axes or more.
  void clusterItems(ThreadBuilder &t, int64_t blocks);
  /// Whether a value of the tile program depends on the place along an axis of
  /// the grid.
  static bool follows(mlir::Value value, int64_t axis);

  /// How many work items there are (i64).
  mlir::Value itemCount(ThreadBuilder &t) const;
  /// Emits the program ids of an item. The last axis of the grid varies
  /// fastest; with `rasterGroup` above 1 the last two axes are walked in strips
  /// of that many steps of the one before last, so that blocks which run
  /// together share operands of both. Where later items along the last axis
  /// take longer they come first, over all other axes, and the short ones fill
  /// the end; if `paired`, a long one and a short one come in turns along the
  /// last axis, last, first, last but one, ..., and in its next walk the same
  /// backwards: every two from an even number on are equally long together.
  void placeItem(ThreadBuilder &t, mlir::Value item, int64_t rasterGroup = 1,
                 bool paired = false);
  /// Whether items have more steps the later they are along the last axis:
  /// under a causal mask.
  bool lastTakesLongest();

  /// Emits a scalar op of the tile program; its operands have been emitted.
  mlir::LogicalResult emitScalar(ThreadBuilder &t, mlir::Operation &op);
  /// The program ids, the arithmetic and the reads of a block of the tile
  /// program.
  mlir::LogicalResult emitScalars(ThreadBuilder &t, mlir::Block &block);

  /// Whether every access of `width` neighbouring lanes that the maps could
  /// make as one is aligned for it.
  mlir::Value areAligned(ThreadBuilder &t, llvm::ArrayRef<tile::MapOp> maps,
                         int64_t width);
  /// The same for one map whose lanes run along `laneAxis`. Where the kernel
  /// may assume it, the answer is yes, and its views are among assumedViews().
  mlir::Value isAligned(ThreadBuilder &t, tile::MapOp map, int64_t width,
                        unsigned laneAxis);
  const std::set<int64_t> &assumedViews() const { return assumed; }
  bool mayAssumeAligned() const { return assumeAligned; }
  /// Only for kernels that may assume it.
  void assumeAlignedView(mlir::BlockArgument view) {
    assumed.insert(view.getArgNumber());
  }

  const ViewAccess &view(mlir::Value value) const {
    return views.find(value)->second;
  }
  mlir::Value scalar(mlir::Value value) const {
    auto it = scalars.find(value);
    assert(it != scalars.end() && "scalar was not lowered");
    return it->second;
  }
  bool isScalar(mlir::Value value) const { return scalars.count(value); }
  void setScalar(mlir::Value value, mlir::Value kernelValue) {
    scalars[value] = kernelValue;
  }

private:
  using WideViews = std::map<unsigned, int64_t>;
  void collectWide(tile::MapOp map, const LaneAnalysis &lanes,
                   WideViews &views) const;
  mlir::Value emitAligned(ThreadBuilder &t, const WideViews &views) const;
  mlir::LogicalResult emitRead(ThreadBuilder &t, tile::ReadOp read);
  mlir::LogicalResult bindGrid(ThreadBuilder &t);

  tile::KernelOp source;
  bool assumeAligned;
  std::set<int64_t> assumed; ///< argument numbers
  llvm::DenseMap<mlir::Value, ViewAccess> views;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::SmallVector<mlir::Value> gridSteps; ///< per axis of the grid
  int64_t clustered = 1; ///< one step of the axis before the last
  llvm::SmallVector<mlir::Value> programIds;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_KERNELARGUMENTS_H
