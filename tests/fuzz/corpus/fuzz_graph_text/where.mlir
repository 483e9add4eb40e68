module {
  func.func @main(%arg0: tensor<?x?xi1, #graph.dims<"B", "S">> {graph.name = "in0"}, %arg1: tensor<?x?xbf16, #graph.dims<"B", "S">> {graph.name = "in1"}, %arg2: tensor<?x?xbf16, #graph.dims<"B", "S">> {graph.name = "in2"}) -> (tensor<?x?xbf16, #graph.dims<"B", "S">> {graph.name = "out3"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.where %arg0, %arg1, %arg2 {label = "the_label"} : (tensor<?x?xi1, #graph.dims<"B", "S">>, tensor<?x?xbf16, #graph.dims<"B", "S">>, tensor<?x?xbf16, #graph.dims<"B", "S">>) -> tensor<?x?xbf16, #graph.dims<"B", "S">>
    return %0 : tensor<?x?xbf16, #graph.dims<"B", "S">>
  }
}

