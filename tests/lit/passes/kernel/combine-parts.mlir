// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit kernel --pin 'AttentionDecode{splits=2}' -o - | FileCheck %s
// Two parts are combined: the fold over them is shorter than an access and does
// not lie side by side, so the parts' rows are read and written as wide as ever.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: kernel.func
// CHECK: kernel.func
// CHECK: scf.if
// CHECK-COUNT-2: kernel.load f32, {{.*}} align 16 -> f32, f32, f32, f32
// CHECK: kernel.store bf16, {{.*}} align 8,
// CHECK: } else {
!q = tensor<4x8x1x128xbf16>
!k = tensor<4x8x4096x128xbf16>
func.func @f(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"},
             %v: !k {graph.name = "v"}) -> (!q {graph.name = "y"}) {
  %0 = graph.attention %q, %k, %v
      {causal = "none", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64}
      : (!q, !k, !k) -> !q
  return %0 : !q
}
