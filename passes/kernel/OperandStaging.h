//===- OperandStaging.h - a product's operand in shared memory --*- C++ -*-===//
//
// The map that computes an operand of tile.dot becomes copies by all threads of
// the block into a ring of shared tiles. The tile's rows are the map axis along
// which global memory is not contiguous, so that a chunk of 16 bytes is one
// access on both sides; which axis that is decides how fragments are read later
// (isTransposed).
//
//   the body only reads one element of the operand's own type
//       aligned      asynchronous copies of 16 bytes, zero-filled at the edges
//       not aligned  elements through registers
//   the body computes (a prologue)
//       whole chunks lane by lane, side by side; edges element by element
//   the same with `stageReads`
//       what it reads of every element's own is copied asynchronously, as it is
//       stored, to rings of its own; when a copy has arrived, the thread that
//       made it computes the operand from it
//
// Elements outside the map's extent, and those added to fill whole fragments,
// are zero. Memory outside the extent is not read.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_OPERANDSTAGING_H
#define AZULEJO_PASSES_KERNEL_OPERANDSTAGING_H

#include "passes/kernel/Fragment.h"
#include "passes/kernel/KernelArguments.h"

#include <functional>

namespace azulejo::gpu {

class OperandStaging {
public:
  /// `element` is the type of the product's operands. Emits the allocation and
  /// what all copies share at `t`'s position, which is at the top of the
  /// kernel.
  OperandStaging(ThreadBuilder &t, KernelArguments &arguments,
                 const WarpGrid &grid, tile::MapOp map, mlir::Type element,
                 int64_t stages, bool stageReads);

  /// Emits the copies of one tile, for the scalars as they are now. Ends with
  /// no group closed.
  void issue(ThreadBuilder &t, mlir::Value stage);

  /// Nothing is copied: issue() computes the tile.
  bool isComputed() const { return rings.empty(); }
  /// Whether the copies can be issued one by one: every thread's are equally
  /// far apart, and there is no other way for what is not aligned.
  bool comesApart() const;
  int64_t copiesPerThread() const;
  /// A thread's copies one by one, each emitted where it is called, so that
  /// they can be spread over other work. What they share is emitted here.
  using Copy = std::function<void(mlir::Value stage)>;
  void appendCopies(ThreadBuilder &t, llvm::SmallVectorImpl<Copy> &copies);

  /// Whether the tile, which then has two stages, is computed from rings.
  bool converts() const { return !rings.empty() && !isCopied(); }
  /// Computes stage `into` of the tile from the ring's stage, whose copies by
  /// this thread have arrived.
  void convert(ThreadBuilder &t, mlir::Value stage, mlir::Value into);

  mlir::Value tile() const { return shared; }
  /// The shared tile's rows are the map's second axis.
  bool isTransposed() const { return laneAxis == 0; }
  /// Size of a map axis, padded to whole fragments.
  int64_t padded(unsigned axis) const { return paddedShape[axis]; }

private:
  /// What is copied as it is, and to where.
  struct Ring {
    tile::ReadOp read;
    mlir::Type element;
    mlir::Value tile;
  };
  /// One chunk: its place in the tile and what of it exists.
  struct Chunk {
    mlir::Value row, column; ///< i32, in the shared tile
    mlir::Value count;       ///< i64: existing elements; not above the chunk's
    mlir::Value atRow, atLane;
  };
  struct Bounds {
    mlir::Value rowOrigin, laneOrigin; ///< i64
    mlir::Value rows, lanes;           ///< existing, from the origin
    bool rowsFull, lanesFull;          ///< statically as many as the tile has
  };
  /// A thread's chunks where they lie in one column, equally far apart:
  /// constants in shared memory, one addition each in global memory.
  struct Column {
    Chunk first;
    mlir::Value base, advance; ///< i64: bytes, from one chunk to the next
    mlir::Value rows;  ///< i32: how many exist; null if all of the tile do
    mlir::Value valid; ///< i32: bytes of a chunk whose row exists
    int64_t rowStep, count;
  };
  Bounds bounds(ThreadBuilder &t);
  Chunk chunkAt(ThreadBuilder &t, const Bounds &bounds,
                mlir::Value index) const;
  mlir::Value existing(ThreadBuilder &t, const Bounds &bounds, mlir::Value row,
                       mlir::Value column) const;
  /// The tile itself is the ring.
  bool isCopied() const { return rings.size() == 1 && rings[0].tile == shared; }
  void findRings(ThreadBuilder &t, int64_t stages, bool stageReads);
  mlir::Value rowStride(ThreadBuilder &t, const Ring &ring);
  mlir::Value sourceOffset(ThreadBuilder &t, const Ring &ring,
                           const Chunk &chunk);
  mlir::Value sourceBase(const Ring &ring) const;
  void copyChunk(ThreadBuilder &t, const Ring &ring, const Chunk &chunk,
                 mlir::Value stage);
  LaneAnalysis alongRows() const;
  bool isColumn(const Ring &ring) const;
  Column columnOf(ThreadBuilder &t, const Ring &ring, Bounds limits);
  void copyColumn(ThreadBuilder &t, const Ring &ring, const Bounds &bounds,
                  mlir::Value stage);
  void copyOfColumn(ThreadBuilder &t, const Ring &ring, const Column &column,
                    int64_t number, mlir::Value base, mlir::Value stage);
  bool isAlwaysAligned() const;
  MapBody body(ThreadBuilder &t);
  void copyAsync(ThreadBuilder &t, const Ring &ring, const Bounds &bounds,
                 mlir::Value stage);
  void copyThroughRegisters(ThreadBuilder &t, const Bounds &bounds,
                            mlir::Value stage);
  void convertWhole(ThreadBuilder &t, llvm::ArrayRef<Chunk> batch,
                    mlir::Value stage, mlir::Value into);
  mlir::Value isWhole(ThreadBuilder &t, const Chunk &chunk) const;
  void storeWhole(ThreadBuilder &t, const Chunk &chunk, mlir::Value stage);
  void storeSingly(ThreadBuilder &t, const Chunk &chunk, mlir::Value stage);
  void storeElements(ThreadBuilder &t, const Chunk &chunk, mlir::Value stage);

  KernelArguments &arguments;
  const WarpGrid &grid;
  tile::MapOp map;
  mlir::Type element;
  /// Empty: the body computes from what it reads itself.
  llvm::SmallVector<Ring> rings;
  unsigned laneAxis = 1;
  int64_t paddedShape[2];
  int64_t chunkElements;    ///< 16 bytes of a ring, or else of the tile
  int64_t computedTogether; ///< elements of a chunk
  int64_t chunksPerRow, chunks;
  mlir::Value shared;
  mlir::Value aligned; ///< i1: wide accesses are aligned
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_OPERANDSTAGING_H
