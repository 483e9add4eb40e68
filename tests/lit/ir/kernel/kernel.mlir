// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// RUN: azulejo-opt %s -canonicalize -cse | FileCheck %s --check-prefix=KEPT
// Every op reads back as it was printed; nothing that threads do together is
// removed or merged.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: kernel.func @all threads(64) {
// CHECK: ^bb0(%[[P:.*]]: i64):
// CHECK: %[[A:.*]] = kernel.shared_alloc : <i32, 2>
// CHECK: %[[T:.*]] = kernel.thread_id
// CHECK: %[[B:.*]] = kernel.block_id
// CHECK: %[[X:.*]]:2 = kernel.load i8, %[[P]][%[[B]]] align 2 -> i32, i32
// CHECK: %[[Y:.*]] = kernel.load i32, %[[P]][%[[B]]] if %{{.*}} align 4 -> i32
// CHECK: kernel.warp_reduce "sum" %[[X]]#0 : i32
// CHECK: kernel.warp_reduce "sum" %[[X]]#0 : i32
// CHECK: kernel.shared_store %[[A]][%[[T]]], %{{.*}} : <i32, 2>, i32
// CHECK: kernel.barrier
// CHECK: kernel.shared_load %[[A]][%[[T]]] : <i32, 2> -> i32
// CHECK: kernel.store i8, %[[P]][%[[B]]] if %{{.*}} align 1, %{{.*}}, %[[X]]#1 : i32, i32
// KEPT-COUNT-2: kernel.warp_reduce
// KEPT: kernel.barrier
kernel.func @all threads(64) {
^bb0(%p: i64):
  %a = kernel.shared_alloc : <i32, 2>
  %t = kernel.thread_id
  %b = kernel.block_id
  %c = arith.cmpi eq, %p, %b : i64
  %x:2 = kernel.load i8, %p[%b] align 2 -> i32, i32
  %y = kernel.load i32, %p[%b] if %c align 4 -> i32
  %s = kernel.warp_reduce "sum" %x#0 : i32
  %unused = kernel.warp_reduce "sum" %x#0 : i32
  kernel.shared_store %a[%t], %s : <i32, 2>, i32
  kernel.barrier
  %z = kernel.shared_load %a[%t] : <i32, 2> -> i32
  %w = arith.addi %z, %y : i32
  kernel.store i8, %p[%b] if %c align 1, %w, %x#1 : i32, i32
}

// What feeds and runs matrix units reads back, too, and stays.
// CHECK-LABEL: kernel.func @matrix threads(128)
// CHECK: kernel.tile_alloc at 0 : <bf16, 2, 64, 64>
// CHECK: kernel.copy_async %{{.*}}[%{{.*}}] bytes %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}} + 32, %{{.*}}] : <bf16, 2, 64, 64>
// CHECK: kernel.copy_commit
// CHECK: kernel.copy_wait 1
// CHECK: kernel.warp_barrier
// CHECK: kernel.delay seed(7) site(3)
// CHECK: kernel.tile_store %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}, %{{.*}} : <bf16, 2, 64, 64>, f32, f32
// CHECK: kernel.tile_load
// CHECK: kernel.tile_load %{{.*}} : <i8, 2, 64, 64> -> i32, i32
// CHECK: kernel.load_matrix "a" %{{.*}}[%{{.*}}, %{{.*}} + 16, %{{.*}} + 32] : <bf16, 2, 64, 64>
// CHECK: kernel.load_matrix "b" transposed
// CHECK: kernel.pack
// CHECK: kernel.mma bf16
// CHECK: kernel.load_matrix "a" %{{.*}}[%{{.*}}, %{{.*}} + 0, %{{.*}} + 8] : <f32, 1, 32, 32>
// CHECK: kernel.load_matrix "b" transposed paired %{{.*}} : <f32, 1, 32, 32>
// CHECK: kernel.round_tf32 %{{.*}}
// CHECK: kernel.mma tf32
// CHECK: kernel.warp_reduce "max" %{{.*}} lanes 4 : f32
// CHECK: kernel.opaque %{{.*}} : i64
// CHECK: kernel.warp_any %{{.*}}
// KEPT: kernel.mma
// KEPT: kernel.warp_any
kernel.func @matrix threads(128) {
^bb0(%p: i64):
  %t = kernel.thread_id
  %tile = kernel.tile_alloc at 0 : <bf16, 2, 64, 64>
  kernel.copy_async %p[%p] bytes %t, %tile[%t, %t + 32, %t] : <bf16, 2, 64, 64>
  kernel.copy_commit
  kernel.copy_wait 1
  kernel.warp_barrier
  kernel.delay seed(7) site(3)
  %o = kernel.opaque %t : i32
  %zero = arith.constant 0.0 : f32
  kernel.tile_store %tile[%o, %t, %t], %zero, %zero : <bf16, 2, 64, 64>, f32, f32
  %x:2 = kernel.tile_load %tile[%t, %t, %t] : <bf16, 2, 64, 64> -> f32, f32
  %bytes = kernel.tile_alloc : <i8, 2, 64, 64>
  %y:2 = kernel.tile_load %bytes[%t, %t, %t] : <i8, 2, 64, 64> -> i32, i32
  %a0, %a1, %a2, %a3 = kernel.load_matrix "a" %tile[%t, %t + 16, %t + 32] : <bf16, 2, 64, 64>
  %b0, %b1, %b2, %b3 = kernel.load_matrix "b" transposed %tile[%t, %t + 0, %t + 0] : <bf16, 2, 64, 64>
  %c = kernel.pack %x#0, %x#1 as bf16
  %d0, %d1, %d2, %d3 = kernel.mma bf16(%a0, %a1, %a2, %c) x (%b0, %b1) + (%zero, %zero, %zero, %zero)
  %words = kernel.tile_alloc : <f32, 1, 32, 32>
  %e0, %e1, %e2, %e3 = kernel.load_matrix "a" %words[%t, %t + 0, %t + 8] : <f32, 1, 32, 32>
  %f0, %f1, %f2, %f3 = kernel.load_matrix "b" transposed paired %words[%t, %t + 0, %t + 0] : <f32, 1, 32, 32>
  %r = kernel.round_tf32 %d1
  %g0, %g1, %g2, %g3 = kernel.mma tf32(%e0, %e1, %e2, %r) x (%f0, %f1) + (%d0, %d1, %d2, %d3)
  %m = kernel.warp_reduce "max" %g0 lanes 4 : f32
  %far = kernel.opaque %p : i64
  %odd = arith.cmpi eq, %far, %p : i64
  %any = kernel.warp_any %odd
  kernel.store f32, %p[%p] align 4, %m : f32
}
