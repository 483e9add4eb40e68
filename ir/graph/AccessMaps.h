//===- AccessMaps.h - which element a value reads of another ----*- C++ -*-===//
//
// Composes the element maps of ops along the paths of a region: "element
// (d0, d1) of the output reads element (d0) of that reduction's result". The
// schedule families ask this to find out whether a region can run row by row,
// and where an epilogue's result lies.
//
// A coordinate that is not affine in the output's (the partner of a rotary
// pair, the row that a gather looks up, the piece of a concatenation) becomes
// an opaque dimension with a number past the output's own; an access that does
// not depend on it is still exact.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_ACCESSMAPS_H
#define AZULEJO_IR_GRAPH_ACCESSMAPS_H

#include "ir/graph/GraphOps.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace azulejo::graphir {

using Coordinates = llvm::SmallVector<mlir::AffineExpr, 4>;

/// The coordinates at which `op`, asked for its element `coords`, reads operand
/// `operand`. `symbols` is shared by all maps of one analysis; `opaque` is the
/// next free dimension number.
Coordinates operandCoordinates(mlir::Operation *op, unsigned operand,
                               llvm::ArrayRef<mlir::AffineExpr> coords,
                               llvm::SmallVectorImpl<opset::Dim> &symbols,
                               unsigned &opaque);

/// For each value of `stops` that `root` reads, directly or through other ops
/// (paths end at stops and at block arguments): every distinct coordinate list.
using Accesses =
    llvm::MapVector<mlir::Value, llvm::SmallVector<Coordinates, 1>>;
Accesses accessesOf(mlir::Value root, const llvm::DenseSet<mlir::Value> &stops,
                    llvm::SmallVectorImpl<opset::Dim> &symbols);

/// Solves coords_k = e_k(d) for d, where the e_k permute the dimensions, split
/// one (d floordiv c, d mod c) or join several (d0 * c + d1). Gives each d_i as
/// an expression over the coordinates (dimensions of the returned map); nullopt
/// where the e_k are not such a rearrangement of exactly `extents`.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
invertCoordinates(llvm::ArrayRef<mlir::AffineExpr> exprs,
                  llvm::ArrayRef<opset::Dim> extents,
                  llvm::SmallVectorImpl<opset::Dim> &symbols);

} // namespace azulejo::graphir

#endif // AZULEJO_IR_GRAPH_ACCESSMAPS_H
