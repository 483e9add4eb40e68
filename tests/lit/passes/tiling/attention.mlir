// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device cpu-avx2 --emit tiled -o - | FileCheck %s
// Causal attention whose queries share key heads: keys past the last visible
// one of a block are never read, the scores never leave the kernel, and the
// output is divided by the sum of weights once, at the end.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: tile.kernel {{.*}}family = "Attention", gridExtents = ["2", "8", "S"], gridTiles = array<i64: 1, 1, [[M:[0-9]+]]>
// CHECK-SAME: tileN=[[N:[0-9]+]]
// CHECK: ^bb0(%[[Q:.*]]: !tile.view<f32, 4>, %[[K:.*]]: !tile.view<f32, 4>, %[[V:.*]]: !tile.view<f32, 4>, %[[O:.*]]: !tile.view<f32, 4>, %{{.*}}: index):
// CHECK: %[[BATCH:.*]] = tile.program_id 0
// CHECK: %[[HEAD:.*]] = tile.program_id 1
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c[[M]]
// CHECK: %[[SHARED:.*]] = arith.div{{[us]}}i %[[HEAD]], %c4
// The end of the keys is the smaller of their number and the block's last one.
// CHECK: arith.minsi
// CHECK: %[[END:.*]] = arith.maxsi
// CHECK: tile.map {{.*}} shape = array<i64: [[M]], 64>
// CHECK: tile.read %[[Q]][%[[BATCH]], %[[HEAD]],
// CHECK: %[[STATE:.*]]:3 = scf.for %[[AT:.*]] = %c0 to %[[END]] step %c[[N]] iter_args
// CHECK: tile.read %[[K]][%[[BATCH]], %[[SHARED]],
// CHECK: tile.dot {{.*}} {transposeRhs}
// CHECK: tile.map at(%[[ROW]], %[[AT]]) {{.*}} pads = [0xFFF0000000000000 : f64], shape = array<i64: [[M]], [[N]]>
// CHECK: arith.cmpi
// CHECK: arith.select
// CHECK: tile.online_softmax
// CHECK: tile.read %[[V]][%[[BATCH]], %[[SHARED]],
// CHECK: tile.dot
// CHECK: scf.yield
// CHECK: tile.map {{.*}} ins(%[[STATE]]#2, %[[STATE]]#1 :
// CHECK: arith.divf
// CHECK: tile.write %{{.*}}, %[[O]][%[[BATCH]], %[[HEAD]],
// CHECK-NOT: tile.write
!q = tensor<2x8x?x64xf32, #graph.dims<2, 8, "S", 64>>
!k = tensor<2x2x?x64xf32, #graph.dims<2, 2, "S", 64>>
func.func @main(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"},
                %v: !k {graph.name = "v"}) -> (!q {graph.name = "o"})
    attributes {graph.dims = [#graph.dim<"S", 1, 32768>]} {
  %0 = graph.attention %q, %k, %v
      {causal = "bottom_right", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64,
       label = "attn"} : (!q, !k, !k) -> !q
  return %0 : !q
}
