//===- SharedMemory.h - addresses in the block's shared memory --*- C++ -*-===//
//
// All allocations of a kernel lie in one array, at the offsets of their plan.
// Up to 48 KiB the array is static; beyond, its size is asked for at launch.
//
// Element (row, column) of a stage of a shared tile lies at
//
//   slab * rows * R + row * R + (chunk ^ (row / (128 / R)) % chunks) * 16 +
//   rest
//
// with R the bytes of a slab row and slab, chunk, rest the column in units of
// slabs, of 16 bytes within the slab, and of bytes within the chunk
// (ir/kernel/KernelDialect.td).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_SHAREDMEMORY_H
#define AZULEJO_CODEGEN_PTX_SHAREDMEMORY_H

#include "ir/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

namespace azulejo::codegen {

/// The most shared memory that a kernel can have without asking at launch.
inline constexpr int64_t kStaticSharedBytes = 48 * 1024;

class SharedMemory {
public:
  SharedMemory(kernel::FuncOp function, mlir::OpBuilder &b);

  /// The address of an allocation, which takes the place of its value.
  mlir::Value address(mlir::Operation *allocation);

  /// `index`: i32.
  mlir::Value element(mlir::Location loc, mlir::Value array, mlir::Type type,
                      mlir::Value index);
  /// Element (row + rowOffset, column) of a tile whose value `address` has
  /// replaced. All indices are i32.
  mlir::Value element(mlir::Location loc, mlir::Value tile, mlir::Value stage,
                      mlir::Value row, mlir::Value column,
                      int64_t rowOffset = 0);
  /// Row `row` of slab `slab`, where a permutation begins: a multiple of 8.
  mlir::Value slabRow(mlir::Location loc, mlir::Value tile, mlir::Value stage,
                      int64_t slab, int64_t row);
  /// Where this lane points for a block of 16 rows and two chunks of 16 bytes
  /// at (row + rowOffset, column + columnOffset): eight lanes to each quarter.
  /// `rowsFirst`: quarters 0 and 1 lie below each other, else side by side.
  mlir::Value matrixRow(mlir::Location loc, mlir::Value tile, mlir::Value stage,
                        mlir::Value row, mlir::Value column, int64_t rowOffset,
                        int64_t columnOffset, mlir::Value lane, bool rowsFirst);

  /// The registers of an operand of f32 that is transposed or paired. ldmatrix
  /// gives a thread one word of each row of 16 bytes, which is an element of
  /// f32 where it shall be; but it cannot turn words around, nor give two
  /// neighbours. Those are read as what they are.
  llvm::SmallVector<mlir::Value> operandWords(kernel::LoadMatrixOp load,
                                              mlir::Value lane);

  kernel::SharedTileType typeOf(mlir::Value tile) const {
    return tiles.find(tile)->second;
  }
  struct Phases {
    int64_t arrivals; ///< at each barrier, by as many threads
    int64_t count;
    int64_t offset; ///< in the block's shared memory
  };
  Phases phasesOf(mlir::Value phases) const {
    return barriers.find(phases)->second;
  }

private:
  mlir::Value i32(mlir::Location loc, int64_t value);
  mlir::Value add(mlir::Location loc, mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Location loc, mlir::Value x, int64_t y);
  mlir::Value advance(mlir::Location loc, mlir::Value base, mlir::Value offset,
                      int64_t constant = 0);

  mlir::OpBuilder &b;
  mlir::LLVM::GlobalOp global;
  int64_t unplanned = 0; ///< end of what has a place so far
  llvm::DenseMap<mlir::Value, kernel::SharedTileType> tiles;
  llvm::DenseMap<mlir::Value, Phases> barriers;
};

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_SHAREDMEMORY_H
