//===- Passes.td - passes of the GPU kernel stage ----------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_KERNEL_PASSES_TD
#define AZULEJO_PASSES_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerTileToKernelPass
    : Pass<"azulejo-lower-tile-to-kernel", "::mlir::ModuleOp"> {
  let summary = "Lower tile programs to GPU kernels";
  let description = [{
    Every `tile.kernel @k` becomes a `kernel.func @k` whose blocks are the work
    items of the grid, with a plan of its shared memory.

    A program with products (`tile.dot`) runs on matrix units: operands are
    copied ahead into rings of swizzled tiles, products, masks and softmax stay
    in registers in the layout of accumulators, and what is written goes through
    shared memory, side by side (docs/design/kernel-dialect.md).

    With the knob `consumers` warps have roles instead: one warp group starts
    bulk copies, the others start products of warp groups; a ring of stages with
    barriers with phases lies between them (RoleLowering.h, RoleAttention.h), and
    results that are boxes of a tensor are stored in bulk (BulkEpilogue.h).

    Any other program is a row program. The rows of an item run one
    after the other; the threads of the block share the lanes of a row, each
    taking neighbouring lanes that one access can hold. A fold runs in the
    thread, then over the warp, then through shared memory.

    Where an access could be a wide one, the kernel has two bodies and picks one
    when it starts, by the alignment of addresses and strides. Both give every
    thread the same lanes, so a result does not depend on which one ran.

    Before:
    ```
    %s = tile.map at (%row, %0) to (%rows, %lanes) inits(%zero : tensor<4xf32>)
        attributes {kinds = ["sum"], ...} { ... }
    ```
    After:
    ```
    %t = scf.for %lane = %first to %whole step %all iter_args(%p = %zero) { ... }
    %w = kernel.warp_reduce "sum" %t : f32
    kernel.shared_store %w, %partials[%warp] : f32, !kernel.shared<f32, 8>
    kernel.barrier
    ```
  }];
  let dependentDialects = ["::azulejo::kernel::KernelDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def PlaceGroupWaitsPass
    : Pass<"azulejo-place-group-waits", "::azulejo::kernel::FuncOp"> {
  let summary = "Say how far waits for products of warp groups may lag";
  let description = [{
    Sets `pending` of every `kernel.group_wait` to the number of groups that have
    certainly been started since the group of its token, on whatever path: the
    groups end in order, so these may still be under way. A token that a loop
    carries is followed to what the loop began with and to what it yields.

    Before:
    ```
    %r = scf.for ... iter_args(%before = %none) -> (!kernel.group) {
      %d:4, %now = kernel.group_mma ...
      kernel.group_wait %before
      scf.yield %now : !kernel.group
    }
    kernel.group_wait %r
    ```
    After:
    ```
      kernel.group_wait %before pending 1
    ...
    kernel.group_wait %r pending 0
    ```
  }];
}

def InjectDelaysPass
    : Pass<"azulejo-inject-delays", "::azulejo::kernel::FuncOp"> {
  let summary = "Let warps sleep where they meet others";
  let description = [{
    For debugging: puts a `kernel.delay` before every op by which a warp waits
    for others, tells them something, or starts what runs on beside it, and
    behind barriers, too. Whatever order of events the barriers permit may then
    happen; a result that depends on it, or a hang, is a mistake of the kernel.

    Before:
    ```
    kernel.phase_wait %full[%stage] parity %p
    ```
    After:
    ```
    kernel.delay seed(1) site(0)
    kernel.phase_wait %full[%stage] parity %p
    ```
  }];
  let options = [
    Option<"seed", "seed", "int64_t", "1", "which delays of many">
  ];
}

#endif // AZULEJO_PASSES_KERNEL_PASSES_TD
