// RUN: azulejo-opt %s -split-input-file -azulejo-tile-to-kernel | FileCheck %s
// Which accesses neighbours make together, and how wide a group is.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Four f32 fill 16 bytes. A column read as `lane mod 64` still is contiguous;
// a strided and a reversed one are not; a row's scale is read once, before the
// lanes, and never when there are none. 4096 lanes leave nothing over.
// CHECK-LABEL: kernel.func @shapes threads(128)
// CHECK: ^bb0(%[[X:.*]]: i64, %[[XS:.*]]: i64, %[[S:.*]]: i64, %[[Y:.*]]: i64, %[[YS:.*]]: i64):
// CHECK: scf.if
// CHECK: kernel.load f32, %[[S]][%{{.*}}] if %{{.*}} align 4 -> f32
// CHECK: scf.for
// CHECK: kernel.load f32, %[[X]][{{.*}}] align 16 -> f32, f32, f32, f32
// CHECK-COUNT-4: kernel.load f32, %[[X]][{{.*}}] align 4 -> f32
// CHECK-COUNT-4: kernel.load f32, %[[X]][{{.*}}] align 4 -> f32
// CHECK-NOT: kernel.load
// CHECK: kernel.store f32, %[[Y]][{{.*}}] align 16,
// CHECK-NOT: kernel
// CHECK: } else {
tile.kernel @shapes attributes {symbols = [], gridExtents = ["8"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{blockThreads=128}"} {
^bb0(%x: !tile.view<f32, 2>, %s: !tile.view<f32, 1>, %y: !tile.view<f32, 2>):
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c4095 = arith.constant 4095 : index
  %rows = arith.constant 8 : index
  %lanes = arith.constant 4096 : index
  %c4 = arith.constant 4 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  tile.map at(%row, %c0) to(%rows, %lanes)
      attributes {shape = array<i64: 4, 4096>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    %scale = tile.read %s[%i] : !tile.view<f32, 1> -> f32
    %low = arith.remui %j, %c64 : index
    %a = tile.read %x[%i, %low] : !tile.view<f32, 2> -> f32
    %twice = arith.muli %j, %c2 : index
    %b = tile.read %x[%i, %twice] : !tile.view<f32, 2> -> f32
    %back = arith.subi %c4095, %j : index
    %c = tile.read %x[%i, %back] : !tile.view<f32, 2> -> f32
    %ab = arith.addf %a, %b : f32
    %abc = arith.addf %ab, %c : f32
    %o = arith.mulf %abc, %scale : f32
    tile.write %o, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// Accesses of four bytes hold one f32: one body, no choice by alignment. A thread
// has one lane at most, so there is no loop.
// CHECK-LABEL: kernel.func @narrow threads(256)
// CHECK-NOT: scf.if
// CHECK: kernel.store f32, %{{.*}}[%{{.*}}] if %{{.*}} align 4, %{{[^,]*}} : f32
// CHECK-NOT: kernel.store
tile.kernel @narrow attributes {symbols = [], gridExtents = ["8"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{accessBytes=4}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>):
  %c0 = arith.constant 0 : index
  %rows = arith.constant 8 : index
  %lanes = arith.constant 100 : index
  %c4 = arith.constant 4 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  tile.map at(%row, %c0) to(%rows, %lanes)
      attributes {shape = array<i64: 4, 100>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.write %a, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// A fold over chunks stays in the thread until the last chunk; two folds share
// their barriers; 32 warps need a second round of shuffles.
// CHECK-LABEL: kernel.func @chunks threads(1024)
// CHECK-COUNT-2: kernel.shared_alloc at {{[0-9]+}} : <f32, 32>
// CHECK: %[[PARTS:.*]]:2 = scf.for {{.*}} iter_args
// CHECK-NOT: kernel.barrier
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK: %[[M:.*]] = kernel.warp_reduce "max" %[[PARTS]]#0
// CHECK: %[[A:.*]] = kernel.warp_reduce "sum" %[[PARTS]]#1
// CHECK: kernel.barrier
// CHECK: kernel.shared_store {{.*}}, %[[M]]
// CHECK: kernel.shared_store {{.*}}, %[[A]]
// CHECK: kernel.barrier
// CHECK: kernel.shared_load
// CHECK: kernel.warp_reduce "max"
// CHECK: kernel.shared_load
// CHECK: kernel.warp_reduce "sum"
// CHECK-NOT: kernel.barrier
// CHECK: } else {
tile.kernel @chunks attributes {symbols = ["N"], gridExtents = ["8"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{blockThreads=1024}"} {
^bb0(%x: !tile.view<bf16, 2>, %y: !tile.view<f32, 1>, %lanes: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %chunk = arith.constant 4096 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  %zero = arith.constant 0.0 : f32
  %bottom = arith.constant 0xFF800000 : f32
  %m0 = tile.fill %bottom : f32 -> tensor<4xf32>
  %s0 = tile.fill %zero : f32 -> tensor<4xf32>
  %m, %s = scf.for %at = %c0 to %lanes step %chunk
      iter_args(%mi = %m0, %si = %s0) -> (tensor<4xf32>, tensor<4xf32>) {
    %mj, %sj = tile.map at(%row, %at) to(%rows, %lanes)
        inits(%mi, %si : tensor<4xf32>, tensor<4xf32>)
        attributes {shape = array<i64: 4, 4096>, kinds = ["max", "sum"], pads = [0.0, 0.0]} {
    ^bb0(%i: index, %j: index):
      %a = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
      tile.yield %a, %a : f32, f32
    } -> tensor<4xf32>, tensor<4xf32>
    scf.yield %mj, %sj : tensor<4xf32>, tensor<4xf32>
  }
  tile.map at(%row, %c0) to(%rows, %c1) ins(%m, %s : tensor<4xf32>, tensor<4xf32>)
      attributes {shape = array<i64: 4, 1>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %most: f32, %sum: f32):
    %d = arith.subf %sum, %most : f32
    tile.write %d, %y[%i] : f32, !tile.view<f32, 1>
    tile.yield
  }
}
