// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Where the box of a bulk copy begins. Outer coordinates of a load are free,
// those of a store not negative.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

kernel.func @aligned threads(32) attributes {tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 8], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %a: i64):
  %zero = arith.constant 0 : i32
  %before = arith.constant -8 : i32
  %odd = arith.constant -3 : i32
  %three = arith.constant 3 : i32
  %thread = kernel.thread_id
  %tile = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 8, 64>
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<1>
  kernel.bulk_load %map[%before, %odd], %tile[%zero, slab 0, row 0] signals %full[%zero] : !kernel.shared_tile<bf16, 1, 8, 64>, !kernel.phases<1>
  kernel.bulk_store %map[%thread, %three], %tile[%zero, slab 0, row 0] : !kernel.shared_tile<bf16, 1, 8, 64>
}

// -----

kernel.func @load threads(32) attributes {tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 8], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %a: i64):
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %tile = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 8, 64>
  %full = kernel.phases_alloc arrivals(1) : !kernel.phases<1>
  // expected-error@below {{begins at an innermost coordinate of 3, which is no multiple of 8 (16 bytes)}}
  kernel.bulk_load %map[%three, %zero], %tile[%zero, slab 0, row 0] signals %full[%zero] : !kernel.shared_tile<bf16, 1, 8, 64>, !kernel.phases<1>
}

// -----

kernel.func @store threads(32) attributes {tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [32, 8], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %a: i64):
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %tile = kernel.tile_alloc : !kernel.shared_tile<f32, 1, 8, 32>
  // expected-error@below {{begins at an innermost coordinate of 2, which is no multiple of 4 (16 bytes)}}
  kernel.bulk_store %map[%two, %zero], %tile[%zero, slab 0, row 0] : !kernel.shared_tile<f32, 1, 8, 32>
}

// -----

kernel.func @store_before_inner threads(32) attributes {tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 8], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %a: i64):
  %zero = arith.constant 0 : i32
  %before = arith.constant -8 : i32
  %tile = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 8, 64>
  // expected-error@below {{begins before the tensor: coordinate 0 is -8}}
  kernel.bulk_store %map[%before, %zero], %tile[%zero, slab 0, row 0] : !kernel.shared_tile<bf16, 1, 8, 64>
}

// -----

kernel.func @store_before_outer threads(32) attributes {tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1, 1], box [64, 4, 2], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map, %a: i64):
  %zero = arith.constant 0 : i32
  %before = arith.constant -1 : i32
  %thread = kernel.thread_id
  %tile = kernel.tile_alloc : !kernel.shared_tile<bf16, 1, 8, 64>
  // expected-error@below {{begins before the tensor: coordinate 2 is -1}}
  kernel.bulk_store %map[%thread, %zero, %before], %tile[%zero, slab 0, row 0] : !kernel.shared_tile<bf16, 1, 8, 64>
}

// -----

// expected-error@below {{has no argument that is a counter's address}}
kernel.func @no_counter threads(32) attributes {takes_counter, tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 8], swizzle 128>]} {
^bb0(%map: !kernel.tensor_map):
}
