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
// CHECK: kernel.shared_store %{{.*}}, %[[A]][%[[T]]] : i32, <i32, 2>
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
  kernel.shared_store %s, %a[%t] : i32, <i32, 2>
  kernel.barrier
  %z = kernel.shared_load %a[%t] : <i32, 2> -> i32
  %w = arith.addi %z, %y : i32
  kernel.store i8, %p[%b] if %c align 1, %w, %x#1 : i32, i32
}
