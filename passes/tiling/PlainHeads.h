//===- PlainHeads.h - heads as they lie in memory ---------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_TILING_PLAINHEADS_H
#define AZULEJO_PASSES_TILING_PLAINHEADS_H

#include "mlir/IR/Value.h"

namespace azulejo::tiling {

/// Whether an operand of attention is an input of the region whose heads bulk
/// copies can fetch: as it is, or with several heads in a row, from an element
/// on that is a multiple of 16 bytes for 16-bit types (a projection that packs
/// queries, keys and values).
bool arePlainHeads(mlir::Value operand);

} // namespace azulejo::tiling

#endif // AZULEJO_PASSES_TILING_PLAINHEADS_H
