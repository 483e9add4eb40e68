module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}, %arg1: tensor<?x32xf32, #graph.dims<"S", 32>> {graph.name = "in1"}, %arg2: tensor<?x32xf32, #graph.dims<"S", 32>> {graph.name = "in2"}) -> (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "out3"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.rope %arg0, %arg1, %arg2 {label = "the_label", pairing = "half"} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<?x32xf32, #graph.dims<"S", 32>>, tensor<?x32xf32, #graph.dims<"S", 32>>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
    return %0 : tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
  }
}

