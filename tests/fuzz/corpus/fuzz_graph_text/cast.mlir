module {
  func.func @main(%arg0: tensor<?x?xbf16, #graph.dims<"B", "S">> {graph.name = "in0"}) -> (tensor<?x?xf8E5M2, #graph.dims<"B", "S">> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.cast %arg0 {dtype = f8E5M2, label = "the_label"} : (tensor<?x?xbf16, #graph.dims<"B", "S">>) -> tensor<?x?xf8E5M2, #graph.dims<"B", "S">>
    return %0 : tensor<?x?xf8E5M2, #graph.dims<"B", "S">>
  }
}

