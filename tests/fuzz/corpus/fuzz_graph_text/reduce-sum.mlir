module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}) -> (tensor<?xf32, #graph.dims<"S">> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.reduce_sum %arg0 {axes = array<i64: 2, 0>, keepdims = false, label = "the_label"} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?xf32, #graph.dims<"S">>
    return %0 : tensor<?xf32, #graph.dims<"S">>
  }
}

