// Rotated queries, masked attention, and a factor.
// README.md says that it is one kernel.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t0 = tensor<1x8x?x64xf32, #graph.dims<1, 8, "S", 64>>
!t1 = tensor<?x32xf32, #graph.dims<"S", 32>>
func.func @main(
    %arg0: !t0 {graph.name = "q"},
    %arg1: !t0 {graph.name = "k"},
    %arg2: !t0 {graph.name = "v"},
    %arg3: !t1 {graph.name = "c"},
    %arg4: !t1 {graph.name = "s"},
    %arg5: !t0 {graph.name = "u"})
    -> (!t0 {graph.name = "o"})
    attributes {graph.dims = [#graph.dim<"S", 1, 4096>]} {
  %0 = graph.rope %arg0, %arg3, %arg4 {pairing = "half"}
      : (!t0, !t1, !t1) -> !t0
  %1 = graph.attention %0, %arg1, %arg2 {causal = "bottom_right",
      layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64,
      softcap = 0.000000e+00 : f64, window = 1024 : i64}
      : (!t0, !t0, !t0) -> !t0
  %2 = graph.mul %1, %arg5 : (!t0, !t0) -> !t0
  return %2 : !t0
}
