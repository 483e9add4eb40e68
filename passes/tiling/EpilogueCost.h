//===- EpilogueCost.h - arithmetic behind a product -------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_EPILOGUECOST_H
#define AZULEJO_PASSES_TILING_EPILOGUECOST_H

#include "ir/graph/GraphOps.h"

namespace azulejo::tiling {

/// About how many instructions the elementwise ops of a region that follow from
/// `product` take for each of its elements.
int64_t epilogueInstructions(mlir::Operation *product);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_EPILOGUECOST_H
