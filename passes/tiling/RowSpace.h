//===- RowSpace.h - can a region run row by row? ----------------*- C++ -*-===//
//
// A RowChain region has one row space: extents R such that every reduction
// folds, for each row, the elements of that row only, and every output element
// belongs to one row whose reductions it reads. Lane extents (what lies inside
// a row) may differ between reductions and outputs: LayerNorm over 2H channels
// followed by SwiGLU over H is one region.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_ROWSPACE_H
#define AZULEJO_PASSES_TILING_ROWSPACE_H

#include "ir/graph/GraphOps.h"
#include "ir/opset/Type.h"

namespace azulejo::tiling {

struct RowSpace {
  opset::Shape rows;
  /// Reductions by depth: those of one entry need only those of earlier ones.
  std::vector<std::vector<mlir::Operation *>> stages;
  struct Output {
    mlir::Value value;
    /// Which axis of the output is row coordinate k; -1 where the row extent
    /// is 1 and no axis carries it.
    llvm::SmallVector<int> rowAxes;
    llvm::SmallVector<unsigned> laneAxes; ///< the other axes, in order
    llvm::SmallVector<mlir::Operation *> reductions; ///< that it reads
  };
  std::vector<Output> outputs;
};

/// The row space of a region whose normalisations have been decomposed, or why
/// there is none.
struct RowSpaceOrReason {
  RowSpace space;
  std::string reason; ///< empty: there is one
};
RowSpaceOrReason findRowSpace(graphir::FusedOp region);

/// The extents of a tensor value.
opset::Shape shapeOf(mlir::Value value);

/// Kept and folded axes of a reduction.
struct ReductionAxes {
  llvm::SmallVector<unsigned> kept, folded;
};
ReductionAxes axesOf(mlir::Operation *reduction);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_ROWSPACE_H
