//===- AsyncOps.td - what runs on beside its threads -------*- tablegen -* ===//
//
// Bulk copies of tensors, barriers with phases, products of warp groups, and
// what gives warps roles. These ops exist on sm_90a.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_KERNEL_ASYNCOPS_TD
#define AZULEJO_IR_KERNEL_ASYNCOPS_TD

// Barriers with phases.

def Kernel_PhasesAllocOp : Kernel_Op<"phases_alloc"> {
  let summary = "Barriers with phases, not initialised";
  let description = [{
    A phase of one of these barriers is complete when `arrivals` threads have
    arrived and all bytes that were expected in it have been copied. Then the
    next phase begins. A phase's parity is that of its number, which starts at
    0. `offset` is the place in the block's shared memory, given by the plan.
  }];
  let arguments = (ins I64Attr:$arrivals, OptionalAttr<I64Attr>:$offset);
  let results = (outs Kernel_PhasesType:$result);
  let assemblyFormat = [{
    `arrivals` `(` $arrivals `)` (`at` $offset^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_PhasesInitOp
    : Kernel_Op<"phases_init", [MemoryEffects<[MemWrite]>]> {
  let summary = "Puts barriers into their phase 0";
  let description = [{
    For one thread. Other threads may use the barriers after a `kernel.barrier`
    behind it; bulk copies, too.
  }];
  let arguments = (ins Kernel_PhasesType:$phases);
  let assemblyFormat = "$phases attr-dict `:` type($phases)";
}

def Kernel_PhaseExpectOp
    : Kernel_Op<"phase_expect", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives, and expects so many bytes of bulk copies";
  let arguments = (ins Kernel_PhasesType:$phases, I32:$index, I64Attr:$bytes);
  let assemblyFormat = [{
    $phases `[` $index `]` `bytes` `(` $bytes `)` attr-dict `:` type($phases)
  }];
  let hasVerifier = 1;
}

def Kernel_PhaseArriveOp
    : Kernel_Op<"phase_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives: what this thread did before is over";
  let arguments = (ins Kernel_PhasesType:$phases, I32:$index);
  let assemblyFormat = "$phases `[` $index `]` attr-dict `:` type($phases)";
}

def Kernel_PhaseWaitOp
    : Kernel_Op<"phase_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the phase of this parity is complete";
  let description = [{
    The phase is the current one or the one before it, so on a fresh barrier
    parity 1 does not wait.
  }];
  let arguments = (ins Kernel_PhasesType:$phases, I32:$index, I32:$parity);
  let assemblyFormat = [{
    $phases `[` $index `]` `parity` $parity attr-dict `:` type($phases)
  }];
}

// Bulk copies.

def Kernel_BulkLoadOp
    : Kernel_Op<"bulk_load", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts a copy of a box of a tensor to a shared tile";
  let description = [{
    For one thread. The box of `map` whose first element has these coordinates
    (innermost axis first) goes to slab `slab` of a stage, from row `row` on;
    elements outside of the tensor are zero. The copy signals its bytes, those
    outside included, to the barrier. Coordinates may lie outside.

    A box begins at a multiple of 16 bytes along the innermost axis, outside of
    the tensor, too: anything else is an illegal instruction, which ends the
    device for the process. Coordinates of other axes are free.

    With `multicast` every block of the cluster receives the box, at this place
    of its own tile, and the barrier of each gets the bytes.
  }];
  let arguments = (ins Kernel_TensorMapType:$map, Variadic<I32>:$coordinates,
                       Kernel_SharedTileType:$tile, I32:$stage, I64Attr:$slab,
                       I64Attr:$row, Kernel_PhasesType:$phases, I32:$index,
                       UnitAttr:$multicast);
  let assemblyFormat = [{
    (`multicast` $multicast^)? $map `[` $coordinates `]` `,` $tile `[` $stage
    `,` `slab` $slab `,` `row` $row `]` `signals` $phases `[` $index `]`
    attr-dict `:` type($tile) `,` type($phases)
  }];
  let hasVerifier = 1;
}

def Kernel_BulkStoreOp
    : Kernel_Op<"bulk_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts a copy of a box from a shared tile to a tensor";
  let description = [{
    For one thread, after a `kernel.bulk_fence` of all threads that wrote the
    tile and a barrier among them. The copy is part of this thread's open group
    (`bulk_commit`).

    A box begins as that of a `bulk_load` does, and no coordinate is negative:
    an illegal instruction again, along every axis. It may hang over the ends of
    the tensor, and what is outside is dropped, but along the innermost axis in
    whole chunks of 16 bytes: behind a row that is no multiple of 16 bytes, the
    rest of its last chunk is overwritten (as seen elsewhere on an H100; the
    instruction tests store.only.chunk.* ask). Whether a box may begin at an end
    or behind it is for store.only.past.* to say; kernels begin inside.
  }];
  let arguments = (ins Kernel_TensorMapType:$map, Variadic<I32>:$coordinates,
                       Kernel_SharedTileType:$tile, I32:$stage, I64Attr:$slab,
                       I64Attr:$row);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `,` $tile `[` $stage `,` `slab` $slab `,` `row`
    $row `]` attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
}

def Kernel_BulkCommitOp
    : Kernel_Op<"bulk_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Closes the group of bulk stores that this thread has started";
  let assemblyFormat = "attr-dict";
}

