module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}, %arg1: tensor<64xf16> {graph.name = "in1"}) -> (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "out2"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.rms_norm %arg0, %arg1 {eps = 9.9999999999999995E-7 : f64, label = "the_label"} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<64xf16>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
    return %0 : tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
  }
}

