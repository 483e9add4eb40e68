
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
