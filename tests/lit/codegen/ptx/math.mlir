// RUN: azulejo-opt %s -split-input-file -azulejo-emit-ptx=target=sm_80 -o /dev/null | FileCheck %s
// Functions are written into the kernel; nothing is approximated or flushed
// that did not ask for it, and nothing is fused that was not fused in the IR.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Two limits that keep a NaN, the reduction, the polynomial, and a scaling by
// two powers of two that are made on bits.
// CHECK: .entry exponential(
// CHECK-DAG: max.NaN.f32
// CHECK-DAG: min.NaN.f32
// CHECK-COUNT-9: fma.rn.f32
// CHECK-COUNT-2: shl.b32
// CHECK-NOT: approx
// CHECK-NOT: .ftz
// CHECK: st.global.b32
kernel.func @exponential threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.exp %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// 2^x needs no product with log2 e.
// CHECK: .entry power_of_two(
// CHECK-COUNT-6: fma.rn.f32
// CHECK-NOT: approx
// CHECK: st.global.b32
kernel.func @power_of_two threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.exp2 %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// Subnormal arguments are scaled first, infinities and NaN chosen at the end.
// CHECK: .entry logarithm(
// CHECK-NOT: approx
// CHECK-NOT: .ftz
// CHECK: cvt.rn.f32.s32
// CHECK: selp.f32
// CHECK: st.global.b32
kernel.func @logarithm threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.log %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// The division is the correctly rounded one.
// CHECK: .entry hyperbolic(
// CHECK-NOT: approx
// CHECK: div.rn.f32
// CHECK: copysign.f32
// CHECK: st.global.b32
kernel.func @hyperbolic threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.tanh %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// The reduction is in f64, the polynomials are not.
// CHECK: .entry sine(
// CHECK-COUNT-3: fma.rn.f64
// CHECK: cvt.rn.f32.f64
// CHECK-NOT: approx
// CHECK: st.global.b32
kernel.func @sine threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.sin %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// CHECK: .entry cosine(
// CHECK-COUNT-3: fma.rn.f64
// CHECK-NOT: approx
// CHECK: st.global.b32
kernel.func @cosine threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.cos %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// CHECK: .entry power(
// CHECK: div.rn.f64
// CHECK-NOT: approx
// CHECK: st.global.b32
kernel.func @power threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.powf %x, %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// Both roundings of 1 / sqrt x are right ones.
// CHECK: .entry roots(
// CHECK-DAG: sqrt.rn.f32
// CHECK-DAG: {{rcp|div}}.rn.f32
// CHECK-NOT: approx
// CHECK: st.global.b32
kernel.func @roots threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.rsqrt %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// CHECK: .entry quotient(
// CHECK: div.rn.f32
// CHECK: st.global.b32
kernel.func @quotient threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %c = arith.constant 3.0 : f32
  %y = arith.divf %c, %x : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// An op that may be approximated is one instruction, and what brings its base
// to 2.
// CHECK: .entry approximate(
// CHECK: ld.global.b32
// CHECK-NEXT: ex2.approx.ftz.f32
// CHECK-NEXT: mul.rn.f32
// CHECK-NEXT: ex2.approx.ftz.f32
// CHECK-NEXT: lg2.approx.ftz.f32
// CHECK-NEXT: mul.rn.f32
// CHECK-NEXT: tanh.approx.f32
// CHECK-NEXT: sin.approx.ftz.f32
// CHECK-NEXT: cos.approx.ftz.f32
// CHECK-NEXT: sqrt.approx.ftz.f32
// CHECK-NEXT: rsqrt.approx.ftz.f32
// CHECK-NEXT: div.approx.ftz.f32
// CHECK-NEXT: rcp.approx.ftz.f32
kernel.func @approximate threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %a = math.exp2 %x fastmath<afn> : f32
  %b = math.exp %a fastmath<afn> : f32
  %c = math.log %b fastmath<afn> : f32
  %d = math.tanh %c fastmath<afn> : f32
  %e = math.sin %d fastmath<afn> : f32
  %f = math.cos %e fastmath<afn> : f32
  %g = math.sqrt %f fastmath<afn> : f32
  %h = math.rsqrt %g fastmath<afn> : f32
  %i = arith.divf %h, %x fastmath<afn> : f32
  %one = arith.constant 1.0 : f32
  %y = arith.divf %one, %i fastmath<afn> : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// No other flag has this effect.
// CHECK: .entry other_flags(
// CHECK-NOT: approx
// CHECK: st.global.b32
kernel.func @other_flags threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %y = math.exp2 %x fastmath<nnan,contract> : f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}
