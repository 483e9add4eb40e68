module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}) -> (tensor<64x?x?xf32, #graph.dims<64, "S", "B">> {graph.name = "out1"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.transpose %arg0 {label = "the_label", perm = array<i64: 2, 1, 0>} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<64x?x?xf32, #graph.dims<64, "S", "B">>
    return %0 : tensor<64x?x?xf32, #graph.dims<64, "S", "B">>
  }
}

