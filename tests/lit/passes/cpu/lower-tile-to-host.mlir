// RUN: sed -e 's/SCHEDULE/RowChain{}/' %s > %t.mlir
// RUN: azulejo-opt %t.mlir "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s -DW=16
// RUN: azulejo-opt %t.mlir "-azulejo-lower-tile-to-host=target=cpu-avx2" -canonicalize -cse | FileCheck %s -DW=8
// RUN: azulejo-opt %t.mlir "-azulejo-lower-tile-to-host=target=cpu-neon" -canonicalize -cse | FileCheck %s -DW=4
// The knob laneWidth narrows vectors, but none is wider than the target's.
// RUN: sed -e 's/SCHEDULE/RowChain{laneWidth=4}/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s -DW=4
// RUN: sed -e 's/SCHEDULE/RowChain{laneWidth=8}/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s -DW=8
// RUN: sed -e 's/SCHEDULE/RowChain{laneWidth=16}/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx2" -canonicalize -cse | FileCheck %s -DW=8
// Wrong if the main loop is masked, if there is more than one remainder, or if
// memory that is contiguous along the lanes is gathered.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Items of the grid, rows of the item, whole vectors, one masked vector.
// CHECK: llvm.func @affine(%[[ARGS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %{{.*}}: !llvm.ptr)
// CHECK-SAME: azulejo.scratch_bytes = 0 : i64
// CHECK-NOT: scf.for
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c1_i64
// CHECK: scf.for %{{.*}} = %c0_i64 to %{{.*}} step %c1_i64
// CHECK: %[[COUNT:.*]] = arith.divui %[[LANES:.*]], %c[[W]]_i64
// CHECK-NEXT: %[[WHOLE:.*]] = arith.muli %[[COUNT]], %c[[W]]_i64
// CHECK-NEXT: scf.for %{{.*}} = %c0_i64 to %[[WHOLE]] step %c[[W]]_i64
// CHECK-NOT: masked
// CHECK: llvm.load {{.*}} -> vector<[[W]]xf32>
// CHECK-NOT: masked
// CHECK: llvm.load {{.*}} -> vector<[[W]]xi16>
// CHECK-NOT: masked
// CHECK: arith.addf %{{.*}} : vector<[[W]]xf32>
// CHECK-NOT: masked
// CHECK: llvm.store %{{.*}} : vector<[[W]]xf32>, !llvm.ptr
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %{{.*}} = %[[WHOLE]] to %[[LANES]] step %c[[W]]_i64
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, {{.*}} : vector<[[W]]xi32>
// CHECK-COUNT-2: llvm.intr.masked.load %{{.*}}, %[[MASK]],
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[MASK]]
// CHECK-NOT: scf.for
// CHECK-NOT: masked
// CHECK: llvm.return
tile.kernel @affine attributes {
    symbols = ["M", "N"], gridExtents = ["M"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "SCHEDULE"} {
^bb0(%x: !tile.view<f32, 2>, %b: !tile.view<bf16, 1>, %y: !tile.view<f32, 2>,
     %m: index, %n: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %id = tile.program_id 0
  %row = arith.muli %id, %c4 : index
  tile.map at(%row, %c0) to(%m, %n)
      attributes {shape = array<i64: 4, 4096>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    %e = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %f = tile.read %b[%j] : !tile.view<bf16, 1> -> f32
    %g = arith.addf %e, %f : f32
    tile.write %g, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// Lanes that are a whole number of vectors leave no remainder, and an index
// that jumps only between vectors (half rotation) gathers nothing.
// CHECK: llvm.func @rotated(
// CHECK-NOT: masked
// CHECK: scf.for %{{.*}} = %c0_i64 to %c64_i64 step %c[[W]]_i64
// CHECK-NOT: masked
// CHECK: llvm.store %{{.*}} : vector<[[W]]xf32>
// CHECK-NOT: masked
// CHECK-NOT: step %c[[W]]_i64
// CHECK: llvm.return
tile.kernel @rotated attributes {
    symbols = ["M"], gridExtents = ["M"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "SCHEDULE"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %m: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %id = tile.program_id 0
  %row = arith.muli %id, %c4 : index
  tile.map at(%row, %c0) to(%m, %c64)
      attributes {shape = array<i64: 4, 64>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    %low = arith.cmpi slt, %j, %c32 : index
    %up = arith.addi %j, %c32 : index
    %down = arith.subi %j, %c32 : index
    %other = arith.select %low, %up, %down : index
    %e = tile.read %x[%i, %other] : !tile.view<f32, 2> -> f32
    tile.write %e, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// A gather where the lanes are strided or looked up, and nowhere else: what
// does not depend on the lane is one scalar load per row.
// CHECK: llvm.func @strided(
// CHECK: scf.for %{{.*}} step %c1_i64
// CHECK: scf.for %{{.*}} step %c1_i64
// CHECK: llvm.load {{.*}} -> f32
// CHECK: scf.for %{{.*}} = %c0_i64 to %c64_i64 step %c[[W]]_i64
// CHECK: llvm.intr.masked.gather {{.*}} -> vector<[[W]]xf32>
// CHECK: llvm.load {{.*}} -> vector<[[W]]xi32>
// CHECK: llvm.intr.masked.gather {{.*}} -> vector<[[W]]xf32>
// CHECK-NOT: gather
// CHECK-NOT: scatter
// CHECK: llvm.return
tile.kernel @strided attributes {
    symbols = ["M"], gridExtents = ["M"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "SCHEDULE"} {
^bb0(%x: !tile.view<f32, 2>, %ids: !tile.view<i32, 1>, %t: !tile.view<f32, 1>,
     %y: !tile.view<f32, 2>, %m: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %id = tile.program_id 0
  %row = arith.muli %id, %c4 : index
  tile.map at(%row, %c0) to(%m, %c64)
      attributes {shape = array<i64: 4, 64>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    %scale = tile.read %t[%i] : !tile.view<f32, 1> -> f32
    %e = tile.read %x[%j, %i] : !tile.view<f32, 2> -> f32
    %at = tile.read %ids[%j] : !tile.view<i32, 1> -> i32
    %looked = arith.index_cast %at : i32 to index
    %f = tile.read %t[%looked] : !tile.view<f32, 1> -> f32
    %g = arith.addf %e, %f : f32
    %h = arith.mulf %g, %scale : f32
    tile.write %h, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// A fold carries one vector through both loops, blanks what is masked, and is
// reduced once per row into the tile in scratch.
// CHECK: llvm.func @folded(
// CHECK: %[[COUNT:.*]] = arith.divui %{{.*}}, %c[[W]]_i64
// CHECK-NEXT: %[[WHOLE:.*]] = arith.muli %[[COUNT]], %c[[W]]_i64
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0_i64 to %[[WHOLE]] step %c[[W]]_i64 iter_args(%{{.*}} = %{{.*}}) -> (vector<[[W]]xf32>)
// CHECK-NOT: masked
// CHECK: scf.yield
// CHECK: %[[ALL:.*]] = scf.for %{{.*}} = %[[WHOLE]] to %{{.*}} step %c[[W]]_i64 iter_args(%{{.*}} = %[[SUM]]) -> (vector<[[W]]xf32>)
// CHECK: masked.load
// CHECK: arith.select {{.*}} : vector<[[W]]xi1>, vector<[[W]]xf32>
// CHECK: scf.yield
// CHECK-NOT: masked
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr
// CHECK: llvm.return
tile.kernel @folded attributes {
    symbols = ["M", "N"], gridExtents = ["M"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "SCHEDULE"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 1>, %m: index, %n: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %id = tile.program_id 0
  %row = arith.muli %id, %c4 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.fill %zero : f32 -> tensor<4xf32>
  %sum = tile.map at(%row, %c0) to(%m, %n) inits(%init : tensor<4xf32>)
      attributes {shape = array<i64: 4, 4096>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %e = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %e : f32
  } -> tensor<4xf32>
  tile.map at(%row) to(%m) ins(%sum : tensor<4xf32>)
      attributes {shape = array<i64: 4>, kinds = [], pads = []} {
  ^bb0(%i: index, %s: f32):
    tile.write %s, %y[%i] : f32, !tile.view<f32, 1>
    tile.yield
  }
}
