// RUN: azulejo-opt %s -azulejo-tile-to-kernel -split-input-file | FileCheck %s
// Residual and RMSNorm with both outputs: the block's threads share a row, a
// fold goes through thread, warp and shared memory, and every wide access has a
// narrow twin for what is not aligned. A row of at most 769 is three accesses of
// eight for every fourth warp and one lane more: nothing is read twice.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: kernel.func @residual_rms_norm threads(256)
// One address and one row stride for each matrix, one address for the weight,
// then rows.
// CHECK: ^bb0(%[[X:.*]]: i64, %[[XS:.*]]: i64, %[[R:.*]]: i64, %[[RS:.*]]: i64, %[[W:.*]]: i64, %[[H:.*]]: i64, %[[HS:.*]]: i64, %[[Y:.*]]: i64, %[[YS:.*]]: i64, %[[ROWS:.*]]: i64, %{{.*}}: i64):
// CHECK: %[[ARRAY:.*]] = kernel.shared_alloc at 0 : <f32, 8>
// CHECK-NOT: kernel.shared_alloc
// CHECK: %[[T:.*]] = kernel.thread_id
// CHECK: kernel.block_id
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK: scf.if %[[ALIGNED]] {
// CHECK: scf.for
// Neighbours in one access of 16 bytes, where they are inside, and the lane left
// over, one per thread: all under way before the first sum.
// CHECK-NOT: scf.for
// CHECK: kernel.load bf16, %[[X]][{{.*}}] if %[[IN:[0-9]+]] align 16 -> f32, f32, f32, f32, f32, f32, f32, f32
// CHECK: kernel.load bf16, %[[R]][{{.*}}] if %[[IN]] align 16 -> f32, f32, f32, f32, f32, f32, f32, f32
// CHECK: kernel.load bf16, %[[X]][{{.*}}] if %[[LAST:[0-9]+]] align 2 -> f32
// CHECK: kernel.load bf16, %[[R]][{{.*}}] if %[[LAST]] align 2 -> f32
// CHECK: arith.addf
// CHECK: arith.select %[[IN]]
// CHECK: arith.select %[[LAST]]
// CHECK: %[[S:.*]] = kernel.warp_reduce "sum"
// CHECK: kernel.barrier
// CHECK: scf.if
// CHECK-NEXT: kernel.shared_store %[[ARRAY]][{{.*}}], %[[S]]
// CHECK: kernel.barrier
// CHECK-COUNT-8: kernel.shared_load %[[ARRAY]]
// CHECK-NOT: kernel.load bf16, %[[X]]
// CHECK-NOT: kernel.load bf16, %[[R]]
// Both outputs; what depends on the row alone is computed once per row.
// CHECK: kernel.store bf16, %[[H]][{{.*}}] if %[[IN]] align 16,
// CHECK: kernel.store bf16, %[[H]][{{.*}}] if %[[LAST]] align 2,
// CHECK: math.rsqrt
// CHECK: kernel.load bf16, %[[W]][{{.*}}] if %[[IN]] align 16 -> f32, f32, f32, f32, f32, f32, f32, f32
// CHECK: kernel.store bf16, %[[Y]][{{.*}}] if %[[IN]] align 16,
// CHECK: } else {
// CHECK-NOT: align 16
// CHECK: kernel.warp_reduce "sum"
// CHECK-NOT: align 16
tile.kernel @residual_rms_norm attributes {
    symbols = ["M", "N"], gridExtents = ["M"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{rowTile=4,laneChunk=4096}"} {
^bb0(%x: !tile.view<bf16, 2>, %r: !tile.view<bf16, 2>, %w: !tile.view<bf16, 1>,
     %h: !tile.view<bf16, 2>, %y: !tile.view<bf16, 2>, %rows: index,
     %lanes: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  %zero = arith.constant 0.0 : f32
  %init = tile.fill %zero : f32 -> tensor<4xf32>
  %squares = tile.map at(%row, %c0) to(%rows, %lanes)
      inits(%init : tensor<4xf32>)
      attributes {shape = array<i64: 4, 769>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
    %b = tile.read %r[%i, %j] : !tile.view<bf16, 2> -> f32
    %s = arith.addf %a, %b : f32
    %q = arith.mulf %s, %s : f32
    tile.yield %q : f32
  } -> tensor<4xf32>
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%squares : tensor<4xf32>)
      attributes {shape = array<i64: 4, 769>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %sum: f32):
    %a = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
    %b = tile.read %r[%i, %j] : !tile.view<bf16, 2> -> f32
    %s = arith.addf %a, %b : f32
    tile.write %s, %h[%i, %j] : f32, !tile.view<bf16, 2>
    tile.yield
  }
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%squares : tensor<4xf32>)
      attributes {shape = array<i64: 4, 769>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %sum: f32):
    %count = arith.constant 769.0 : f32
    %eps = arith.constant 1.0e-6 : f32
    %mean = arith.divf %sum, %count : f32
    %shifted = arith.addf %mean, %eps : f32
    %inverse = math.rsqrt %shifted : f32
    %a = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
    %b = tile.read %r[%i, %j] : !tile.view<bf16, 2> -> f32
    %s = arith.addf %a, %b : f32
    %n = arith.mulf %s, %inverse : f32
    %g = tile.read %w[%j] : !tile.view<bf16, 1> -> f32
    %o = arith.mulf %n, %g : f32
    tile.write %o, %y[%i, %j] : f32, !tile.view<bf16, 2>
    tile.yield
  }
}
