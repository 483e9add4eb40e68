// Twice a matrix: what the mock GPU can compute.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
func.func @main(%x: tensor<?x768xf32, #graph.dims<"S", 768>> {graph.name = "x"})
    -> (tensor<?x768xf32, #graph.dims<"S", 768>> {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"S", 1, 4096>]} {
  %0 = graph.add %x, %x
      : (tensor<?x768xf32, #graph.dims<"S", 768>>,
         tensor<?x768xf32, #graph.dims<"S", 768>>)
      -> tensor<?x768xf32, #graph.dims<"S", 768>>
  return %0 : tensor<?x768xf32, #graph.dims<"S", 768>>
}
