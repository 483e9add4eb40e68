// Causal self-attention of one head size over a symbolic length.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t = tensor<1x4x?x64xf32, #graph.dims<1, 4, "S", 64>>
func.func @main(%q: !t {graph.name = "q"}, %k: !t {graph.name = "k"},
                %v: !t {graph.name = "v"}) -> (!t {graph.name = "o"})
    attributes {graph.dims = [#graph.dim<"S", 1, 32768>]} {
  %0 = graph.attention %q, %k, %v
      {causal = "bottom_right", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64,
       label = "attn"} : (!t, !t, !t) -> !t
  return %0 : !t
}
