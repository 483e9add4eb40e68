// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// A fused region keeps its family, its name, its operands and its body.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: @named(
// CHECK: %[[R:.*]]:2 = graph.fused "RowChain" named "k0"(%{{.*}}, %{{.*}}) : (tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, tensor<f32>) -> (tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, tensor<f32>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT: %[[M:.*]] = graph.mul %[[A]], %[[B]]
// CHECK-NEXT: graph.yield %[[M]], %[[B]] :
// CHECK: return %[[R]]#0
func.func @named(%x: tensor<?x4xf32, #graph.dims<"1 + S*2", 4>> {graph.name = "x"},
                 %c: tensor<f32> {graph.name = "c", graph.after = 1 : i64})
    -> (tensor<?x4xf32, #graph.dims<"2*S + 1", 4>> {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"S", 0, 4096>]} {
  %r:2 = graph.fused "RowChain" named "k0" (%x, %c)
      : (tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, tensor<f32>)
      -> (tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, tensor<f32>) {
  ^bb0(%a: tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, %b: tensor<f32>):
    %m = graph.mul %a, %b
        : (tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, tensor<f32>)
        -> tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>
    graph.yield %m, %b : tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>, tensor<f32>
  }
  return %r#0 : tensor<?x4xf32, #graph.dims<"2*S + 1", 4>>
}

// CHECK-LABEL: @unnamed(
// CHECK: graph.fused "Empty"() : () -> () {
// CHECK-NEXT: graph.yield
func.func @unnamed() {
  graph.fused "Empty" () : () -> () {
    graph.yield
  }
  return
}
