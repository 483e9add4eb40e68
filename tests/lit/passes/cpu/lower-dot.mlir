// RUN: sed -e 's/KNOBS/registerM=4,registerN=1,packLhs=0/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,SMALL -DW=16
// RUN: sed -e 's/KNOBS/registerM=12,registerN=2,packLhs=0/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,LARGE -DW=16
// RUN: sed -e 's/KNOBS/registerM=4,registerN=1,packLhs=0/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx2" -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,SMALL -DW=8
// RUN: sed -e 's/KNOBS/registerM=4,registerN=1,packLhs=1/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s --check-prefix=PACKED
// RUN: sed -e 's/KNOBS/registerM=4,registerN=1,packLhs=0,unroll=2/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s --check-prefix=TWICE
// A product keeps registerM x registerN sums in registers: that many
// multiply-adds per step, each loaded vector and each broadcast used by all.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// The right tile is copied, with masks only in its remainder; the left one is
// read where it lies.
// CHECK: llvm.func @product(
// SMALL: %[[SUMS:.*]]:4 = scf.for %{{.*}} = %c0_i64 to %{{.*}} step %c1_i64 iter_args
// SMALL-COUNT-1: llvm.load {{.*}} -> vector<[[W]]xf32>
// SMALL-NOT: -> vector<[[W]]xf32>{{$}}
// SMALL: llvm.load {{.*}} -> f32
// SMALL: llvm.intr.fma({{.*}}) : (vector<[[W]]xf32>, vector<[[W]]xf32>, vector<[[W]]xf32>)
// SMALL-COUNT-3: llvm.intr.fma
// SMALL-NOT: llvm.intr.fma
// SMALL: scf.yield
// SMALL-COUNT-4: llvm.store %[[SUMS]]#{{[0-3]}}, {{.*}} : vector<[[W]]xf32>
// LARGE: %[[SUMS:.*]]:24 = scf.for %{{.*}} = %c0_i64 to %{{.*}} step %c1_i64 iter_args
// LARGE-COUNT-2: llvm.load {{.*}} -> vector<[[W]]xf32>
// LARGE-COUNT-24: llvm.intr.fma
// LARGE-NOT: llvm.intr.fma
// LARGE: scf.yield
// LARGE-COUNT-24: llvm.store %[[SUMS]]#
// CHECK: llvm.return

// Packed, both operands lie in scratch: two copies, no more products.
// PACKED: llvm.func @product(
// PACKED: masked.load
// PACKED: masked.load
// PACKED-COUNT-4: llvm.intr.fma
// PACKED-NOT: llvm.intr.fma
// PACKED: llvm.return
// Unrolled by two, twice as many per turn, and one loop for an odd step.
// TWICE: llvm.func @product(
// TWICE: %[[EVEN:.*]]:4 = scf.for %{{.*}} = %c0_i64 to %[[WHOLE:.*]] step %c2_i64 iter_args
// TWICE-COUNT-8: llvm.intr.fma
// TWICE-NOT: llvm.intr.fma
// TWICE: scf.for %{{.*}} = %[[WHOLE]] to %{{.*}} step %c1_i64 iter_args(%{{.*}} = %[[EVEN]]#0,
// TWICE-COUNT-4: llvm.intr.fma
// TWICE-NOT: llvm.intr.fma
// TWICE: llvm.return
tile.kernel @product attributes {
    symbols = ["M", "N", "K"], gridExtents = ["M", "N"],
    gridTiles = array<i64: 16, 32>, family = "Matmul",
    schedule = "Matmul{KNOBS}"} {
^bb0(%a: !tile.view<f32, 2>, %b: !tile.view<f32, 2>, %y: !tile.view<f32, 2>,
     %m: index, %n: index, %k: index):
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %id0 = tile.program_id 0
  %id1 = tile.program_id 1
  %row = arith.muli %id0, %c16 : index
  %column = arith.muli %id1, %c32 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.fill %zero : f32 -> tensor<16x32xf32>
  %rows0 = arith.subi %m, %row : index
  %rows = arith.minsi %rows0, %c16 : index
  %columns0 = arith.subi %n, %column : index
  %columns = arith.minsi %columns0, %c32 : index
  %sums = scf.for %at = %c0 to %k step %c32 iter_args(%acc = %init)
      -> (tensor<16x32xf32>) {
    %lhs = tile.map at(%row, %at) to(%m, %k)
        attributes {shape = array<i64: 16, 32>, kinds = ["tile"], pads = [0.0]} {
    ^bb0(%i: index, %j: index):
      %e = tile.read %a[%i, %j] : !tile.view<f32, 2> -> f32
      tile.yield %e : f32
    } -> tensor<16x32xf32>
    %rhs = tile.map at(%at, %column) to(%k, %n)
        attributes {shape = array<i64: 32, 32>, kinds = ["tile"], pads = [0.0]} {
    ^bb0(%i: index, %j: index):
      %e = tile.read %b[%i, %j] : !tile.view<f32, 2> -> f32
      tile.yield %e : f32
    } -> tensor<32x32xf32>
    %left = arith.subi %k, %at : index
    %depth = arith.minsi %left, %c32 : index
    %next = tile.dot %lhs, %rhs, %acc limits(%rows, %columns, %depth)
        : tensor<16x32xf32>, tensor<32x32xf32> -> tensor<16x32xf32>
    scf.yield %next : tensor<16x32xf32>
  }
  tile.map at(%row, %column) to(%m, %n) ins(%sums : tensor<16x32xf32>)
      attributes {shape = array<i64: 16, 32>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %e: f32):
    tile.write %e, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}
