// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// expected-error@below {{needs whole warps, at most 1024 threads}}
kernel.func @warps threads(48) {
}

// -----

// expected-error@below {{argument 0 is not i64}}
kernel.func @arguments threads(32) {
^bb0(%p: f32):
}

// -----

kernel.func @three threads(32) {
^bb0(%p: i64):
  // expected-error@below {{accesses 1, 2, 4 or 8 elements}}
  %x:3 = kernel.load f32, %p[%p] align 4 -> f32, f32, f32
}

// -----

kernel.func @compute_type threads(32) {
^bb0(%p: i64):
  // expected-error@below {{works on the compute type of its storage type}}
  %x = kernel.load i8, %p[%p] align 1 -> i64
}

// -----

kernel.func @storage_type threads(32) {
^bb0(%p: i64):
  // expected-error@below {{cannot access elements of type 'f64'}}
  %x = kernel.load f64, %p[%p] align 8 -> f32
}

// -----

kernel.func @alignment threads(32) {
^bb0(%p: i64, %x: i64):
  // expected-error@below {{alignment must be a power of two from the size of an element to 16}}
  kernel.store i64, %p[%p] align 4, %x : i64
}

// -----

kernel.func @array threads(32) {
^bb0(%p: i64):
  %c0 = arith.constant 0 : i32
  %a = kernel.shared_alloc : <f32, 4>
  // expected-error@below {{works on elements of type 'f32'}}
  %x = kernel.shared_load %a[%c0] : <f32, 4> -> i32
}

// -----

kernel.func @stored threads(32) {
^bb0(%p: i64):
  %c0 = arith.constant 0 : i32
  %a = kernel.shared_alloc : <f32, 4>
  // expected-error@below {{works on elements of type 'f32'}}
  kernel.shared_store %a[%c0], %c0 : <f32, 4>, i32
}

// -----

kernel.func @nested threads(32) {
^bb0(%p: i64):
  %c = arith.constant true
  scf.if %c {
    // expected-error@below {{belongs at the top level of a kernel}}
    %a = kernel.shared_alloc : <f32, 4>
  }
}

// -----

kernel.func @kind threads(32) {
^bb0(%p: i64):
  // expected-error@below {{kind must be sum or max}}
  %x = kernel.warp_reduce "product" %p : i64
}

// -----

kernel.func @empty_array threads(32) {
  // expected-error@below {{shared arrays have at least one element}}
  %a = kernel.shared_alloc : <f32, 0>
}

// -----

kernel.func @element threads(32) {
  // expected-error@below {{shared arrays hold f32, i32 or i64}}
  %a = kernel.shared_alloc : <bf16, 4>
}

// -----

kernel.func @fragment_type threads(32) {
  %t = kernel.thread_id
  %tile = kernel.tile_alloc : <i8, 1, 32, 32>
  // expected-error@below {{reads tiles of f16, bf16 or f32}}
  %a:4 = kernel.load_matrix "a" %tile[%t, %t + 0, %t + 0] : <i8, 1, 32, 32>
}

// -----

kernel.func @paired_halves threads(32) {
  %t = kernel.thread_id
  %tile = kernel.tile_alloc : <bf16, 1, 32, 32>
  // expected-error@below {{pairs elements of f32 alone}}
  %a:4 = kernel.load_matrix "a" paired %tile[%t, %t + 0, %t + 0] : <bf16, 1, 32, 32>
}

// -----

kernel.func @product_type threads(32) {
  %t = kernel.thread_id
  %zero = arith.constant 0.0 : f32
  // expected-error@below {{multiplies f16, bf16 or tf32}}
  %d:4 = kernel.mma f32(%t, %t, %t, %t) x (%t, %t) + (%zero, %zero, %zero, %zero)
}
