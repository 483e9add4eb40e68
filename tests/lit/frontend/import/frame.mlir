// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// The frame of an imported graph: symbols with ranges, names of inputs and
// outputs, places of late inputs, labels. Wrong if a tool that reads and writes
// the text loses any of them, since they belong to the graph value.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32, #graph.dims<"B*S", 4>> {graph.name = "x"},
// CHECK-SAME: %[[W:.*]]: tensor<4xf16> {graph.after = 1 : i64, graph.name = "w"})
// CHECK-SAME: -> (tensor<?x4xf32, #graph.dims<"B*S", 4>> {graph.name = "y"}, tensor<4xf16> {graph.name = "copy"})
// CHECK-SAME: attributes {graph.dims = [#graph.dim<"B", 0, 8>, #graph.dim<"S", 1, 140737488355328>]}
// CHECK: graph.exp %[[X]] {label = "a \22quoted\22 label"}
// CHECK: %[[Y:.*]] = graph.mul
// CHECK: return %[[Y]], %[[W]]
func.func @main(%x: tensor<?x4xf32, #graph.dims<"S*B", 4>> {graph.name = "x"},
                %w: tensor<4xf16> {graph.name = "w", graph.after = 1 : i64})
    -> (tensor<?x4xf32, #graph.dims<"B*S", 4>> {graph.name = "y"},
        tensor<4xf16> {graph.name = "copy"})
    attributes {graph.dims = [#graph.dim<"B", 0, 8>,
                              #graph.dim<"S", 1, 140737488355328>]} {
  %0 = graph.exp %x {label = "a \"quoted\" label"}
      : (tensor<?x4xf32, #graph.dims<"B*S", 4>>)
      -> tensor<?x4xf32, #graph.dims<"B*S", 4>>
  %1 = graph.mul %0, %w
      : (tensor<?x4xf32, #graph.dims<"B*S", 4>>, tensor<4xf16>)
      -> tensor<?x4xf32, #graph.dims<"B*S", 4>>
  return %1, %w : tensor<?x4xf32, #graph.dims<"B*S", 4>>, tensor<4xf16>
}
