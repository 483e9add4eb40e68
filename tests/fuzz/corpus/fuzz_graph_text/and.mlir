module {
  func.func @main(%arg0: tensor<?x?xi1, #graph.dims<"B", "S">> {graph.name = "in0"}, %arg1: tensor<?x?xi1, #graph.dims<"B", "S">> {graph.name = "in1"}) -> (tensor<?x?xi1, #graph.dims<"B", "S">> {graph.name = "out2"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.and %arg0, %arg1 {label = "the_label"} : (tensor<?x?xi1, #graph.dims<"B", "S">>, tensor<?x?xi1, #graph.dims<"B", "S">>) -> tensor<?x?xi1, #graph.dims<"B", "S">>
    return %0 : tensor<?x?xi1, #graph.dims<"B", "S">>
  }
}

