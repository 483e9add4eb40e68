module {
  func.func @main() -> (tensor<f16> {graph.name = "out0"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0 = graph.constant  {dtype = f16, label = "the_label", shape = #graph.dims<>, value = 0x7FF8000000000000 : f64} : () -> tensor<f16>
    return %0 : tensor<f16>
  }
}

