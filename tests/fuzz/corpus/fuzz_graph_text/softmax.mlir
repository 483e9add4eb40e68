module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}) -> (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.softmax %arg0 {axis = -1 : i64, label = "the_label"} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
    return %0 : tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
  }
}

