//===- GroupMma.h - products of warp groups ---------------------*- C++ -*-===//
//
// wgmma reads its operands from shared memory through descriptors of 64 bits:
//
//   bits  0-13   address / 16           bits 16-29   leading offset / 16
//   bits 32-45   stride offset / 16     bits 62-63   swizzle: 1, 2, 3 for slab
//                                                    rows of 128, 64, 32 bytes
//
// In a !kernel.shared_tile a slab of R rows lies after a slab, a row of S bytes
// after a row, and the permutation repeats every 8 rows. So there are two ways
// in which an operand lies there:
//
//   rows are lines (rows or columns) of the product ("K-major")
//     stride: the next 8 lines, 8 S      leading: not used
//     16 more contracted elements: 32 bytes on, and R S for the next slab
//   rows are contracted elements ("MN-major", transposed), S = 128
//     stride: the next 8 rows, 1024      leading: the next 64 lines, R S
//     16 more contracted elements: 16 rows on, 2048 bytes
//
// The high half is a constant and the low half the sum of one that a loop does
// not change, of the stage's and of the row's; block-wide addresses have 18
// bits, so that no sum carries into the leading offset.
//
// Nothing may come between the steps of a product, and the assembler gives up
// overlapping where registers are touched in between: one inline assembly holds
// the fence, all steps and the commit. Accumulators are tied to the results,
// so the backend leaves them where they are.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_CODEGEN_PTX_GROUPMMA_H
#define AZULEJO_CODEGEN_PTX_GROUPMMA_H

#include "codegen/ptx/SharedMemory.h"

namespace azulejo::codegen {

/// The products, without the token, which has no value.
llvm::SmallVector<mlir::Value> lowerGroupMma(mlir::OpBuilder &b,
                                             const SharedMemory &shared,
                                             kernel::GroupMmaOp op);

/// `pending` must be set. The values pass through the wait, so that no
/// arithmetic on them can be moved before it.
llvm::SmallVector<mlir::Value> lowerGroupWait(mlir::OpBuilder &b,
                                              kernel::GroupWaitOp op);

} // namespace azulejo::codegen

#endif // AZULEJO_CODEGEN_PTX_GROUPMMA_H
