//===- KernelOps.td - ops of the kernel dialect ------------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_KERNEL_KERNELOPS_TD
#define AZULEJO_IR_KERNEL_KERNELOPS_TD

include "ir/kernel/KernelDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<KernelDialect, mnemonic, traits>;

/// What arithmetic works on.
def Kernel_Scalar : AnyTypeOf<[F32, I1, I32, I64]>;

def Kernel_FuncOp : Kernel_Op<"func", [IsolatedFromAbove, Symbol, SingleBlock,
                                       NoTerminator]> {
  let summary = "One kernel: what a thread of a block does";
  let description = [{
    The block arguments are a tensor map for each of `tensor_maps`, and then
    i64: for every view its address and its outer strides in elements, then the
    sizes, in the order in which a launch passes them. The grid is
    one-dimensional; `kernel.block_id` is the work item. With `most_blocks` a
    launch has at most that many blocks, and each takes further items: at
    distances of `kernel.grid_size` or, with `takes_counter`, as many behind the
    grid as `kernel.count` says. The last argument then is the address of a
    counter: an i64 that is 0 when the launch begins and is used by no other.
    With `cluster_blocks` above 1 a launch has a multiple of that many blocks,
    and so many neighbours form a cluster (ClusterOps.td).
    `min_blocks` blocks shall fit a unit at a time, which bounds the registers.
    The addresses and outer strides of `aligned_views` must be multiples of 16
    bytes, or the kernel must not be launched.
    With `debug_waits` a `kernel.phase_wait` that takes seconds says so and ends
    the launch with an error instead of hanging; such a kernel is slow.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I32Attr:$block_threads,
                       OptionalAttr<I32Attr>:$min_blocks,
                       OptionalAttr<I64Attr>:$most_blocks,
                       OptionalAttr<I64Attr>:$cluster_blocks,
                       OptionalAttr<DenseI64ArrayAttr>:$aligned_views,
                       OptionalAttr<TypedArrayAttrBase<Kernel_BulkMapAttr,
                                    "tensor maps">>:$tensor_maps,
                       UnitAttr:$debug_waits, UnitAttr:$takes_counter);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `threads` `(` $block_threads `)` attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Shared memory of all allocations, in bytes.
    int64_t sharedBytes();
    /// How many blocks a cluster has; without clusters 1.
    int64_t clusterBlocks() { return getClusterBlocks().value_or(1); }
  }];
}

