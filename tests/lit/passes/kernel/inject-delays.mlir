// RUN: azulejo-opt %s '-azulejo-inject-delays=seed=5' | FileCheck %s
// Before whatever other warps notice, and behind barriers; every site has a
// number of its own.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!tile = !kernel.shared_tile<bf16, 2, 64, 64>

// CHECK-LABEL: kernel.func @met
kernel.func @met threads(256) attributes {tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 64], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %a: i64):
  %s = arith.constant 0 : i32
  %n = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  // CHECK: kernel.tile_alloc
  // CHECK-NEXT: kernel.phases_alloc
  // CHECK-NEXT: kernel.phases_init
  // CHECK-NEXT: kernel.delay seed(5) site(0)
  // CHECK-NEXT: kernel.barrier
  // CHECK-NEXT: kernel.delay seed(5) site(1)
  // CHECK-NEXT: scf.for
  %t = kernel.tile_alloc : !tile
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<2>
  kernel.phases_init %full : !kernel.phases<2>
  kernel.barrier
  scf.for %i = %s to %n step %one : i32 {
    // CHECK-NEXT: kernel.delay seed(5) site(2)
    // CHECK-NEXT: kernel.phase_wait
    kernel.phase_wait %full[%s] parity %s : !kernel.phases<2>
    // CHECK-NEXT: kernel.delay seed(5) site(3)
    // CHECK-NEXT: kernel.phase_expect
    kernel.phase_expect %full[%s] bytes(8192) : !kernel.phases<2>
    // CHECK-NEXT: kernel.delay seed(5) site(4)
    // CHECK-NEXT: kernel.bulk_load
    kernel.bulk_load %map[%s, %s], %t[%s, slab 0, row 0] signals %full[%s] : !tile, !kernel.phases<2>
    // CHECK-NEXT: kernel.delay seed(5) site(5)
    // CHECK-NEXT: kernel.group_mma
    // CHECK-NEXT: kernel.group_wait
    %d:4, %g = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
    kernel.group_wait %g
    // CHECK-NEXT: kernel.delay seed(5) site(6)
    // CHECK-NEXT: kernel.phase_arrive
    kernel.phase_arrive %full[%s] : !kernel.phases<2>
    // CHECK-NEXT: kernel.delay seed(5) site(7)
    // CHECK-NEXT: kernel.group_barrier
    // CHECK-NEXT: kernel.delay seed(5) site(8)
    // CHECK-NEXT: }
    kernel.group_barrier %one threads(128)
  }
}
