// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device cpu-avx2 --variants 1 --emit tiled -o - | FileCheck %s
// Every batch has the same right side, so batch and rows are one grid axis of
// B*M rows and no tile ends with a batch. The right side is stored transposed
// and read so; bias and activation are applied to the sums before they are
// written, once.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: tile.kernel {{.*}}family = "Matmul", gridExtents = ["1", "B*M", "96"], gridTiles = array<i64: 1, [[M:[0-9]+]], [[N:[0-9]+]]>
// CHECK-SAME: tileK=[[K:[0-9]+]]
// CHECK: ^bb0(%[[A:.*]]: !tile.view<f32, 3>, %[[B:.*]]: !tile.view<f32, 2>, %[[BIAS:.*]]: !tile.view<f32, 1>, %[[Y:.*]]: !tile.view<f32, 3>, %[[ALL:.*]]: index, %[[ROWS:.*]]: index):
// CHECK: %[[INIT:.*]] = tile.fill %{{.*}} : f32 -> tensor<[[M]]x[[N]]xf32>
// CHECK: %[[SUMS:.*]] = scf.for %[[AT:.*]] = %c0 to %{{.*}} step %c[[K]] iter_args(%[[ACC:.*]] = %[[INIT]])
// CHECK: %[[L:.*]] = tile.map at(%{{.*}}, %[[AT]]) {{.*}} shape = array<i64: [[M]], [[K]]>
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT: %[[ROW:.*]] = arith.remui %[[I]], %[[ROWS]]
// CHECK-NEXT: %[[BATCH:.*]] = arith.divui %[[I]], %[[ROWS]]
// CHECK-NEXT: tile.read %[[A]][%[[BATCH]], %[[ROW]], %[[J]]] : <f32, 3> -> f32
// CHECK: %[[R:.*]] = tile.map at(%[[AT]], %{{.*}}) {{.*}} shape = array<i64: [[K]], [[N]]>
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT: tile.read %[[B]][%[[J]], %[[I]]] : <f32, 2> -> f32
// CHECK: tile.dot %[[L]], %[[R]], %[[ACC]] limits(
// CHECK: scf.yield
// CHECK: tile.map {{.*}} ins(%[[SUMS]] : tensor<[[M]]x[[N]]xf32>)
// CHECK: tile.read %[[BIAS]]
// CHECK: arith.maximumf
// CHECK: tile.write %{{.*}}, %[[Y]][
// CHECK-NOT: tile.write
!a = tensor<?x?x300xf32, #graph.dims<"B", "M", 300>>
!y = tensor<?x?x96xf32, #graph.dims<"B", "M", 96>>
func.func @main(%a: !a {graph.name = "a"},
                %b: tensor<96x300xf32> {graph.name = "b"},
                %c: tensor<96xf32> {graph.name = "c"})
    -> (!y {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"B", 1, 64>, #graph.dim<"M", 1, 4096>]} {
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = true,
                            label = "product"}
      : (!a, tensor<96x300xf32>) -> !y
  %1 = graph.add %0, %c {label = "bias"} : (!y, tensor<96xf32>) -> !y
  %2 = graph.relu %1 {label = "act"} : (!y) -> !y
  return %2 : !y
}
