// One query of eight heads that share two key heads.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!q = tensor<1x8x1x64xf16>
!k = tensor<1x2x?x64xf16, #graph.dims<1, 2, "K", 64>>
func.func @main(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"}, %v: !k {graph.name = "v"}) -> (!q {graph.name = "o"}) attributes {graph.dims = [#graph.dim<"K", 0, 32768>]} {
  %0 = graph.attention %q, %k, %v {causal = "bottom_right", layout = "bhsd", lse = false, roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (!q, !k, !k) -> !q
  return %0 : !q
}
