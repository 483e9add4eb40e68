// RUN: azulejo-opt %s -azulejo-kernel-to-ptx=target=sm_80 -o /dev/null | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: azulejo-opt %s -azulejo-kernel-to-ptx=target=sm_90a -o /dev/null | FileCheck %s --check-prefixes=CHECK,SM90
// One op of each kind; what each becomes, and that nothing lives in local
// memory or loses precision.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// SM80: .target sm_80
// SM90: .target sm_90a
// CHECK: .visible .entry each_op(
// CHECK: .reqntid 64, 1, 1
// CHECK-NOT: .local
// CHECK: .shared .align 16 .b8 each_op_shared[8];
// CHECK-NOT: .local
// CHECK: %tid.x
// CHECK: %ctaid.x
// CHECK: ld.global.v4.b32
// SM80-NOT: .ftz
// SM90-NOT: .ftz
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: st.shared.b32
// CHECK: bar.sync 0;
// CHECK: ld.shared.b32
// CHECK-COUNT-5: max.NaN.f32
// CHECK: sqrt.rn.f32
// CHECK: rcp.rn.f32
// CHECK-COUNT-4: cvt.rn.bf16x2.f32
// CHECK: st.global.v4.b32
// CHECK: // entry each_op, 64 threads, 8 bytes of shared memory
kernel.func @each_op threads(64) {
^bb0(%in: i64, %out: i64):
  %array = kernel.shared_alloc : <f32, 2>
  %thread = kernel.thread_id
  %block = kernel.block_id
  %c8 = arith.constant 8 : i64
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i64
  %wide = arith.extui %thread : i32 to i64
  %base = arith.muli %block, %c512 : i64
  %mine = arith.muli %wide, %c8 : i64
  %at = arith.addi %base, %mine : i64
  %x:8 = kernel.load bf16, %in[%at] align 16 -> f32, f32, f32, f32, f32, f32, f32, f32
  %sum = kernel.warp_reduce "sum" %x#0 : f32
  kernel.shared_store %array[%c0], %sum : <f32, 2>, f32
  kernel.barrier
  %all = kernel.shared_load %array[%c0] : <f32, 2> -> f32
  %most = kernel.warp_reduce "max" %all : f32
  %scale = math.rsqrt %most : f32
  %y0 = arith.mulf %x#0, %scale : f32
  %y1 = arith.mulf %x#1, %scale : f32
  %y2 = arith.mulf %x#2, %scale : f32
  %y3 = arith.mulf %x#3, %scale : f32
  %y4 = arith.mulf %x#4, %scale : f32
  %y5 = arith.mulf %x#5, %scale : f32
  %y6 = arith.mulf %x#6, %scale : f32
  %y7 = arith.mulf %x#7, %scale : f32
  kernel.store bf16, %out[%at] align 16, %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7
      : f32, f32, f32, f32, f32, f32, f32, f32
}
