// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=192,tileK=64,warpsM=1,warpsN=1,consumers=2,cluster=2,stages=4,rasterGroup=8}' | FileCheck %s
// Two blocks of neighbouring rows copy a half of the right operand each, to
// both, and a stage is free when the warps of both have read it. The left
// operand is each block's own.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

module {
  func.func @main(%a: tensor<1000x192xbf16> {graph.name = "a"}, %b: tensor<960x192xbf16> {graph.name = "b"}) -> (tensor<1000x960xbf16> {graph.name = "c"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = true} : (tensor<1000x192xbf16>, tensor<960x192xbf16>) -> tensor<1000x960xbf16>
    return %0 : tensor<1000x960xbf16>
  }
}

// The left box has all rows of its tile, the right one half of its own.
// CHECK: cluster_blocks = 2
// CHECK-SAME: most_blocks = 132
// CHECK-SAME: view 0, merged[1, 1], box[64, 128]
// CHECK-SAME: view 1, merged[1, 1], box[64, 96]
// CHECK: %[[RANK:.*]] = kernel.cluster_rank
// CHECK: kernel.phases_alloc arrivals(1)
// CHECK: %[[EMPTY:.*]] = kernel.phases_alloc arrivals(16)
// CHECK-NOT: kernel.barrier
// CHECK: kernel.cluster_barrier
// Eight tiles of rows are four pairs: an item's pair, its place in it, the tile.
// CHECK: %[[BLOCK:.*]] = kernel.block_id
// CHECK: scf.for %[[ITEM:.*]] = %[[BLOCK]] to %c40_i64
// CHECK: arith.divui %[[ITEM]], %c2_i64
// CHECK: %[[MEMBER:.*]] = arith.remui %[[ITEM]], %c2_i64
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c2_i64
// CHECK: arith.addi %[[FIRST]], %[[MEMBER]]
// CHECK: kernel.phase_wait %[[EMPTY]]
// Both operands' bytes, whoever sends them.
// CHECK: kernel.phase_expect {{.*}} bytes(40960)
// CHECK: kernel.bulk_load %{{.*}}slab 0, row 0]
// CHECK: arith.cmpi eq, %[[RANK]], %c0_i32
// CHECK: kernel.bulk_load multicast {{.*}} row 0]
// CHECK: arith.cmpi eq, %[[RANK]], %c1_i32
// CHECK: kernel.bulk_load multicast {{.*}} row 96]
// CHECK: kernel.group_wait %{{.*}} pending 1
// CHECK: kernel.phase_arrive_at %[[EMPTY]]
// CHECK: kernel.group_wait %{{.*}} pending 0(
// CHECK: kernel.phase_arrive_at %[[EMPTY]]
// CHECK: kernel.cluster_barrier
// CHECK-NEXT: }
