// RUN: azulejo-opt %s -azulejo-tile-to-kernel -azulejo-kernel-to-ptx=target=sm_80 -o /dev/null > %t.80
// RUN: FileCheck %s < %t.80
// RUN: FileCheck %s --check-prefix=NEVER < %t.80
// RUN: azulejo-opt %s -azulejo-tile-to-kernel -azulejo-kernel-to-ptx=target=sm_86 -o /dev/null | FileCheck %s
// RUN: azulejo-opt %s -azulejo-tile-to-kernel -azulejo-kernel-to-ptx=target=sm_89 -o /dev/null | FileCheck %s
// RUN: azulejo-opt %s -azulejo-tile-to-kernel -azulejo-kernel-to-ptx=target=sm_90a -o /dev/null > %t.90
// RUN: FileCheck %s < %t.90
// RUN: FileCheck %s --check-prefix=NEVER < %t.90
// The whole way to PTX: per body one round of five shuffles and two barriers,
// wide accesses in one body only.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .entry sum_of_squares(
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-COUNT-2: bar.sync 0;
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-COUNT-2: bar.sync 0;
// CHECK-NOT: shfl
// CHECK-NOT: bar.sync
// CHECK: // entry sum_of_squares, 256 threads, 32 bytes of shared memory

// NEVER: .entry
// NEVER-NOT: .local
// NEVER-NOT: .ftz
// NEVER-NOT: approx
// NEVER: ld.global.v4.b32
// NEVER-NOT: ld.global.v
tile.kernel @sum_of_squares attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 4>, family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 1>, %rows: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %lanes = arith.constant 1024 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.fill %zero : f32 -> tensor<4xf32>
  %squares = tile.map at(%row, %c0) to(%rows, %lanes) inits(%init : tensor<4xf32>)
      attributes {shape = array<i64: 4, 1024>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %q = arith.mulf %a, %a : f32
    tile.yield %q : f32
  } -> tensor<4xf32>
  tile.map at(%row, %c0) to(%rows, %c1) ins(%squares : tensor<4xf32>)
      attributes {shape = array<i64: 4, 1>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %sum: f32):
    %r = math.rsqrt %sum : f32
    tile.write %r, %y[%i] : f32, !tile.view<f32, 1>
    tile.yield
  }
}
