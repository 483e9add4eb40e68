// RUN: azulejo-opt %s -azulejo-kernel-to-ptx=target=sm_80 -o /dev/null | FileCheck %s
// Loops that run once or never leave nothing of themselves, also one inside
// another and one that carries values: LLVM would keep them, and what depends
// on the round with them. A loop of two rounds stays a loop.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .visible .entry short_loops(
// CHECK-NOT: bra
// CHECK: ld.global.b32
// CHECK-NOT: bra
// CHECK: add.rn.f32
// CHECK-NOT: bra
// CHECK-NOT: bar.sync
// CHECK: st.global.b32
// CHECK: bra
// CHECK: bar.sync
// CHECK: st.global.b32
// CHECK: bra
// CHECK-NOT: st.global
// CHECK: // entry short_loops
kernel.func @short_loops threads(32) {
^bb0(%in: i64, %out: i64):
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %four = arith.constant 4 : i64
  %f = arith.constant 1.0 : f32
  // Once: 0 to 4 by 4; inside it once more.
  %sum = scf.for %i = %zero to %four step %four iter_args(%s = %f) -> (f32) : i64 {
    %t = scf.for %j = %zero to %one step %two iter_args(%r = %s) -> (f32) : i64 {
      %x = kernel.load f32, %in[%j] align 4 -> f32
      %u = arith.addf %r, %x : f32
      scf.yield %u : f32
    }
    // Only in later rounds.
    %later = arith.cmpi sgt, %i, %zero : i64
    scf.if %later {
      kernel.store f32, %out[%two] align 4, %t : f32
    }
    scf.yield %t : f32
  }
  // Never.
  %kept = scf.for %i = %four to %four step %one iter_args(%s = %sum) -> (f32) : i64 {
    kernel.barrier
    scf.yield %f : f32
  }
  kernel.store f32, %out[%zero] align 4, %kept : f32
  scf.for %i = %zero to %two step %one : i64 {
    kernel.barrier
    kernel.store f32, %out[%i] align 4, %f : f32
  }
}
