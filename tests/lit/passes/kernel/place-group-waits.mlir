// RUN: azulejo-opt %s -azulejo-place-group-waits | FileCheck %s
// Groups end in order, so a wait may leave as many under way as have certainly
// been started since.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!tile = !kernel.shared_tile<bf16, 2, 64, 64>

// CHECK-LABEL: kernel.func @straight
kernel.func @straight threads(128) {
  %s = arith.constant 0 : i32
  %f = arith.constant 0.0 : f32
  %t = kernel.tile_alloc : !tile
  %none = kernel.group_none
  %a:4, %first = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
  %b:4, %second = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
  // CHECK: kernel.group_wait %{{.*}} pending 7
  kernel.group_wait %none
  // CHECK: kernel.group_wait %{{.*}} pending 1
  kernel.group_wait %first
  // CHECK: kernel.group_wait %{{.*}} pending 0
  kernel.group_wait %second
}

// The first iteration has nothing to wait for; later ones wait for what the
// iteration before has started, of which two groups are younger.
// CHECK-LABEL: kernel.func @carried
kernel.func @carried threads(128) {
  %s = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.constant 8 : i32
  %f = arith.constant 0.0 : f32
  %t = kernel.tile_alloc : !tile
  %none = kernel.group_none
  %r = scf.for %i = %s to %n step %one iter_args(%before = %none) -> (!kernel.group) : i32 {
    %a:4, %now = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
    %b:4, %later = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
    // CHECK: kernel.group_wait %{{.*}} pending 3
    kernel.group_wait %before
    scf.yield %now : !kernel.group
  }
  // CHECK: kernel.group_wait %{{.*}} pending 1
  kernel.group_wait %r
}

// What a branch starts counts as far as both sides start it.
// CHECK-LABEL: kernel.func @branches
kernel.func @branches threads(128) {
  %s = arith.constant 0 : i32
  %c = arith.constant 1 : i1
  %f = arith.constant 0.0 : f32
  %t = kernel.tile_alloc : !tile
  %a:4, %first = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
  scf.if %c {
    %b:4, %x = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
    %d:4, %y = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
    // A token from outside of the branch: wait for all.
    // CHECK: kernel.group_wait %{{.*}} pending 0
    kernel.group_wait %first
  } else {
    %e:4, %z = kernel.group_mma bf16 depth(64) tile %t[%s] row %s : !tile x %t[%s] row %s : !tile + (%f, %f, %f, %f) : f32, f32, f32, f32 -> f32, f32, f32, f32
  }
  // CHECK: kernel.group_wait %{{.*}} pending 1
  kernel.group_wait %first
}
