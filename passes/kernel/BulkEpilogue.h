//===- BulkEpilogue.h - results by bulk copies ------------------*- C++ -*-===//
//
// The epilogue of products by warps with roles where the result is a box of one
// tensor. It computes where the sums are, in registers, and leaves what is slow
// to copies that run on beside the next item's products. Each multiplying group
// has a ring of tiles of 64 rows and 128 bytes, and a storing thread:
//
//   storing thread of the group           its four warps
//     wait until the tile's store is
//       over; ask for the tile of the
//       tensor that the epilogue reads
//       (a residual), if it reads one
//                      -- ready -->       per tile of the sums:
//                                           compute, in place of what was read
//                      <-- written --
//     start the store
//
// The storing thread begins when the products of an item do, so what the
// epilogue reads is there long before it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_BULKEPILOGUE_H
#define AZULEJO_PASSES_KERNEL_BULKEPILOGUE_H

#include "passes/kernel/BulkBox.h"
#include "passes/kernel/Fragment.h"

namespace azulejo::gpu {

class BulkEpilogue {
public:
  /// Where the groups are: each has `groupRows` rows and all `columns` of an
  /// item, the rows of one group behind those of the other. Or they take items
  /// in turns, so that the epilogue runs beside another group's products and
  /// need not hide what it waits for.
  struct Shape {
    int64_t groups, groupRows, columns;
    bool inTurns;
    int64_t rowsApart() const { return inTurns ? 0 : groupRows; }
  };

  /// The epilogue that writes one product, if it can go by copies and two
  /// tiles per group have place in so many bytes of shared memory.
  static std::optional<BulkEpilogue> create(tile::MapOp map, Shape shape,
                                            int64_t bytes);

  /// The tensor maps, which become the next arguments of the kernel.
  llvm::SmallVector<mlir::Attribute> mapAttrs() const;
  void addMaps(mlir::Block &entry, mlir::Location loc);

  /// At the top of the kernel, after its arguments are bound.
  void allocate(ThreadBuilder &t, KernelArguments &arguments);
  /// By one thread of the block, before a barrier of all.
  void initialise(ThreadBuilder &t);

  /// One item by the storing thread of `group`. `turn` is 0 in the block's
  /// first item, then 1, 0, 1 and so on.
  void emitCopies(ThreadBuilder &t, KernelArguments &arguments,
                  mlir::Value group, mlir::Value turn) const;
  /// By a storing thread in the end: shared memory is read until then.
  void drain(ThreadBuilder &t) const;
  struct Warp {
    const WarpGrid &grid;
    mlir::Value group, warpOfGroup;
  };
  /// What the body reads per column (a bias), for each pair of neighbours of
  /// one tile: the same for all rows; asked for a tile ahead, but in turns.
  using ColumnReads = std::vector<MapBody::Reads>;
  /// Asks for those of an item's first tile, before its products.
  ColumnReads begin(ThreadBuilder &t, KernelArguments &arguments,
                    const Warp &warp) const;
  /// The same item by the warps of the group, from the sums of each 64 rows.
  void emitRows(ThreadBuilder &t, KernelArguments &arguments, const Warp &warp,
                ColumnReads first, llvm::MutableArrayRef<Fragment> sums,
                mlir::Value turn) const;

private:
  /// A tile of the sums: which place of the ring it takes, and for the how
  /// manieth time in this item.
  struct Step {
    int64_t block, column, place, use;
  };
  llvm::SmallVector<Step> steps() const;
  mlir::Value parityOf(ThreadBuilder &t, const Step &step,
                       mlir::Value turn) const;
  bool findRead();
  mlir::Value placeOf(ThreadBuilder &t, mlir::Value group,
                      const Step &step) const;
  void prepare(ThreadBuilder &t, KernelArguments &arguments, mlir::Value group,
               const Step &step) const;
  void store(ThreadBuilder &t, KernelArguments &arguments, mlir::Value group,
             const Step &step) const;
  /// The body in the thread's rows of a block of 64.
  using RowBodies = std::vector<std::unique_ptr<MapBody>>;
  struct Emission;
  RowBodies bodiesOf(const Emission &by, int64_t block) const;
  ColumnReads readColumns(const Emission &by, MapBody &body,
                          const Step &step) const;
  void emitTile(const Emission &by, const RowBodies &bodies,
                const ColumnReads &reads, Fragment &sum,
                const Step &step) const;
  mlir::Value exists(ThreadBuilder &t, KernelArguments &arguments,
                     unsigned axis, mlir::Value at) const;

  tile::MapOp map;
  Shape shape;
  tile::WriteOp write;
  tile::ReadOp read; ///< by copies; or null
  std::optional<BulkBox> target, source;
  kernel::SharedTileType type; ///< of one tile
  int64_t places = 0;          ///< of a group's ring
  mlir::Value targetMap, sourceMap, ring, ready, written;
};

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_BULKEPILOGUE_H
