// RUN: azulejo-opt %s -split-input-file -verify-diagnostics -azulejo-kernel-to-ptx=target=a100
// What a generation cannot do is refused by name, before the backend sees it.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// expected-error@below {{error Unsupported: kernel 'maps': it has tensor maps, but a100 (sm_80) has no bulk copies of tensors [ptx.async]}}
module {
kernel.func @maps threads(32) attributes {tensor_maps = [#kernel.bulk_map<view 0, merged [1], box [64], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map):
}
}

// -----

// expected-error@below {{kernel 'barriers': it uses kernel.phases_alloc, but a100 (sm_80) has no barriers that count copied bytes}}
module {
kernel.func @barriers threads(32) {
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<1>
}
}

// -----

// expected-error@below {{kernel 'store': it uses kernel.bulk_commit, but a100 (sm_80) has no bulk copies of tensors}}
module {
kernel.func @store threads(32) {
  kernel.bulk_commit
  kernel.bulk_wait 0
}
}

// -----

// expected-error@below {{kernel 'fence': it uses kernel.bulk_fence, but a100 (sm_80) has no bulk copies of tensors}}
module {
kernel.func @fence threads(32) {
  kernel.bulk_fence
}
}

// -----

// expected-error@below {{kernel 'registers': it uses kernel.set_registers, but a100 (sm_80) has no registers that change hands}}
module {
kernel.func @registers threads(128) {
  kernel.set_registers 40
}
}

// -----

// expected-error@below {{kernel 'product': it uses kernel.group_mma, but a100 (sm_80) has no products of warp groups}}
module {
kernel.func @product threads(128) {
  %zero = arith.constant 0 : i32
  %f = arith.constant 0.0 : f32
  %a = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 64, 64>
  %d:4, %g = kernel.group_mma bf16 depth(16) tile %a[%zero] row %zero : !kernel.shared_tile<bf16, 1, 64, 64> x %a[%zero] row %zero : !kernel.shared_tile<bf16, 1, 64, 64> + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
}
}

// -----

// expected-error@below {{kernel 'unplaced': it uses kernel.group_none, but a100 (sm_80) has no products of warp groups}}
module {
kernel.func @unplaced threads(128) {
  %none = kernel.group_none
  kernel.group_wait %none
}
}

// -----

// These need nothing of a generation.
module {
kernel.func @plain threads(128) {
^bb0(%p: i64):
  %one = arith.constant 1 : i32
  %first = kernel.uniform %one
  kernel.group_barrier %first threads(64)
  %blocks = kernel.grid_size
  %c0 = arith.constant 0 : i64
  kernel.store i64, %p[%c0] align 8, %blocks : i64
}
}
