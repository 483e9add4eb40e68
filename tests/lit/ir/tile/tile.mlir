// RUN: azulejo-opt %s | FileCheck %s
// RUN: azulejo-opt %s -o %t.once && azulejo-opt %t.once | cmp - %t.once
// RUN: azulejo-opt %s -mlir-print-op-generic | azulejo-opt | cmp - %t.once
// RUN: azulejo-opt %s -canonicalize -cse | FileCheck %s --check-prefix=KEPT
// Every op reads back as it was printed, short or generic; two fills stay two
// tiles, since what consumes one may overwrite it.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: tile.kernel @all attributes {family = "RowChain", gridExtents = ["M", "8"], gridTiles = array<i64: 4, 2>, schedule = "RowChain{}", symbols = ["M"]} {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !tile.view<bf16, 2>, %[[Y:.*]]: !tile.view<i8, 1>, %[[ROWS:.*]]: index):
// CHECK: %[[ID:.*]] = tile.program_id 1
// CHECK: %[[SUM:.*]] = tile.fill %{{.*}} : f32 -> tensor<4xf32>
// CHECK: %[[ACC:.*]] = tile.fill %{{.*}} : f32 -> tensor<4x16xf32>
// CHECK: %[[F:.*]]:2 = tile.map at(%[[ID]], %{{.*}}) to(%[[ROWS]], %{{.*}}) inits(%[[SUM]] : tensor<4xf32>) attributes {kinds = ["sum", "tile"], pads = [0.000000e+00, 0.000000e+00], shape = array<i64: 4, 8>} {
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT: %[[A:.*]] = tile.read %[[X]][%[[I]], %[[J]]] : <bf16, 2> -> f32
// CHECK-NEXT: %[[B:.*]] = tile.read %[[X]][%[[I]], %[[J]]] if %{{.*}} : <bf16, 2> -> f32
// CHECK-NEXT: tile.yield %[[A]], %[[B]] : f32, f32
// CHECK-NEXT: } -> tensor<4xf32>, tensor<4x8xf32>
// CHECK: tile.map at({{.*}}) to({{.*}}) ins(%[[F]]#0, %[[F]]#1 : tensor<4xf32>, tensor<4x8xf32>) attributes {kinds = [], pads = [], shape = array<i64: 4, 8>} {
// CHECK: tile.write %{{.*}}, %[[Y]][%{{.*}}] : i32, <i8, 1>
// CHECK-NEXT: tile.yield{{$}}
// CHECK: %[[P:.*]] = tile.dot %[[F]]#1, %{{.*}}, %[[ACC]] limits(%[[ROWS]], %{{.*}}, %{{.*}}) {transposeRhs} : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
// CHECK: %{{.*}} = tile.online_softmax %[[P]], %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x16xf32>, tensor<4xf32>, tensor<4x8xf32>

// KEPT: tile.map
// KEPT: tile.fill %[[ZERO:.*]] : f32 -> tensor<4xf32>
// KEPT-NEXT: tile.fill %[[ZERO]] : f32 -> tensor<4xf32>
tile.kernel @all attributes {
    symbols = ["M"], gridExtents = ["M", "8"], gridTiles = array<i64: 4, 2>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<bf16, 2>, %y: !tile.view<i8, 1>, %rows: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %id = tile.program_id 1
  %zero = arith.constant 0.0 : f32
  %yes = arith.constant true
  %sum = tile.fill %zero : f32 -> tensor<4xf32>
  %acc = tile.fill %zero : f32 -> tensor<4x16xf32>
  %fold, %a = tile.map at(%id, %c0) to(%rows, %c8)
      inits(%sum : tensor<4xf32>)
      attributes {shape = array<i64: 4, 8>, kinds = ["sum", "tile"],
                  pads = [0.0, 0.0]} {
  ^bb0(%i: index, %j: index):
    %e = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
    %f = tile.read %x[%i, %j] if %yes : !tile.view<bf16, 2> -> f32
    tile.yield %e, %f : f32, f32
  } -> tensor<4xf32>, tensor<4x8xf32>
  tile.map at(%id, %c0) to(%rows, %c8) ins(%fold, %a : tensor<4xf32>, tensor<4x8xf32>)
      attributes {shape = array<i64: 4, 8>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %s: f32, %t: f32):
    %n = arith.fptosi %t : f32 to i32
    tile.write %n, %y[%j] : i32, !tile.view<i8, 1>
    tile.yield
  }
  %b = tile.fill %zero : f32 -> tensor<16x8xf32>
  %p = tile.dot %a, %b, %acc limits(%rows, %c8, %c8) {transposeRhs}
      : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %m = tile.fill %zero : f32 -> tensor<4xf32>
  %l = tile.fill %zero : f32 -> tensor<4xf32>
  %o = tile.fill %zero : f32 -> tensor<4x8xf32>
  %w:4 = tile.online_softmax %p, %m, %l, %o
      : tensor<4x16xf32>, tensor<4xf32>, tensor<4x8xf32>
}
