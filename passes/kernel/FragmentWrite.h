//===- FragmentWrite.h - a map that writes, from registers ------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_FRAGMENTWRITE_H
#define AZULEJO_PASSES_KERNEL_FRAGMENTWRITE_H

#include "passes/kernel/FragmentTiles.h"

namespace azulejo::gpu {

/// Emits a map that writes where its tiles' elements are: pairs of neighbours
/// in each row, which four threads have eight of. No shared memory and no
/// barrier, for kernels whose epilogue is short; LinearMap's accesses are
/// wider.
mlir::LogicalResult emitFragmentWrite(ThreadBuilder &t,
                                      KernelArguments &arguments,
                                      const WarpGrid &grid, tile::MapOp map,
                                      FragmentTiles &tiles);

} // namespace azulejo::gpu

#endif // AZULEJO_PASSES_KERNEL_FRAGMENTWRITE_H
