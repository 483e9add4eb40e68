module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}) -> (tensor<?x8x8xf32, #graph.dims<"B*S", 8, 8>> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.reshape %arg0 {label = "the_label", shape = #graph.dims<"B*S", 8, 8>} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x8x8xf32, #graph.dims<"B*S", 8, 8>>
    return %0 : tensor<?x8x8xf32, #graph.dims<"B*S", 8, 8>>
  }
}

