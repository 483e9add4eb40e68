// An elementwise chain over a symbolic length.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
func.func @main(%x: tensor<?x64xf32, #graph.dims<"S", 64>> {graph.name = "x"},
                %w: tensor<64xf32> {graph.name = "w"})
    -> (tensor<?x64xf32, #graph.dims<"S", 64>> {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"S", 1, 32768>]} {
  %0 = graph.silu %x {label = "gate"}
      : (tensor<?x64xf32, #graph.dims<"S", 64>>)
      -> tensor<?x64xf32, #graph.dims<"S", 64>>
  %1 = graph.mul %0, %w {label = "scale"}
      : (tensor<?x64xf32, #graph.dims<"S", 64>>, tensor<64xf32>)
      -> tensor<?x64xf32, #graph.dims<"S", 64>>
  return %1 : tensor<?x64xf32, #graph.dims<"S", 64>>
}
