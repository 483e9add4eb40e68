// RUN: azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=sm_90a -o /dev/null | FileCheck %s --check-prefixes=CHECK,CVT
// RUN: azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=sm_89 -o /dev/null | FileCheck %s --check-prefixes=CHECK,CVT
// RUN: azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=sm_86 -o /dev/null | FileCheck %s --check-prefixes=CHECK,BITS
// fp8 in memory: pairs through the conversion instructions where the target has
// them, arithmetic on bits elsewhere. Memory is accessed as widely either way.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .entry four(
// CVT: ld.global.v2.b16
// CVT-COUNT-2: cvt.rn.f16x2.e4m3x2
// CVT-COUNT-2: cvt.rn.satfinite.e4m3x2.f32
// CVT-NOT: cvt.rn.satfinite
// CVT: st.global.v2.b16
// BITS: ld.global.b32
// BITS-NOT: m3x2
// BITS: st.global.b32
kernel.func @four threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x:4 = kernel.load f8E4M3FN, %p[%c0] align 4 -> f32, f32, f32, f32
  %a = arith.addf %x#0, %x#1 : f32
  %b = arith.addf %x#2, %x#3 : f32
  kernel.store f8E4M3FN, %q[%c0] align 4, %a, %b, %x#2, %x#1 : f32, f32, f32, f32
}

// -----

// CHECK: .entry two(
// CVT: ld.global.b16
// BITS: ld.global.v2.b8
// CVT: cvt.rn.f16x2.e5m2x2
// CVT: cvt.rn.satfinite.e5m2x2.f32
// BITS-NOT: m2x2
// CVT: st.global.b16
// BITS: st.global.v2.b8
kernel.func @two threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x:2 = kernel.load f8E5M2, %p[%c0] align 2 -> f32, f32
  %a = arith.addf %x#0, %x#1 : f32
  kernel.store f8E5M2, %q[%c0] align 2, %a, %x#1 : f32, f32
}

// -----

// CHECK: .entry one(
// CHECK: ld.global.b8
// CVT: cvt.rn.f16x2.e4m3x2
// CVT: cvt.rn.satfinite.e5m2x2.f32
// BITS-NOT: x2
// CHECK: st.global.b8
kernel.func @one threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f8E4M3FN, %p[%c0] align 1 -> f32
  kernel.store f8E5M2, %q[%c0] align 1, %x : f32
}

// -----

// A value that a graph casts to fp8 and that stays in registers is rounded.
// CHECK: .entry rounded(
// CHECK: ld.global.b32
// CVT: cvt.rn.satfinite.e4m3x2.f32
// CVT: cvt.rn.f16x2.e4m3x2
// BITS-NOT: x2
// CHECK: st.global.b32
kernel.func @rounded threads(32) {
^bb0(%p: i64, %q: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  %n = arith.truncf %x : f32 to f8E4M3FN
  %y = arith.extf %n : f8E4M3FN to f32
  kernel.store f32, %q[%c0] align 4, %y : f32
}
