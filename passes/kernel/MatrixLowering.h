//===- MatrixLowering.h - programs with products become kernels -*- C++ -*-===//
//
//   block = work item; its warps share the tile's rows and columns (Fragment.h)
//
//   maps that feed a product   copies into rings of shared tiles, `stages`
//                              deep, so that the copies of later steps of a
//                              loop run under the products of this one; with
//                              `stageReads` also what a map computes from
//   products, softmax, maps    on fragments, in registers
//   maps that write            through shared memory, side by side
//   (LinearMap.h)
//
//   for step j                            iteration of a loop
//     wait until the ring's oldest tile is there; compute from it what is no
//     copy; barrier
//     start the copies of step j + stages - 1 into the tile of step j - 1
//     compute step j
//
// One barrier per step: it says both that step j's tile is complete and that
// everybody has left step j - 1's. Computed tiles alternate between two places:
// the barrier of step j - 1 says that everybody has left step j - 2's.
//
// A loop that is one product has its operands one slice (what one instruction
// takes of the contracted axis) ahead: the wait and the barrier of step j + 1
// stand before the last slice of step j, whose products then run while the
// first slice of step j + 1 is loaded (FragmentDot.h). Copies are spread over
// the slices where there is arithmetic enough to hide them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_MATRIXLOWERING_H
#define AZULEJO_PASSES_KERNEL_MATRIXLOWERING_H

#include "ir/schedule/Schedule.h"
#include "passes/kernel/FragmentDot.h"
#include "passes/kernel/FragmentTiles.h"
#include "passes/kernel/LinearMap.h"
#include "passes/kernel/OperandStaging.h"

#include <map>
#include <memory>

namespace azulejo::gpu {

class MatrixLowering {
public:
  MatrixLowering(tile::KernelOp source, const schedule::Schedule &schedule);

  /// Adds the kernel.func in front of the tile.kernel, which stays.
  mlir::LogicalResult run(mlir::OpBuilder &b);

private:
  mlir::LogicalResult checkShape();
  mlir::LogicalResult emitBlock(ThreadBuilder &t, mlir::Block &block);
  mlir::LogicalResult emitMap(ThreadBuilder &t, tile::MapOp map);
  mlir::LogicalResult emitLinearMap(ThreadBuilder &t, tile::MapOp map);
  mlir::LogicalResult emitDot(ThreadBuilder &t, tile::DotOp dot);
  mlir::LogicalResult emitLoop(ThreadBuilder &t, mlir::scf::ForOp loop);

  /// The pieces of a loop.
  using Stagings = llvm::SmallVector<OperandStaging *>;
  Stagings stageMaps(ThreadBuilder &t, mlir::Block &block);
  mlir::LogicalResult issueStep(ThreadBuilder &t, mlir::scf::ForOp loop,
                                const Stagings &stagings, mlir::Value at,
                                mlir::Value stage);
  mlir::LogicalResult convertStep(ThreadBuilder &t, mlir::scf::ForOp loop,
                                  const Stagings &stagings, mlir::Value at,
                                  mlir::Value stage);
  mlir::Value placeOf(ThreadBuilder &t, mlir::scf::ForOp loop,
                      const OperandStaging &staging, mlir::Value at,
                      mlir::Value stage);
  mlir::LogicalResult emitStep(ThreadBuilder &t, mlir::scf::ForOp loop,
                               const Stagings &stagings, mlir::Value at,
                               mlir::Value stage);
  mlir::LogicalResult emitIteration(ThreadBuilder &t, mlir::scf::ForOp loop,
                                    const Stagings &stagings, mlir::Value at,
                                    mlir::Value position);
  mlir::Value before(ThreadBuilder &t, mlir::Value position);
  mlir::Value advance(ThreadBuilder &t, mlir::Value position);

  /// The pieces of a loop that is one product.
  using DotOperands = std::pair<StagedOperand, StagedOperand>;
  tile::DotOp soleDot(mlir::scf::ForOp loop, const Stagings &stagings) const;
  mlir::LogicalResult emitDotLoop(ThreadBuilder &t, mlir::scf::ForOp loop,
                                  tile::DotOp dot, const Stagings &stagings);
  mlir::LogicalResult emitDotStep(ThreadBuilder &t, mlir::scf::ForOp loop,
                                  tile::DotOp dot, const Stagings &stagings,
                                  mlir::Value at, mlir::Value position,
                                  Fragment &sum,
                                  llvm::SmallVector<mlir::Value> &slice);
  DotOperands operandsAt(tile::DotOp dot, mlir::Value position);
  void waitForStep(ThreadBuilder &t);
  StagedOperand throughShared(ThreadBuilder &t, Fragment &fragment);
  RowArray spilled(ThreadBuilder &t, mlir::Value tile);
  StagedOperand staged(const TileValue &value, unsigned contractedAxis) const;
  OperandStaging &stagingOf(ThreadBuilder &t, tile::MapOp map, int64_t stages,
                            bool stageReads);

  tile::KernelOp source;
  KernelArguments arguments;
  FragmentTiles tiles;
  int64_t warpsM, warpsN, stages, rasterGroup, minBlocks;
  bool stageReads;
  WarpGrid grid;
  kernel::FuncOp function;
  /// Maps whose result is an operand of a product, and that operand's type.
  llvm::DenseMap<mlir::Operation *, mlir::Type> operandMaps;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<OperandStaging>> stagings;
  llvm::DenseMap<mlir::Value, RowArray> spills;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_MATRIXLOWERING_H
