// RUN: azulejo-opt %s "-azulejo-lower-tile-to-host=target=cpu-avx2" -canonicalize -cse | FileCheck %s
// A K x N tile of weights that are stored N x K: eight contiguous reads and
// three rounds of exchanges in registers, never a gather.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: llvm.func @weights(
// CHECK-NOT: gather
// CHECK-COUNT-8: llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK-NOT: masked
// Neighbours, pairs, fours: 24 shuffles of two vectors.
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [1, 9, 3, 11, 5, 13, 7, 15]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 8, 9, 4, 5, 12, 13]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [2, 3, 10, 11, 6, 7, 14, 15]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [4, 5, 6, 7, 12, 13, 14, 15]
// CHECK-COUNT-8: llvm.store {{.*}} : vector<8xf32>
// CHECK-NOT: gather
// CHECK: llvm.return
tile.kernel @weights attributes {
    symbols = ["N", "K"], gridExtents = ["N"], gridTiles = array<i64: 32>,
    family = "Matmul", schedule = "Matmul{}"} {
^bb0(%w: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %n: index, %k: index):
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %id = tile.program_id 0
  %column = arith.muli %id, %c32 : index
  %t = tile.map at(%c0, %column) to(%k, %n)
      attributes {shape = array<i64: 16, 32>, kinds = ["tile"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %e = tile.read %w[%j, %i] : !tile.view<f32, 2> -> f32
    tile.yield %e : f32
  } -> tensor<16x32xf32>
  tile.map at(%c0, %column) to(%k, %n) ins(%t : tensor<16x32xf32>)
      attributes {shape = array<i64: 16, 32>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %e: f32):
    tile.write %e, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// Two products of the row index are no contiguous run: this one is gathered.
// CHECK: llvm.func @every_other(
// CHECK: llvm.intr.masked.gather {{.*}} -> vector<8xf32>
// CHECK: llvm.return
tile.kernel @every_other attributes {
    symbols = ["N", "K"], gridExtents = ["N"], gridTiles = array<i64: 32>,
    family = "Matmul", schedule = "Matmul{}"} {
^bb0(%w: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %n: index, %k: index):
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %id = tile.program_id 0
  %column = arith.muli %id, %c32 : index
  %t = tile.map at(%c0, %column) to(%k, %n)
      attributes {shape = array<i64: 16, 32>, kinds = ["tile"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %twice = arith.muli %i, %c2 : index
    %e = tile.read %w[%j, %twice] : !tile.view<f32, 2> -> f32
    tile.yield %e : f32
  } -> tensor<16x32xf32>
  tile.map at(%c0, %column) to(%k, %n) ins(%t : tensor<16x32xf32>)
      attributes {shape = array<i64: 16, 32>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %e: f32):
    tile.write %e, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}
