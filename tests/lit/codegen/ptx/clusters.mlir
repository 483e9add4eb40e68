// RUN: azulejo-opt %s -azulejo-kernel-to-ptx=target=h200 | FileCheck %s
// Blocks that run together. The launch has whole clusters, all receive what one
// copies, and a thread arrives at a barrier of another block without a fence of
// the whole device.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: .visible .entry shares(
// CHECK: .reqntid 128, 1, 1
// CHECK: .explicitcluster
// CHECK-NEXT: .reqnctapercluster 2, 1, 1
// CHECK: mbarrier.init
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: barrier.cluster.arrive.relaxed;
// CHECK-NEXT: barrier.cluster.wait;
// CHECK: %cluster_ctarank;
// CHECK: mov.b16 %[[BOTH:rs[0-9]+]], 3;
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
// CHECK-NOT: multicast
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [{{.*}}], %[[BOTH]];
// CHECK: mapa.shared::cluster.u32 %[[THERE:r[0-9]+]],
// CHECK: mbarrier.arrive.shared::cluster.b64 _, [%[[THERE]]],
// CHECK-NOT: fence
// CHECK: barrier.cluster.arrive.relaxed;
kernel.func @shares threads(128) attributes {
    cluster_blocks = 2 : i64,
    tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 16], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %p: i64):
  %zero = arith.constant 0 : i32
  %tile = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 32, 64>
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<1>
  kernel.phases_init %full : !kernel.phases<1>
  kernel.cluster_barrier
  %rank = kernel.cluster_rank
  kernel.bulk_load %map[%zero, %rank], %tile[%zero, slab 0, row 0] signals %full[%zero] : !kernel.shared_tile<bf16, 1, 32, 64>, !kernel.phases<1>
  kernel.bulk_load multicast %map[%zero, %rank], %tile[%zero, slab 0, row 16] signals %full[%zero] : !kernel.shared_tile<bf16, 1, 32, 64>, !kernel.phases<1>
  kernel.phase_arrive_at %full[%zero] of %rank : !kernel.phases<1>
  kernel.cluster_barrier
}
