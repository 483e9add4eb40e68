module {
  func.func @main(%arg0: tensor<64xf16> {graph.name = "in0"}) -> (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.broadcast %arg0 {label = "the_label", shape = #graph.dims<"B", "S", 64>} : (tensor<64xf16>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
    return %0 : tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  }
}

