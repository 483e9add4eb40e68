//===- Epilogue.h - writing an anchor's result through its users ----------===//
//
// A region with an anchor (a product, an attention) may compute elementwise
// functions of the anchor's result and lay them out anew before they are
// written. The anchor's kernel owns blocks of anchor coordinates, so each
// output must have exactly one element per anchor element: the composed
// coordinate map is inverted.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_EPILOGUE_H
#define AZULEJO_PASSES_TILING_EPILOGUE_H

#include "passes/tiling/ElementEmitter.h"

namespace azulejo::tiling {

struct EpilogueOutput {
  unsigned index;     ///< of the region's result
  mlir::Value value;  ///< the yielded value
  mlir::Value anchor; ///< the anchor's result that it is a function of
  /// Output coordinates as expressions over anchor coordinates.
  llvm::SmallVector<mlir::AffineExpr> coordinates;
  llvm::SmallVector<opset::Dim> symbols;
};

struct Epilogue {
  std::vector<EpilogueOutput> outputs;
  std::string reason; ///< why there is none; empty: there is one
};

/// Finds how each result of the region follows from one result of `anchor`.
Epilogue findEpilogue(graphir::FusedOp region, mlir::Operation *anchor);

/// Why `value`, an operand of the anchor, cannot be computed element by element
/// from the region's inputs; nullopt if it can.
std::optional<std::string> refusesPrologue(mlir::Value value);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_EPILOGUE_H
