// RUN: azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=h200 | FileCheck %s
// Products of warp groups: what descriptors say of each layout of a tile. The
// high half is swizzle << 30 | stride / 16, the low half leading / 16 << 16 |
// address / 16; a step is what is added to the low half.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Rows are lines, 128 bytes each, in two slabs: 1 << 30 | 1024 / 16; steps of
// 32 bytes, then the next slab: 64 rows of a, 128 rows of b. The tile of b is
// larger than what is multiplied.
// CHECK-LABEL: .visible .entry k_major(
// CHECK-DAG: ld.param.b32 %[[STAGE:r[0-9]+]], [k_major_param_1];
// CHECK-DAG: ld.param.b32 %[[ROW:r[0-9]+]], [k_major_param_2];
// CHECK-DAG: mov.b32 %[[A:r[0-9]+]], k_major_shared;
// CHECK: add.s32 %[[B:r[0-9]+]], %[[A]], 49152;
// CHECK: shr.u32 %[[BU:r[0-9]+]], %[[B]], 4;
// CHECK: and.b32 %[[BA:r[0-9]+]], %[[BU]], 16320;
// CHECK: shl.b32 %[[BR:r[0-9]+]], %[[ROW]], 3;
// CHECK: add.s32 %[[BAR:r[0-9]+]], %[[BR]], %[[BA]];
// CHECK: add.s32 %[[BLOW:r[0-9]+]], %[[BAR]], 65536;
// CHECK: shr.u32 %[[AU:r[0-9]+]], %[[A]], 4;
// CHECK: and.b32 %[[AA:r[0-9]+]], %[[AU]], 16320;
// CHECK: shl.b32 %[[AS:r[0-9]+]], %[[STAGE]], 10;
// CHECK: add.s32 %[[AAS:r[0-9]+]], %[[AS]], %[[AA]];
// CHECK: add.s32 %[[ALOW:r[0-9]+]], %[[AAS]], 65536;
// CHECK: begin inline asm
// CHECK-NEXT: {
// CHECK: mov.b32 highb, 1073741888;
// CHECK-NEXT: mov.b32 higha, 1073741888;
// CHECK-NEXT: wgmma.fence.sync.aligned;
// CHECK-NEXT: setp.ne.b32 more, 0, 0;
// CHECK-NEXT: add.s32 low, %[[ALOW]], 0;
// CHECK-NEXT: mov.b64 a, {low, higha};
// CHECK-NEXT: add.s32 low, %[[BLOW]], 0;
// CHECK-NEXT: mov.b64 b, {low, highb};
// CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%[[D0:r[0-9]+]], {{.*}}, %[[D7:r[0-9]+]]}, a, b, more, 1, 1, 0, 0;
// CHECK-NEXT: setp.ne.b32 more, 1, 0;
// CHECK-NEXT: add.s32 low, %[[ALOW]], 2;
// CHECK-NEXT: mov.b64 a, {low, higha};
// CHECK-NEXT: add.s32 low, %[[BLOW]], 2;
// CHECK-NEXT: mov.b64 b, {low, highb};
// CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%[[D0]], {{.*}}, %[[D7]]}, a, b, more, 1, 1, 0, 0;
// CHECK-NEXT: add.s32 low, %[[ALOW]], 4;
// CHECK: add.s32 low, %[[BLOW]], 4;
// CHECK: add.s32 low, %[[ALOW]], 6;
// CHECK: add.s32 low, %[[BLOW]], 6;
// CHECK: add.s32 low, %[[ALOW]], 512;
// CHECK: add.s32 low, %[[BLOW]], 1024;
// CHECK: add.s32 low, %[[ALOW]], 514;
// CHECK: add.s32 low, %[[BLOW]], 1026;
// CHECK: wgmma.mma_async
// CHECK-NEXT: wgmma.commit_group.sync.aligned;
// CHECK-NEXT: }
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-DAG: st.global.v4.b32 {{.*}}, {%[[D0]],
// CHECK-DAG: st.global.v4.b32 {{.*}}, %[[D7]]}
kernel.func @k_major threads(128) {
^bb0(%p: i64, %s: i64, %r: i64):
  %zero = arith.constant 0 : i32
  %f = arith.constant 0.0 : f32
  %a = kernel.tile_alloc : !kernel.shared_tile<bf16, 3, 64, 128>
  %b = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 128, 128>
  %stage = arith.trunci %s : i64 to i32
  %row = arith.trunci %r : i64 to i32
  %d:8, %g = kernel.group_mma bf16 depth(96) tile %a[%stage] row %zero : !kernel.shared_tile<bf16, 3, 64, 128> x %b[%zero] row %row : !kernel.shared_tile<bf16, 1, 128, 128> + (%f, %f, %f, %f, %f, %f, %f, %f) : f32, f32, f32, f32, f32, f32, f32, f32 -> f32, f32, f32, f32, f32, f32, f32, f32
  %e:8 = kernel.group_wait %g pending 0 (%d#0, %d#1, %d#2, %d#3, %d#4, %d#5, %d#6, %d#7) : f32, f32, f32, f32, f32, f32, f32, f32 -> f32, f32, f32, f32, f32, f32, f32, f32
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  kernel.store f32, %p[%c0] align 16, %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
  kernel.store f32, %p[%c4] align 16, %e#4, %e#5, %e#6, %e#7 : f32, f32, f32, f32
}

// -----

// Rows of 64 bytes for a (2 << 30 | 512 / 16), of 32 bytes for b (3 << 30 |
// 256 / 16). An accumulator that is not zero is added to from the first step on
// and stays where it is; waiting for it leaves it there.
// CHECK-LABEL: .visible .entry narrow(
// CHECK: ld.global{{.*}}.v4.b32 {%[[X0:r[0-9]+]], %[[X1:r[0-9]+]], %[[X2:r[0-9]+]], %[[X3:r[0-9]+]]}
// CHECK: mov.b32 highb, 3221225488;
// CHECK-NEXT: mov.b32 higha, 2147483680;
// CHECK: setp.ne.b32 more, 1, 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%[[X0]], %[[X1]], %[[X2]], %[[X3]]}, a, b, more, 1, 1, 0, 0;
// CHECK-NEXT: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: st.global.v4.b32 {{.*}}, {%[[X0]], %[[X1]], %[[X2]], %[[X3]]};
kernel.func @narrow threads(128) {
^bb0(%p: i64):
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : i64
  %a = kernel.tile_alloc : !kernel.shared_tile<f16, 1, 64, 32>
  %b = kernel.tile_alloc : !kernel.shared_tile<f16, 1, 8, 16>
  %x:4 = kernel.load f32, %p[%c0] align 16 -> f32, f32, f32, f32
  %d:4, %g = kernel.group_mma f16 depth(16) tile %a[%zero] row %zero : !kernel.shared_tile<f16, 1, 64, 32> x %b[%zero] row %zero : !kernel.shared_tile<f16, 1, 8, 16> + (%x#0, %x#1, %x#2, %x#3) : f32, f32, f32, f32 -> f32, f32, f32, f32
  %e:4 = kernel.group_wait %g pending 1 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32 -> f32, f32, f32, f32
  kernel.store f32, %p[%c0] align 16, %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
}

// -----

// Rows are contracted elements. The next 64 lines are a slab on: 32 rows of 128
// bytes for a, 48 for b. A step is 16 rows. The row is a line: 64 of them are a
// slab, so one is rows / 8 units of 16 bytes.
// CHECK-LABEL: .visible .entry transposed(
// CHECK-DAG: ld.param.b32 %[[ROW:r[0-9]+]], [transposed_param_1];
// CHECK: mad.lo.s32 %[[BL:r[0-9]+]], %[[ROW]], 6, %{{r[0-9]+}};
// CHECK: add.s32 %[[BLOW:r[0-9]+]], %[[BL]], 25165824;
// CHECK: shl.b32 %[[AR:r[0-9]+]], %[[ROW]], 2;
// CHECK: add.s32 %[[AL:r[0-9]+]], %[[AR]], %{{r[0-9]+}};
// CHECK: add.s32 %[[ALOW:r[0-9]+]], %[[AL]], 16777216;
// CHECK: mov.b32 highb, 1073741888;
// CHECK-NEXT: mov.b32 higha, 1073741888;
// CHECK: add.s32 low, %[[ALOW]], 0;
// CHECK: add.s32 low, %[[BLOW]], 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, a, b, more, 1, 1, 1, 1;
// CHECK: add.s32 low, %[[ALOW]], 128;
// CHECK: add.s32 low, %[[BLOW]], 128;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, a, b, more, 1, 1, 1, 1;
kernel.func @transposed threads(128) {
^bb0(%p: i64, %r: i64):
  %zero = arith.constant 0 : i32
  %f = arith.constant 0.0 : f32
  %a = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 32, 256>
  %b = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 48, 256>
  %row = arith.trunci %r : i64 to i32
  %d:4, %g = kernel.group_mma bf16 depth(32) tile %a[%zero] row %row : !kernel.shared_tile<bf16, 1, 32, 256> x %b[%zero] row %row : !kernel.shared_tile<bf16, 1, 48, 256> + (%f, %f, %f, %f) {aTransposed, bTransposed} : f32, f32, f32, f32 -> f32, f32, f32, f32
  %e:4 = kernel.group_wait %g pending 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32 -> f32, f32, f32, f32
  %c0 = arith.constant 0 : i64
  kernel.store f32, %p[%c0] align 16, %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
}

// -----

// Operand a in registers: four for each step, in order; no bit says whether it
// is transposed. A second product goes on with the accumulators, and a token
// that a loop carries leaves no trace.
// CHECK-LABEL: .visible .entry registers(
// CHECK: ld.global{{.*}}.v4.b32 {%[[R0:r[0-9]+]], %[[R1:r[0-9]+]], %[[R2:r[0-9]+]], %[[R3:r[0-9]+]]}
// CHECK: ld.global{{.*}}.v4.b32 {%[[R4:r[0-9]+]], %[[R5:r[0-9]+]], %[[R6:r[0-9]+]], %[[R7:r[0-9]+]]}
// CHECK: $[[LOOP:L__BB[0-9_]+]]:
// CHECK-NOT: mov{{.*}}%r
// CHECK: setp.ne.b32 more, 1, 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%[[D0:r[0-9]+]], %[[D1:r[0-9]+]], %[[D2:r[0-9]+]], %[[D3:r[0-9]+]]}, {%[[R0]], %[[R1]], %[[R2]], %[[R3]]}, b, more, 1, 1, 1;
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%[[D0]], %[[D1]], %[[D2]], %[[D3]]}, {%[[R4]], %[[R5]], %[[R6]], %[[R7]]}, b, more, 1, 1, 1;
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-NOT: mov
// CHECK: bra{{.*}} $[[LOOP]];
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: st.global.v4.b32 {{.*}}, {%[[D0]], %[[D1]], %[[D2]], %[[D3]]};
kernel.func @registers threads(128) {
^bb0(%p: i64, %n: i64):
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %b = kernel.tile_alloc : !kernel.shared_tile<bf16, 4, 32, 64>
  %x:4 = kernel.load i32, %p[%c0] align 16 -> i32, i32, i32, i32
  %y:4 = kernel.load i32, %p[%c4] align 16 -> i32, i32, i32, i32
  %none = kernel.group_none
  %steps = arith.trunci %n : i64 to i32
  %d:5 = scf.for %i = %zero to %steps step %one iter_args(%a0 = %f, %a1 = %f, %a2 = %f, %a3 = %f, %last = %none) -> (f32, f32, f32, f32, !kernel.group) : i32 {
    %m:4, %g = kernel.group_mma bf16 depth(32) registers(%x#0, %x#1, %x#2, %x#3, %y#0, %y#1, %y#2, %y#3) x %b[%i] row %zero : !kernel.shared_tile<bf16, 4, 32, 64> + (%a0, %a1, %a2, %a3) {bTransposed} : f32, f32, f32, f32 -> f32, f32, f32, f32
    kernel.group_wait %last pending 1
    scf.yield %m#0, %m#1, %m#2, %m#3, %g : f32, f32, f32, f32, !kernel.group
  }
  %e:4 = kernel.group_wait %d#4 pending 0 (%d#0, %d#1, %d#2, %d#3) : f32, f32, f32, f32 -> f32, f32, f32, f32
  kernel.store f32, %p[%c0] align 16, %e#0, %e#1, %e#2, %e#3 : f32, f32, f32, f32
}