def Kernel_BulkWaitOp
    : Kernel_Op<"bulk_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until at most `pending` groups of bulk stores read";
  let description = [{
    The others have read their tiles, which may be overwritten. With `complete`
    they have also written.
  }];
  let arguments = (ins I64Attr:$pending, UnitAttr:$complete);
  let assemblyFormat = "$pending (`complete` $complete^)? attr-dict";
}

def Kernel_BulkFenceOp
    : Kernel_Op<"bulk_fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Shows this thread's writes to copies and group products";
  let description = [{
    Bulk copies and products of warp groups do not see what threads have written
    to shared memory before each writer has passed this fence.
  }];
  let assemblyFormat = "attr-dict";
}

// Warp groups.

def Kernel_GroupMmaOp : Kernel_Op<"group_mma", [AttrSizedOperandSegments]> {
  let summary = "Starts accumulators + a x b for 64 rows, by a warp group";
  let description = [{
    Four neighbouring warps, the first of which has a number divisible by four,
    take part: a warp group. The product has 64 rows, 2 columns for each
    accumulator, and `depth` contracted elements, a multiple of 16. Each warp
    has 16 rows, with its elements as those of `kernel.mma`:

      accumulator i of lane l, warp w of the group
        row 16 w + l / 4 + 8 (i / 2 % 2)     column 8 (i / 4) + 2 (l % 4) + i % 2

    Operand b is read from a shared tile, whose rows are the product's columns
    and whose columns are the contracted elements, beginning at row `bRow`; with
    `bTransposed` it is the other way round, and `bRow` is the first column.
    Operand a is read from a shared tile in the same way, or it is in registers:
    for every 16 contracted elements the four registers of `kernel.mma`'s a.
    Rows are multiples of 8, of 64 where they are columns.

    The products are under way when the op is over. Until a `kernel.group_wait`
    on the token nobody may use the results, other than as the accumulators of
    the next group_mma, nor overwrite the tiles. One group_mma is one group.
  }];
  let arguments = (ins TypeAttr:$type, I64Attr:$depth,
                       Variadic<Kernel_SharedTileType>:$aTile,
                       Variadic<I32>:$aStage, Variadic<I32>:$aRow,
                       Variadic<I32>:$aRegisters,
                       Kernel_SharedTileType:$bTile, I32:$bStage, I32:$bRow,
                       UnitAttr:$aTransposed, UnitAttr:$bTransposed,
                       Variadic<F32>:$accumulators);
  let results = (outs Variadic<F32>:$results, Kernel_GroupType:$group);
  let assemblyFormat = [{
    $type `depth` `(` $depth `)`
    (`tile` $aTile^ `[` $aStage `]` `row` $aRow `:` type($aTile))?
    (`registers` `(` $aRegisters^ `)`)?
    `x` $bTile `[` $bStage `]` `row` $bRow `:` type($bTile)
    `+` `(` $accumulators `)` attr-dict
    `:` type($accumulators) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Kernel_GroupNoneOp : Kernel_Op<"group_none", [Pure]> {
  let summary = "A group that is over: where a loop's token begins";
  let results = (outs Kernel_GroupType:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_GroupWaitOp : Kernel_Op<"group_wait"> {
  let summary = "Waits until the products of a group are over";
  let description = [{
    The results are the values, which may be used from then on. Groups end in
    the order in which they were started; `pending`, set by
    --azulejo-place-group-waits, is how many later ones may still be under way.
  }];
  let arguments = (ins Kernel_GroupType:$group, Variadic<F32>:$values,
                       OptionalAttr<I64Attr>:$pending);
  let results = (outs Variadic<F32>:$results);
  let assemblyFormat = [{
    $group (`pending` $pending^)? (`(` $values^ `)` `:` type($values) `->`
    type($results))? attr-dict
  }];
  let hasVerifier = 1;
}

def Kernel_GroupBarrierOp
    : Kernel_Op<"group_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for `threads` threads that name the same barrier";
  let description = [{
    `id` is 1 to 15 and the same for whole warps. With `arrive` the thread does
    not wait.
  }];
  let arguments = (ins I32:$id, I64Attr:$threads, UnitAttr:$arrive);
  let assemblyFormat = [{
    (`arrive` $arrive^)? $id `threads` `(` $threads `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Kernel_SetRegistersOp
    : Kernel_Op<"set_registers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Gives registers back, or waits for more";
  let description = [{
    For whole warp groups: from here on a thread has `count` registers, 24 to
    256 in steps of 8. With `more` it waits for other groups to give theirs
    back; without, `count` is fewer than before.
  }];
  let arguments = (ins I64Attr:$count, UnitAttr:$more);
  let assemblyFormat = "$count (`more` $more^)? attr-dict";
  let hasVerifier = 1;
}

def Kernel_UniformOp : Kernel_Op<"uniform"> {
  let summary = "The value of the warp's first thread";
  let description = [{
    Tells the assembler that a value is the same in the whole warp, so that
    branches on it are uniform. The whole warp takes part.
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def Kernel_CountOp : Kernel_Op<"count", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds one to a counter in global memory; what it was before";
  let description = [{
    An i64 that all blocks share, each thread for itself: no two get the same
    number. It orders nothing else.
  }];
  let arguments = (ins I64:$address);
  let results = (outs I64:$result);
  let assemblyFormat = "$address attr-dict";
}

def Kernel_GridSizeOp : Kernel_Op<"grid_size", [Pure]> {
  let summary = "How many blocks were launched";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

#endif // AZULEJO_IR_KERNEL_ASYNCOPS_TD
