// RUN: azulejo-opt %s -azulejo-kernel-to-ptx=target=h200 | FileCheck %s
// A sleep whose length hangs on the clock, the block and the warp, and on
// nothing that differs within a warp; two sites differ, and none of them moves
// across a barrier or branches.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .visible .entry delayed(
// CHECK-NOT: bra
// CHECK-DAG: mov.u32 %[[THREAD:r[0-9]+]], %tid.x;
// CHECK-DAG: shr.u32 %{{r[0-9]+}}, %[[THREAD]], 5;
// CHECK-DAG: mov.u32 %{{r[0-9]+}}, %clock;
// CHECK-DAG: mov.u32 %{{r[0-9]+}}, %ctaid.x;
// CHECK: xor.b32 %{{r[0-9]+}}, %{{r[0-9]+}}, [[FIRST:-?[0-9]+]];
// CHECK: nanosleep.u32 %{{r[0-9]+}};
// CHECK: bar
// CHECK: mov.u32 %{{r[0-9]+}}, %clock;
// CHECK-NOT: xor.b32 %{{r[0-9]+}}, %{{r[0-9]+}}, [[FIRST]];
// CHECK: nanosleep.u32 %{{r[0-9]+}};
// CHECK-NOT: bra
// CHECK: ret;
kernel.func @delayed threads(128) {
^bb0(%p: i64):
  kernel.delay seed(7) site(0)
  kernel.barrier
  kernel.delay seed(7) site(1)
}
