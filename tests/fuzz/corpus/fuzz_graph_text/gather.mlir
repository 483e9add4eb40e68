module {
  func.func @main(%arg0: tensor<64xf16> {graph.name = "in0"}, %arg1: tensor<?xi32, #graph.dims<"B">> {graph.name = "in1"}) -> (tensor<?xf16, #graph.dims<"B">> {graph.name = "out2"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.gather %arg0, %arg1 {axis = 0 : i64, label = "the_label"} : (tensor<64xf16>, tensor<?xi32, #graph.dims<"B">>) -> tensor<?xf16, #graph.dims<"B">>
    return %0 : tensor<?xf16, #graph.dims<"B">>
  }
}

