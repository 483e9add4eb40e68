// RUN: azulejo-opt %s -azulejo-kernel-to-ptx=target=h200 | FileCheck %s
// A wait that looks at the clock: it ends when the phase is complete or it is
// too late, and then one thread of those that wait prints where, in this order:
// block, warp, barrier, place, parity. Nobody traps before that.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .extern .func (.param .b32 {{.*}}) vprintf
// CHECK: .global .align 1 .b8 debugged_late[{{[0-9]+}}] = {97, 122, 117,
// CHECK: .visible .entry debugged(
// CHECK: .local .align 4 .b8 {{.*}}[20];
// CHECK: mbarrier.init
// CHECK: mov.u64 %[[BEGIN:rd[0-9]+]], %globaltimer;
// CHECK: $[[AGAIN:L__BB[0-9_]+]]:
// CHECK: mbarrier.try_wait.parity.shared.b64 %[[OVER:p[0-9]+]], [%{{.*}}], %[[PARITY:r[0-9]+]];
// CHECK: not.pred %[[OPEN:p[0-9]+]], %[[OVER]];
// CHECK: mov.u64 %[[NOW:rd[0-9]+]], %globaltimer;
// CHECK: sub.s64 %[[TOOK:rd[0-9]+]], %[[NOW]], %[[BEGIN]];
// CHECK: setp.lt.u64 %[[EARLY:p[0-9]+]], %[[TOOK]], 2000000000;
// CHECK: and.pred %[[ON:p[0-9]+]], %[[EARLY]], %[[OPEN]];
// CHECK: @%[[ON]] bra $[[AGAIN]];
// CHECK: @%[[OVER]] bra $[[DONE:L__BB[0-9_]+]];
// CHECK: $[[DONE]]:
// CHECK-NEXT: st.global.b64
// CHECK-NEXT: ret;
// CHECK: activemask.b32 %[[WAITING:r[0-9]+]];
// CHECK: mov.u32 %[[BEFORE:r[0-9]+]], %lanemask_lt;
// CHECK: and.b32 %[[ANY:r[0-9]+]], %[[WAITING]], %[[BEFORE]];
// CHECK: setp.ne.b32 %[[SILENT:p[0-9]+]], %[[ANY]], 0;
// CHECK: @%[[SILENT]] bra $[[GRACE:L__BB[0-9_]+]];
// CHECK-DAG: mov.u32 %[[BLOCK:r[0-9]+]], %ctaid.x;
// CHECK-DAG: mov.u32 %[[THREAD:r[0-9]+]], %tid.x;
// CHECK-DAG: shr.u32 %[[WARP:r[0-9]+]], %[[THREAD]], 5;
// CHECK: st.local.b32 [%[[LINE:r[0-9]+]]], %[[BLOCK]];
// CHECK: st.local.b32 [%[[LINE]]+4], %[[WARP]];
// CHECK: st.local.b32 [%[[LINE]]+8], %{{r[0-9]+}};
// CHECK: st.local.b32 [%[[LINE]]+12], 64;
// CHECK: st.local.b32 [%[[LINE]]+16], %[[PARITY]];
// CHECK: call.uni (retval0), vprintf, (param0, param1);
// CHECK: $[[GRACE]]:
// CHECK: setp.lt.u64 %{{.*}}, %{{.*}}, 2200000000;
// CHECK: bar.warp.sync %[[WAITING]];
// CHECK: trap;
kernel.func @debugged threads(128) attributes {debug_waits} {
^bb0(%p: i64, %n: i64):
  %full = kernel.phases_alloc arrivals(1) at 64 : !kernel.phases<2>
  kernel.phases_init %full : !kernel.phases<2>
  kernel.barrier
  %c1 = arith.constant 1 : i32
  %number = arith.trunci %n : i64 to i32
  %index = arith.andi %number, %c1 : i32
  %parity = arith.shrui %number, %c1 : i32
  kernel.phase_wait %full[%index] parity %parity : !kernel.phases<2>
  %c0 = arith.constant 0 : i64
  kernel.store i64, %p[%c0] align 8, %n : i64
}
