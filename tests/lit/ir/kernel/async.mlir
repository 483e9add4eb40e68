// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// A kernel with roles: one thread copies, a warp group multiplies.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: kernel.func @roles threads(256) attributes {debug_waits, most_blocks = 132 : i64, takes_counter, tensor_maps = [#kernel.bulk_map<view 0, merged[1, 2], box[64, 64], swizzle 128>, #kernel.bulk_map<view 1, merged[1, 1], box[64, 64], swizzle 128>]}
kernel.func @roles threads(256) attributes {debug_waits, most_blocks = 132 : i64, takes_counter, tensor_maps = [#kernel.bulk_map<view 0, merged [1, 2], box [64, 64], swizzle 128>, #kernel.bulk_map<view 1, merged [1, 1], box [64, 64], swizzle 128>]} {
^bb0(%mapA: !kernel.tensor_map, %mapB: !kernel.tensor_map, %a: i64, %b: i64):
  %zero = arith.constant 0 : i32
  %f = arith.constant 0.0 : f32
  %tileA = kernel.tile_alloc : !kernel.shared_tile<bf16, 2, 64, 64>
  %tileB = kernel.tile_alloc : !kernel.shared_tile<bf16, 2, 64, 64>
  // CHECK: %[[FULL:.*]] = kernel.phases_alloc arrivals(1) : <2>
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<2>
  // CHECK: kernel.phases_init %[[FULL]] : <2>
  kernel.phases_init %full : !kernel.phases<2>
  kernel.barrier
  %thread = kernel.thread_id
  %warp = kernel.uniform %thread
  // CHECK: kernel.set_registers 240 more
  kernel.set_registers 240 more
  // CHECK: kernel.phase_expect %[[FULL]][%{{.*}}] bytes(16384)
  kernel.phase_expect %full[%zero] bytes(16384) : !kernel.phases<2>
  // CHECK: kernel.bulk_load %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, slab 0, row 0] signals %[[FULL]][%{{.*}}]
  kernel.bulk_load %mapA[%zero, %zero], %tileA[%zero, slab 0, row 0] signals %full[%zero] : !kernel.shared_tile<bf16, 2, 64, 64>, !kernel.phases<2>
  kernel.bulk_load %mapB[%zero, %zero], %tileB[%zero, slab 0, row 0] signals %full[%zero] : !kernel.shared_tile<bf16, 2, 64, 64>, !kernel.phases<2>
  // CHECK: kernel.phase_wait %[[FULL]][%{{.*}}] parity %{{.*}}
  kernel.phase_wait %full[%zero] parity %zero : !kernel.phases<2>
  // CHECK: %[[D:.*]]:4, %[[G:.*]] = kernel.group_mma bf16 depth(64) tile %{{.*}}[%{{.*}}] row %{{.*}} : !kernel.shared_tile<bf16, 2, 64, 64> x %{{.*}}[%{{.*}}] row %{{.*}} : <bf16, 2, 64, 64> + (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {bTransposed}
  %d:4, %dg = kernel.group_mma bf16 depth(64) tile %tileA[%zero] row %zero : !kernel.shared_tile<bf16, 2, 64, 64> x %tileB[%zero] row %zero : !kernel.shared_tile<bf16, 2, 64, 64> + (%f, %f, %f, %f) {bTransposed} : f32, f32, f32, f32 -> f32, f32, f32, f32
  // CHECK: kernel.group_wait %[[G]](%[[D]]#0, %[[D]]#1, %[[D]]#2, %[[D]]#3)
  %e:4 = kernel.group_wait %dg(%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32 -> f32, f32, f32, f32
  %p = kernel.pack %e#0, %e#1 as bf16
  // CHECK: kernel.group_mma bf16 depth(16) registers(
  %g:4, %gg = kernel.group_mma bf16 depth(16) registers(%p, %p, %p, %p) x %tileB[%zero] row %zero : !kernel.shared_tile<bf16, 2, 64, 64> + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
  // CHECK: kernel.group_wait %{{.*}} pending 0
  kernel.group_wait %gg pending 0
  // CHECK: kernel.phase_arrive %[[FULL]]
  kernel.phase_arrive %full[%zero] : !kernel.phases<2>
  kernel.group_barrier %zero threads(128)
  // CHECK: kernel.group_barrier arrive %{{.*}} threads(128)
  kernel.group_barrier arrive %zero threads(128)
  // CHECK: kernel.bulk_fence
  kernel.bulk_fence
  // CHECK: kernel.bulk_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, slab 0, row 0]
  kernel.bulk_store %mapA[%zero, %zero], %tileA[%zero, slab 0, row 0] : !kernel.shared_tile<bf16, 2, 64, 64>
  kernel.bulk_commit
  // CHECK: kernel.bulk_wait 0 complete
  kernel.bulk_wait 0 complete
  %n = kernel.group_none
  %s = kernel.grid_size
  // CHECK: kernel.count %{{.*}}
  %next = kernel.count %b
}
