// RUN: azulejo-opt %s -azulejo-emit-ptx=target=sm_80 -o /dev/null | FileCheck %s
// e^x is 2^n 2^r with |r| <= 1/2: one approximate instruction on the small
// part, fused products before it, two exact scalings after it.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .entry exponential(
// CHECK: max.NaN.f32
// CHECK: min.NaN.f32
// CHECK: cvt.rni.f32.f32
// CHECK-COUNT-2: fma.rn.f32
// CHECK-NOT: .ftz
// CHECK-COUNT-1: ex2.approx.f32
// CHECK-NOT: ex2
// CHECK: mul.rn.f32
// CHECK: mul.rn.f32
// CHECK: st.global.b32
kernel.func @exponential threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.exp %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}
