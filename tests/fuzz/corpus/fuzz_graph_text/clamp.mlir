module {
  func.func @main(%arg0: tensor<?x?xbf16, #graph.dims<"B", "S">> {graph.name = "in0"}) -> (tensor<?x?xbf16, #graph.dims<"B", "S">> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.clamp %arg0 {high = 1.000000e-01 : f64, label = "the_label", low = 0xFFF0000000000000 : f64} : (tensor<?x?xbf16, #graph.dims<"B", "S">>) -> tensor<?x?xbf16, #graph.dims<"B", "S">>
    return %0 : tensor<?x?xbf16, #graph.dims<"B", "S">>
  }
}

