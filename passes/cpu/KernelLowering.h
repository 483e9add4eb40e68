//===- KernelLowering.h - one tile.kernel to one host function --*- C++ -*-===//
//
// Turns a tile program into a function over [begin, end) of the grid (see
// runtime/plan/Plan.h for the ABI). Each tile lives in a buffer of the thread's
// scratch memory, at an offset fixed here:
//
//   rows first   element (i, j) at i * pitch + j: lanes run along the last axis
//   lanes first  element (i, j) at j * pitch + i: lanes run along axis 0
//
// Lanes-first is what makes online softmax cheap: the scores of 16 queries lie
// side by side, so row maxima and sums are vertical vector operations, and the
// two products of attention read K and V exactly as they lie in memory, one
// broadcast element at a time.
//
// A tile that only copies a view (the right shape of map, f32 in memory) gets
// no buffer when it is used as the broadcast operand of a dot: the product
// reads the view. Pitches are padded to whole register tiles, so inner loops
// have no edges; what lies in the padding is never stored anywhere.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_CPU_KERNELLOWERING_H
#define AZULEJO_PASSES_CPU_KERNELLOWERING_H

#include "ir/schedule/Schedule.h"
#include "passes/cpu/LaneBody.h"

namespace azulejo::cpu {

struct TileBuffer {
  mlir::Value pointer;
  mlir::Type element;
  int64_t rows = 1;  ///< capacity of the axis that is not the lane axis
  int64_t pitch = 0; ///< elements between its neighbours
  bool lanesFirst = false;
};

/// A dot operand that is read one element at a time: element (row, k) lies at
/// base + row * rowStride + k * kStride.
struct BroadcastOperand {
  mlir::Value base;
  mlir::Type storage;
  mlir::Value rowStride, kStride;
};

class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, const target::TargetDesc &target,
                 schedule::Schedule schedule);
  /// Adds the host function beside the kernel; sets `scratchBytes` on it.
  mlir::LogicalResult run(mlir::OpBuilder &b);

private:
  /// The loop over [begin, end) of the grid.
  mlir::LogicalResult emitItems(HostBuilder &h, mlir::Value begin,
                                mlir::Value end,
                                llvm::ArrayRef<mlir::Value> blocks);
  /// Whether every row of every written view starts on a cache line.
  mlir::Value writesAreAligned(HostBuilder &h);
  mlir::LogicalResult lowerBlock(HostBuilder &h, mlir::Block &block);
  mlir::LogicalResult lowerMap(HostBuilder &h, tile::MapOp map);
  void emitMapRow(HostBuilder &h, tile::MapOp map, LaneBody &body,
                  mlir::Value row, mlir::Value laneCount, unsigned laneAxis);
  void emitLaneStep(HostBuilder &h, tile::MapOp map, LaneBody &body,
                    mlir::Value row, mlir::Value lane, mlir::Value mask,
                    unsigned laneAxis,
                    llvm::SmallVectorImpl<mlir::Value> &folds);
  /// LowerTransposed.cpp: the same loops with vectors along the rows.
  bool prefersTransposed(tile::MapOp map, unsigned laneAxis) const;
  void emitTransposed(HostBuilder &h, tile::MapOp map, mlir::Value rowCount,
                      mlir::Value laneCount, unsigned laneAxis);
  void padRest(HostBuilder &h, tile::MapOp map, mlir::Value rowCount,
               mlir::Value laneCount, unsigned laneAxis);
  mlir::Value reusableInput(tile::MapOp map, mlir::Value result) const;
  mlir::LogicalResult lowerDot(HostBuilder &h, tile::DotOp dot);
  mlir::LogicalResult lowerOnlineSoftmax(HostBuilder &h,
                                         tile::OnlineSoftmaxOp op);
  mlir::LogicalResult lowerFill(HostBuilder &h, tile::FillOp fill);
  mlir::LogicalResult lowerFor(HostBuilder &h, mlir::scf::ForOp loop);
  mlir::LogicalResult lowerScalar(HostBuilder &h, mlir::Operation &op);

  /// Finds the tiles whose lanes run along axis 0.
  void assignLanes();
  bool isLanesFirst(mlir::Value tile) const {
    return lanesFirst.contains(tile);
  }
  /// Whether `tile` is a plain copy of an f32 view that a dot may read
  /// directly.
  std::optional<BroadcastOperand> directOperand(HostBuilder &h,
                                                mlir::Value tile);
  bool isDirect(tile::MapOp map) const;
  BroadcastOperand broadcastOperand(HostBuilder &h, mlir::Value tile);

  TileBuffer &allocate(HostBuilder &h, mlir::Value tile);
  /// Address of element (row, lane) where lane is along the lane axis.
  mlir::Value elementAddress(HostBuilder &h, const TileBuffer &buffer,
                             mlir::Value row, mlir::Value lane);
  mlir::Value outer(mlir::Value value);

  tile::KernelOp kernel;
  const target::TargetDesc &target;
  schedule::Schedule schedule;
  int64_t lanes;          ///< f32 lanes of one vector
  int64_t registerM;      ///< rows of a register tile
  int64_t registerN;      ///< vectors of a register tile
  bool streaming = false; ///< writes bypass the cache in what is emitted now
  int64_t scratchBytes = 0;
  mlir::Value scratch;
  llvm::DenseSet<mlir::Value> lanesFirst;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, ViewAccess> views;
  llvm::DenseMap<mlir::Value, TileBuffer> tiles;
  llvm::SmallVector<mlir::Value> programIds;
};

} // namespace azulejo::cpu

#endif // AZULEJO_PASSES_CPU_KERNELLOWERING_H
