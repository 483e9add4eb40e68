// RUN: azulejo-opt %s -split-input-file -verify-diagnostics -azulejo-kernel-to-ptx=target=b200
// The generations after sm_90a have all of the asynchronous ops but products of
// warp groups.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// expected-error@below {{error Unsupported: kernel 'product': it uses kernel.group_mma, but b200 (sm_100a) has no products of warp groups [ptx.async]}}
module {
kernel.func @product threads(128) {
  %zero = arith.constant 0 : i32
  %f = arith.constant 0.0 : f32
  %a = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 64, 64>
  %d:4, %g = kernel.group_mma bf16 depth(16) tile %a[%zero] row %zero : !kernel.shared_tile<bf16, 1, 64, 64> x %a[%zero] row %zero : !kernel.shared_tile<bf16, 1, 64, 64> + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
}
}

// -----

// expected-error@below {{kernel 'wait': it uses kernel.group_none, but b200 (sm_100a) has no products of warp groups}}
module {
kernel.func @wait threads(128) {
  %none = kernel.group_none
  kernel.group_wait %none pending 0
}
}
