//===- MatrixOps.td - operands of matrix units -------------*- tablegen -* ===//
//
// Shared tiles, the copies that fill them, and warp-level matrix products.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_KERNEL_MATRIXOPS_TD
#define AZULEJO_IR_KERNEL_MATRIXOPS_TD

def Kernel_TileAllocOp : Kernel_Op<"tile_alloc"> {
  let summary = "A shared tile, not initialised";
  let description = [{
    `offset` is its place in the block's shared memory, given by the plan.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Kernel_SharedTileType:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_CopyAsyncOp
    : Kernel_Op<"copy_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts a copy of 16 bytes from global to shared memory";
  let description = [{
    Copies the first `valid` bytes (0 to 16) at element `offset` of `base`,
    which is aligned to 16 bytes, to the chunk of the tile that begins at
    (row + rowOffset, column), and zeros the rest of the chunk. Memory past the valid bytes
    is not read. The data is there after a `copy_wait` that covers the copy's
    group, for this thread; for others after a barrier.
  }];
  let arguments = (ins I64:$base, I64:$offset, I32:$valid,
                       Kernel_SharedTileType:$tile, I32:$stage, I32:$row,
                       I32:$column, I64Attr:$rowOffset);
  let assemblyFormat = [{
    $base `[` $offset `]` `bytes` $valid `,` $tile `[` $stage `,` $row `+`
    $rowOffset `,` $column `]` attr-dict `:` type($tile)
  }];
}

def Kernel_CopyCommitOp
    : Kernel_Op<"copy_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Closes the group of copies that this thread has started";
  let assemblyFormat = "attr-dict";
}

def Kernel_CopyWaitOp
    : Kernel_Op<"copy_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until at most `pending` groups of copies are open";
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Kernel_TileStoreOp
    : Kernel_Op<"tile_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sets neighbouring elements of one row of a shared tile";
  let description = [{
    1, 2, 4 or 8 elements within one chunk of 16 bytes, rounded to the tile's
    element type, to the nearest, ties to even. `column` is a multiple of their
    number.
  }];
  let arguments = (ins Variadic<F32>:$values, Kernel_SharedTileType:$tile,
                       I32:$stage, I32:$row, I32:$column);
  let assemblyFormat = [{
    $tile `[` $stage `,` $row `,` $column `]` `,` $values attr-dict `:`
    type($tile) `,` type($values)
  }];
  let hasVerifier = 1;
}

def Kernel_TileLoadOp : Kernel_Op<"tile_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Neighbouring elements of one row of a shared tile";
  let description = [{
    A power of two of elements within one chunk of 16 bytes, widened to the
    compute type; `column` is a multiple of their number.
  }];
  let arguments = (ins Kernel_SharedTileType:$tile, I32:$stage, I32:$row,
                       I32:$column);
  let results = (outs Variadic<Kernel_Scalar>:$results);
  let assemblyFormat = [{
    $tile `[` $stage `,` $row `,` $column `]` attr-dict `:` type($tile) `->`
    type($results)
  }];
  let hasVerifier = 1;
}

def Kernel_LoadMatrixOp
    : Kernel_Op<"load_matrix", [MemoryEffects<[MemRead]>]> {
  let summary = "A block of a shared tile as operand fragments";
  let description = [{
    The whole warp reads the block that begins at (row + rowOffset, column +
    columnOffset); row and column are multiples of 8 and the same in all
    threads. It has 16 contracted elements of 16 bits, or 8 of f32, of which the
    registers then hold one each. `role` says for which operand of `kernel.mma`
    the registers are:

      "a"  the block has 16 rows: all of operand a;
      "b"  the block has 16 columns: operand b of two products, registers 0, 1
           for columns 0-7 and 2, 3 for columns 8-15.

    The tile holds rows or columns of the product as its rows, and contracted
    elements along them; with `transposed` it holds the contracted elements as
    its rows.

    A sum may take contracted elements in any order that both operands share.
    With `paired`, for f32 alone, element 2q is where element q is otherwise, and
    2q + 1 where q + 4 is: the order of accumulators (see `kernel.mma`), and the
    one in which transposed blocks are read without bank conflicts.
  }];
  let arguments = (ins StrAttr:$role, Kernel_SharedTileType:$tile, I32:$stage,
                       I32:$row, I32:$column, I64Attr:$rowOffset,
                       I64Attr:$columnOffset, UnitAttr:$transposed,
                       UnitAttr:$paired);
  let results = (outs I32:$r0, I32:$r1, I32:$r2, I32:$r3);
  let assemblyFormat = [{
    $role (`transposed` $transposed^)? (`paired` $paired^)? $tile `[` $stage `,` $row `+` $rowOffset
    `,` $column `+` $columnOffset `]` attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
}

def Kernel_PackOp : Kernel_Op<"pack", [Pure]> {
  let summary = "Two values rounded to a 16-bit type, in one register";
  let arguments = (ins F32:$low, F32:$high, TypeAttr:$type);
  let results = (outs I32:$result);
  let assemblyFormat = "$low `,` $high `as` $type attr-dict";
  let hasVerifier = 1;
}

def Kernel_RoundTf32Op : Kernel_Op<"round_tf32", [Pure]> {
  let summary = "A value rounded to tf32, to nearest, ties away from zero";
  let arguments = (ins F32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def Kernel_MmaOp : Kernel_Op<"mma"> {
  let summary = "accumulator + a x b for a 16 x 8 block";
  let description = [{
    The warp's matrix instruction with f32 accumulation, on 16 contracted
    elements of f16 or bf16 or on 8 of tf32. With g = lane / 4 and q = lane % 4
    a thread holds, of 16 bits,

      a0 (g, 2q..)  a1 (g+8, 2q..)  a2 (g, 2q+8..)  a3 (g+8, 2q+8..)
      b0 (2q.., g)  b1 (2q+8.., g)
      c0, c1 (g, 2q), (g, 2q+1)     c2, c3 the same in row g+8

    so accumulators packed in pairs are operand a of a further product; and of
    tf32

      a0 (g, q)     a1 (g+8, q)     a2 (g, q+4)     a3 (g+8, q+4)
      b0 (q, g)     b1 (q+4, g)

    which are accumulators in the order `paired` of `kernel.load_matrix`.
    Not Pure: the whole warp takes part.
  }];
  let arguments = (ins TypeAttr:$type, I32:$a0, I32:$a1, I32:$a2, I32:$a3,
                       I32:$b0, I32:$b1, F32:$c0, F32:$c1, F32:$c2, F32:$c3);
  let results = (outs F32:$d0, F32:$d1, F32:$d2, F32:$d3);
  let assemblyFormat = [{
    $type `(` $a0 `,` $a1 `,` $a2 `,` $a3 `)` `x` `(` $b0 `,` $b1 `)` `+`
    `(` $c0 `,` $c1 `,` $c2 `,` $c3 `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // AZULEJO_IR_KERNEL_MATRIXOPS_TD
