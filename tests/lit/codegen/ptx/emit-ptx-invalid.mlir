// RUN: azulejo-opt %s -split-input-file -verify-diagnostics -azulejo-kernel-to-ptx=target=sm_80
// RUN: not azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=cpu-avx2 2>&1 | FileCheck %s
// What has no instruction sequence is refused before the backend sees it.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: is no GPU [ptx.target]
// expected-error@below {{it uses a function without a GPU instruction sequence [ptx.math]}}
module {
kernel.func @function threads(32) {
^bb0(%p: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  // expected-error@below {{has no instruction sequence for GPUs}}
  %y = math.cbrt %x : f32
  kernel.store f32, %p[%c0] align 4, %y : f32
}
}

// -----

// expected-error@below {{error Unsupported: kernel 'narrow'}}
module {
kernel.func @narrow threads(32) {
^bb0(%p: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  // expected-error@below {{leaves an fp8 value that GPU code cannot hold}}
  %n = arith.truncf %x : f32 to f8E4M3FN
  %h = arith.extf %n : f8E4M3FN to f16
  %y = arith.extf %h : f16 to f32
  kernel.store f32, %p[%c0] align 4, %y : f32
}
}

// -----

// expected-error@below {{error Unsupported: kernel 'double'}}
module {
kernel.func @double threads(32) {
^bb0(%p: i64):
  %c0 = arith.constant 0 : i64
  %x = kernel.load f32, %p[%c0] align 4 -> f32
  // expected-error@below {{uses a float type that GPU code does not}}
  %n = arith.truncf %x : f32 to f8E4M3FNUZ
  %y = arith.extf %n : f8E4M3FNUZ to f32
  kernel.store f32, %p[%c0] align 4, %y : f32
}
}

// -----

// expected-error@below {{error ResourceLimit: kernel 'hungry': needs 262144 bytes of shared memory}}
module {
kernel.func @hungry threads(32) {
  %array = kernel.shared_alloc : <f32, 65536>
}
}

// -----

// expected-error@below {{expected one kernel, found 0}}
module {}
