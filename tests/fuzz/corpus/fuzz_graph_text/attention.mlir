module {
  func.func @main(%arg0: tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>> {graph.name = "in0"}, %arg1: tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>> {graph.name = "in1"}, %arg2: tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>> {graph.name = "in2"}, %arg3: tensor<?x?xi1, #graph.dims<"S", "S">> {graph.name = "in3"}) -> (tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>> {graph.name = "out4"}, tensor<?x4x?xf32, #graph.dims<"B", 4, "S">> {graph.name = "out5"}) attributes {graph.dims = [#graph.dim<"B", 0, 7>, #graph.dim<"S", 1, 1099511627776>]} {
    %0:2 = graph.attention %arg0, %arg1, %arg2, %arg3 {causal = "none", label = "the_label", layout = "bhsd", lse = true, roles = "mask", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64} : (tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>>, tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>>, tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>>, tensor<?x?xi1, #graph.dims<"S", "S">>) -> (tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>>, tensor<?x4x?xf32, #graph.dims<"B", 4, "S">>)
    return %0#0, %0#1 : tensor<?x4x?x64xf16, #graph.dims<"B", 4, "S", 64>>, tensor<?x4x?xf32, #graph.dims<"B", 4, "S">>
  }
}

