// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// expected-error @below {{has clusters of 1 to 8 blocks}}
kernel.func @large threads(32) attributes {cluster_blocks = 16 : i64} {
}

// -----

// expected-error @below {{has a number of blocks that is no multiple of its clusters'}}
kernel.func @odd threads(32) attributes {cluster_blocks = 2 : i64, most_blocks = 131 : i64} {
}

// -----

kernel.func @alone threads(32) {
  %zero = arith.constant 0 : i32
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<1>
  // expected-error @below {{is for kernels of clusters}}
  kernel.phase_arrive_at %full[%zero] of %zero : !kernel.phases<1>
}

// -----

kernel.func @alone threads(32) attributes {
    tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 16], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %p: i64):
  %zero = arith.constant 0 : i32
  %tile = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 16, 64>
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<1>
  // expected-error @below {{has no cluster whose blocks could receive it}}
  kernel.bulk_load multicast %map[%zero, %zero], %tile[%zero, slab 0, row 0] signals %full[%zero] : !kernel.shared_tile<bf16, 1, 16, 64>, !kernel.phases<1>
}
