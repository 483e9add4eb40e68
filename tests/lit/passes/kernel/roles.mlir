// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=64,tileK=64,warpsM=1,warpsN=1,consumers=2,cluster=1,stages=4,rasterGroup=1}' | FileCheck %s
// One warp group copies, two multiply. Rows of a batched operand that are
// walked as one are one axis of its tensor map; both operands end where their
// tensors do, so what lies beyond comes as zeros.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

module {
  func.func @main(%a: tensor<?x?x?xbf16, #graph.dims<"B", "S", "K">> {graph.name = "a"}, %b: tensor<?x96xbf16, #graph.dims<"K", 96>> {graph.name = "b"}) -> (tensor<?x?x96xbf16, #graph.dims<"B", "S", 96>> {graph.name = "c"}) attributes {graph.dims = [#graph.dim<"B", 1, 8>, #graph.dim<"S", 1, 4096>, #graph.dim<"K", 1, 4096>]} {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<?x?x?xbf16, #graph.dims<"B", "S", "K">>, tensor<?x96xbf16, #graph.dims<"K", 96>>) -> tensor<?x?x96xbf16, #graph.dims<"B", "S", 96>>
    return %0 : tensor<?x?x96xbf16, #graph.dims<"B", "S", 96>>
  }
}

// CHECK: kernel.func @{{.*}} threads(384) attributes {aligned_views = array<i64: 0, 1, 2>, min_blocks = 1 : i32, most_blocks = 132 : i64, tensor_maps = [#kernel.bulk_map<view 0, merged[1, 2], box[64, 128], swizzle 128>, #kernel.bulk_map<view 1, merged[1, 1], box[64, 64], swizzle 128>, #kernel.bulk_map<view 2, merged[1, 2], box[64, 64], swizzle 128>]}
// CHECK: %[[A:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 4, 128, 64>
// CHECK: %[[B:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 4, 64, 64>
// Full: the copying thread arrives. Empty: each of eight warps does.
// CHECK: %[[FULL:.*]] = kernel.phases_alloc arrivals(1)
// CHECK: %[[EMPTY:.*]] = kernel.phases_alloc arrivals(8)
// CHECK: %[[C:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 2, 64, 64>
// CHECK: %[[READY:.*]] = kernel.phases_alloc arrivals(1)
// CHECK: %[[WRITTEN:.*]] = kernel.phases_alloc arrivals(4)
// CHECK: kernel.phases_init %[[FULL]]
// CHECK: kernel.phases_init %[[EMPTY]]
// CHECK: kernel.barrier
// CHECK: %[[GROUP:.*]] = kernel.uniform
// CHECK: kernel.set_registers 40
// CHECK: kernel.grid_size
// CHECK: scf.for
// CHECK: scf.for
// CHECK: kernel.phase_wait %[[EMPTY]]
// CHECK-NEXT: kernel.phase_expect %[[FULL]][%{{.*}}] bytes(24576)
// CHECK: kernel.bulk_load %{{.*}}, %[[A]][%{{.*}}, slab 0, row 0] signals %[[FULL]]
// CHECK: kernel.bulk_load %{{.*}}, %[[B]][%{{.*}}, slab 0, row 0] signals %[[FULL]]
// A thread per group stores: what begins outside of the tensor it leaves out.
// CHECK: kernel.bulk_wait 0
// CHECK: kernel.phase_arrive %[[READY]]
// CHECK: kernel.phase_wait %[[WRITTEN]]
// CHECK: scf.if
// CHECK-NEXT: arith
// CHECK: kernel.bulk_store %{{.*}}, %[[C]]
// CHECK: kernel.bulk_commit
// CHECK: } else {
// CHECK: kernel.set_registers 232 more
// CHECK: scf.for
// CHECK: %[[NONE:.*]] = kernel.group_none
// CHECK: scf.for
// CHECK: kernel.phase_wait %[[FULL]]
// CHECK: kernel.group_mma bf16 depth(64) tile %[[A]]{{.*}} x %[[B]]{{.*}}{bTransposed}
// What the step before has started is over; the step's own is not.
// CHECK: kernel.group_wait %{{.*}} pending 1
// CHECK: kernel.phase_arrive %[[EMPTY]]
// CHECK: kernel.group_wait %{{.*}} pending 0(
// CHECK: kernel.phase_arrive %[[EMPTY]]
// The result goes through shared memory, too: one tile per group.
// CHECK: kernel.phase_wait %[[READY]]
// CHECK: kernel.tile_store %[[C]]
// CHECK: kernel.bulk_fence
// CHECK-NEXT: kernel.warp_barrier
// CHECK: kernel.phase_arrive %[[WRITTEN]]
