// Attention of one query over a symbolic number of keys: decoding.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!q = tensor<8x32x1x128xf16>
!k = tensor<8x8x?x128xf16, #graph.dims<8, 8, "T", 128>>
func.func @main(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"},
                %v: !k {graph.name = "v"}) -> (!q {graph.name = "o"})
    attributes {graph.dims = [#graph.dim<"T", 1, 131072>]} {
  %0 = graph.attention %q, %k, %v
      {causal = "none", layout = "bhsd", lse = false, roles = "",
       scale = 0.08838834764831845 : f64, softcap = 0.0 : f64,
       window = 0 : i64, label = "attn"} : (!q, !k, !k) -> !q
  return %0 : !q
}