def Kernel_ThreadIdOp : Kernel_Op<"thread_id", [Pure]> {
  let summary = "The thread's number within its block";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_BlockIdOp : Kernel_Op<"block_id", [Pure]> {
  let summary = "The block's number within the grid";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_OpaqueOp
    : Kernel_Op<"opaque", [SameOperandsAndResultType,
                           MemoryEffects<[MemWrite]>]> {
  let summary = "The operand, which nothing is known about from here on";
  let description = [{
    What is computed from the result is computed where it stands. On a path that
    is rarely taken this keeps addresses from being prepared, and registers from
    being held, by all the others.
  }];
  let arguments = (ins AnyTypeOf<[I32, I64]>:$value);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Kernel_BarrierOp : Kernel_Op<"barrier",
                                 [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for every thread of the block";
  let description = [{
    Orders the shared-memory accesses of all threads before it against those
    after it. Control flow around it must be the same for the whole block.
  }];
  let assemblyFormat = "attr-dict";
}

def Kernel_WarpBarrierOp : Kernel_Op<"warp_barrier",
                                     [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for every thread of the warp";
  let description = [{
    Orders the shared-memory accesses of the warp's threads. It also keeps the
    assembler from moving loads of operands up across it, where their registers
    would be held for long.
  }];
  let assemblyFormat = "attr-dict";
}

def Kernel_DelayOp : Kernel_Op<"delay", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lets the warp sleep for a while that differs every time";
  let description = [{
    For debugging: half of the time not at all, else up to about two
    microseconds, by a hash of the clock, `seed`, `site`, the block and the
    warp. The threads that reach it together sleep equally long.
  }];
  let arguments = (ins I64Attr:$seed, I64Attr:$site);
  let assemblyFormat = "`seed` `(` $seed `)` `site` `(` $site `)` attr-dict";
}

def Kernel_SharedAllocOp : Kernel_Op<"shared_alloc"> {
  let summary = "An array in shared memory, not initialised";
  let description = [{
    `offset` is its place in the block's shared memory, given by the plan.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Kernel_SharedType:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_SharedLoadOp : Kernel_Op<"shared_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Neighbouring elements of a shared array";
  let description = [{
    1, 2 or 4 elements, at most 16 bytes; `index` is a multiple of their number.
  }];
  let arguments = (ins Kernel_SharedType:$array, I32:$index);
  let results = (outs Variadic<Kernel_Scalar>:$results);
  let assemblyFormat = [{
    $array `[` $index `]` attr-dict `:` type($array) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Kernel_SharedStoreOp
    : Kernel_Op<"shared_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sets neighbouring elements of a shared array";
  let arguments = (ins Variadic<Kernel_Scalar>:$values,
                       Kernel_SharedType:$array, I32:$index);
  let assemblyFormat = [{
    $array `[` $index `]` `,` $values attr-dict `:` type($array) `,`
    type($values)
  }];
  let hasVerifier = 1;
}

def Kernel_LoadOp : Kernel_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads neighbouring elements from global memory";
  let description = [{
    One access to 1, 2, 4 or 8 elements of type `storage` from element `offset`
    on, widened to the compute type: one result per element. The address is a
    multiple of `alignment` bytes. With a predicate that is false, memory is not
    touched and the results are zero.
  }];
  let arguments = (ins I64:$base, I64:$offset, Optional<I1>:$predicate,
                       TypeAttr:$storage, I64Attr:$alignment);
  let results = (outs Variadic<Kernel_Scalar>:$results);
  let assemblyFormat = [{
    $storage `,` $base `[` $offset `]` (`if` $predicate^)? `align` $alignment
    attr-dict `->` type($results)
  }];
  let hasVerifier = 1;
}

def Kernel_StoreOp : Kernel_Op<"store", [AttrSizedOperandSegments,
                                         MemoryEffects<[MemWrite]>]> {
  let summary = "Writes neighbouring elements to global memory";
  let description = [{
    The mirror image of `kernel.load`; values are rounded to `storage`, to the
    nearest, ties to even.
  }];
  let arguments = (ins Variadic<Kernel_Scalar>:$values, I64:$base, I64:$offset,
                       Optional<I1>:$predicate, TypeAttr:$storage,
                       I64Attr:$alignment);
  let assemblyFormat = [{
    $storage `,` $base `[` $offset `]` (`if` $predicate^)? `align` $alignment
    `,` $values attr-dict `:` type($values)
  }];
  let hasVerifier = 1;
}

def Kernel_WarpReduceOp
    : Kernel_Op<"warp_reduce", [SameOperandsAndResultType]> {
  let summary = "Folds a value over neighbouring threads of a warp";
  let description = [{
    Groups of `lanes` threads (32: the warp) fold their values; every thread of
    a group gets the same result. `kind` is "sum" (a butterfly:
    the association is fixed) or "max" (propagates NaN). All 32 threads must
    reach the op together, so it counts as having side effects: nothing may move
    it into or out of control flow.
  }];
  let arguments = (ins StrAttr:$kind, AnyTypeOf<[F32, I32, I64]>:$value,
                       DefaultValuedAttr<I64Attr, "32">:$lanes);
  let results = (outs AnyTypeOf<[F32, I32, I64]>:$result);
  let assemblyFormat = [{
    $kind $value (`lanes` $lanes^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Kernel_WarpAnyOp : Kernel_Op<"warp_any"> {
  let summary = "Whether a condition holds for any thread of the warp";
  let description = [{
    Every thread gets the same answer, so a branch on it keeps the warp
    together. All 32 threads must reach the op together.
  }];
  let arguments = (ins I1:$condition);
  let results = (outs I1:$result);
  let assemblyFormat = "$condition attr-dict";
}

include "ir/kernel/MatrixOps.td"
include "ir/kernel/AsyncOps.td"
include "ir/kernel/ClusterOps.td"

#endif // AZULEJO_IR_KERNEL_KERNELOPS_TD
