module {
  func.func @main(%arg0: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "in0"}, %arg1: tensor<?x1x64xf32, #graph.dims<"B", 1, 64>> {graph.name = "in1"}, %arg2: tensor<i64> {graph.name = "in2"}) -> (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>> {graph.name = "out3"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.cache_update %arg0, %arg1, %arg2 {axis = 1 : i64, label = "the_label"} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<?x1x64xf32, #graph.dims<"B", 1, 64>>, tensor<i64>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
    return %0 : tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
  }
}

