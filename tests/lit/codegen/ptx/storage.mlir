// RUN: azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=sm_80 -o /dev/null | FileCheck %s
// Storage types widen and narrow; a predicate keeps memory untouched.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .entry half(
// CHECK: ld.global.b16
// CHECK: cvt.f32.f16
// CHECK: cvt.rn.f16.f32
// CHECK: st.global.b16
kernel.func @half threads(32) {
^bb0(%p: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f16, %p[%c0] align 2 -> f32
  %y = arith.mulf %x, %x : f32
  %z = arith.mulf %y, %y : f32
  kernel.store f16, %p[%c0] align 2, %z : f32
}

// -----

// CHECK: .entry truth(
// CHECK: ld.global.b8
// CHECK: st.global.b8
kernel.func @truth threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load i1, %p[%c0] align 1 -> i1
  %true = arith.constant true
  %y = arith.xori %x, %true : i1
  kernel.store i1, %q[%c0] align 1, %y : i1
}

// -----

// CHECK: .entry small(
// CHECK: ld.global.s8
// CHECK: cvt.rn.f32.s{{16|32}}
// CHECK: st.global.b32
kernel.func @small threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load i8, %p[%c0] align 1 -> i32
  %y = arith.sitofp %x : i32 to f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}

// -----

// CHECK: .entry byte(
// CHECK: ld.global.b{{8|32}}
// CHECK: st.global.b8
kernel.func @byte threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load i32, %p[%c0] align 4 -> i32
  kernel.store i8, %q[%c0] align 1, %x : i32
}

// -----

// The branch comes before the load, and its other side gives zeros.
// CHECK: .entry guarded(
// CHECK: bra
// CHECK: ld.global.v2.b32
// CHECK: st.global.v2.b32
kernel.func @guarded threads(32) {
^bb0(%p: i64, %q: i64, %n: i64):
  %c0 = arith.constant 0 : i64
  %has = arith.cmpi sgt, %n, %c0 : i64
  %x:2 = kernel.load f32, %p[%c0] if %has align 8 -> f32, f32
  kernel.store f32, %q[%c0] align 8, %x#1, %x#0 : f32, f32
}

// -----

// A 64-bit value crosses the warp as two halves.
// CHECK: .entry wide(
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK-NOT: shfl
// CHECK: st.global.b64
kernel.func @wide threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load i64, %p[%c0] align 8 -> i64
  %y = kernel.warp_reduce "max" %x : i64
  kernel.store i64, %q[%c0] align 8, %y : i64
}

// -----

// Two loads under a condition, and no conversion before the second: a thread
// would wait for the first.
// CHECK: .entry under_a_condition(
// CHECK: ld.global.b16
// CHECK-NOT: cvt.f32.f16
// CHECK: ld.global.b16
// CHECK-COUNT-2: cvt.f32.f16
kernel.func @under_a_condition threads(32) {
^bb0(%p: i64, %q: i64, %n: i64):
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %some = arith.cmpi slt, %c0, %n : i64
  %more = arith.cmpi slt, %c1, %n : i64
  %x = kernel.load f16, %p[%c0] if %some align 2 -> f32
  %y = kernel.load f16, %p[%c1] if %more align 2 -> f32
  %z = arith.addf %x, %y : f32
  kernel.store f32, %q[%c0] align 4, %z : f32
}
