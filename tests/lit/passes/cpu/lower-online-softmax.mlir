// RUN: sed -e 's/KNOBS/packKv=0/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s -DW=16
// RUN: sed -e 's/KNOBS/laneWidth=8/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s -DW=8
// Lanes run along the queries, so the maximum and the sum of a row are one
// vector operation per key: no vector is ever reduced across its lanes.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: llvm.func @softmax(
// CHECK-NOT: vector.reduce
// Queries in whole vectors; the new maximum over the keys.
// CHECK: scf.for %{{.*}} = %c0_i64 to %c32_i64 step %c[[W]]_i64
// CHECK: %[[OLD:.*]] = llvm.load {{.*}} -> vector<[[W]]xf32>
// CHECK: %[[NEW:.*]] = scf.for %{{.*}} = %c0_i64 to %c64_i64 step %c1_i64 iter_args(%{{.*}} = %[[OLD]]) -> (vector<[[W]]xf32>)
// A row that saw no key subtracts 0, not -inf.
// CHECK: %[[NOTHING:.*]] = arith.cmpf oeq, %[[NEW]], %
// CHECK: %[[BASE:.*]] = arith.select %[[NOTHING]], %{{.*}}, %[[NEW]]
// CHECK: arith.subf %[[OLD]], %[[BASE]]
// The weights replace the scores and are summed.
// CHECK: %[[ADDED:.*]] = scf.for %{{.*}} = %c0_i64 to %c64_i64 step %c1_i64 iter_args
// CHECK: %[[S:.*]] = llvm.load %[[AT:.*]] {{{.*}}} : !llvm.ptr -> vector<[[W]]xf32>
// CHECK: arith.subf %[[S]], %[[BASE]]
// CHECK: llvm.store %{{.*}}, %[[AT]]
// CHECK: scf.yield
// CHECK: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[ADDED]])
// CHECK: llvm.store %[[NEW]],
// The output so far is brought to the new reference.
// CHECK: scf.for %{{.*}} = %c0_i64 to %c16_i64 step %c1_i64{{ *}}: i64 {
// CHECK: arith.mulf
// CHECK-NOT: vector.reduce
// CHECK: llvm.return
tile.kernel @softmax attributes {
    symbols = ["Q", "T"], gridExtents = ["Q"], gridTiles = array<i64: 32>,
    family = "Attention", schedule = "Attention{KNOBS}"} {
^bb0(%s: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %q: index, %t: index):
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %id = tile.program_id 0
  %row = arith.muli %id, %c32 : index
  %inf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = tile.fill %inf : f32 -> tensor<32xf32>
  %l = tile.fill %zero : f32 -> tensor<32xf32>
  %o = tile.fill %zero : f32 -> tensor<32x16xf32>
  %scores = tile.map at(%row, %c0) to(%q, %t)
      attributes {shape = array<i64: 32, 64>, kinds = ["tile"],
                  pads = [0xFFF0000000000000 : f64]} {
  ^bb0(%i: index, %j: index):
    %e = tile.read %s[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %e : f32
  } -> tensor<32x64xf32>
  %w, %m1, %l1, %o1 = tile.online_softmax %scores, %m, %l, %o
      : tensor<32x64xf32>, tensor<32xf32>, tensor<32x16xf32>
  tile.map at(%row, %c0) to(%q, %c64) ins(%w : tensor<32x64xf32>)
      attributes {shape = array<i64: 32, 64>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %e: f32):
    tile.write %e, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}
