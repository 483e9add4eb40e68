module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}, %arg1: tensor<128x64xbf16> {graph.name = "in1"}) -> (tensor<?x?x128xf32, #graph.dims<"B", "S", 128>> {graph.name = "out2"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.matmul %arg0, %arg1 {label = "the_label", transpose_a = false, transpose_b = true} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<128x64xbf16>) -> tensor<?x?x128xf32, #graph.dims<"B", "S", 128>>
    return %0 : tensor<?x?x128xf32, #graph.dims<"B", "S", 128>>
  }
}

