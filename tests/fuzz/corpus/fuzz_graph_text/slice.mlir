module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}) -> (tensor<?x?x31xf32, #graph.dims<"B", "S", 31>> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.slice %arg0 {label = "the_label", sizes = #graph.dims<"B", "S", 31>, starts = array<i64: 0, 0, 1>, steps = array<i64: 1, 1, 2>} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x?x31xf32, #graph.dims<"B", "S", 31>>
    return %0 : tensor<?x?x31xf32, #graph.dims<"B", "S", 31>>
  }
}

