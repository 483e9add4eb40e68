module {
  func.func @main() -> (tensor<?x4xi64, #graph.dims<"S", 4>> {graph.name = "out0"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.iota  {axis = 0 : i64, dtype = i64, label = "the_label", shape = #graph.dims<"S", 4>} : () -> tensor<?x4xi64, #graph.dims<"S", 4>>
    return %0 : tensor<?x4xi64, #graph.dims<"S", 4>>
  }
}

