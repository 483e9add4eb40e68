// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device cpu-avx2 --emit tiled --pin 'AttentionDecode{splits=4,tileM=16,tileN=64}' -o - | FileCheck %s
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device cpu-avx2 --emit tiled --pin 'AttentionDecode{splits=1,tileM=16,tileN=64}' -o - | FileCheck %s --check-prefix=WHOLE
// Two queries of eight heads on two key heads: eight rows per key head, read
// with its keys once. Four items take a quarter of the keys each, in whole
// steps of 64, and leave their output and sum for a second kernel.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: tile.kernel {{.*}}family = "AttentionDecode", gridExtents = ["B", "2", "8", "4"], gridTiles = array<i64: 1, 1, 16, 1>
// CHECK: ^bb0(%[[Q:[^:]*]]: !tile.view<f32, 4>, %[[K:[^:]*]]: !tile.view<f32, 4>, %[[V:[^:]*]]: !tile.view<f32, 4>, %[[O:[^:]*]]: !tile.view<f32, 5>, %[[L:[^:]*]]: !tile.view<f32, 4>,
// CHECK-DAG: %[[BATCH:.*]] = tile.program_id 0
// CHECK-DAG: %[[SHARED:.*]] = tile.program_id 1
// CHECK-DAG: %[[PART:.*]] = tile.program_id 3
// CHECK: arith.muli %[[PART]],
// CHECK: tile.map {{.*}} shape = array<i64: 16, 64>
// CHECK-NEXT: ^bb0(%[[ROW:.*]]: index, %{{.*}}: index):
// In either order: the compiler of the compiler chooses.
// CHECK-DAG: %[[QUERY:.*]] = arith.div{{[us]}}i %[[ROW]], %c4
// CHECK-DAG: %[[MEMBER:.*]] = arith.rem{{[us]}}i %[[ROW]], %c4
// CHECK-DAG: %[[HEAD:.*]] = arith.addi %{{.*}}, %[[MEMBER]]
// CHECK: tile.read %[[Q]][%[[BATCH]], %[[HEAD]], %[[QUERY]],
// CHECK: scf.for {{.*}} step %c64 iter_args
// CHECK: tile.read %[[K]][%[[BATCH]], %[[SHARED]],
// CHECK: tile.online_softmax
// CHECK: tile.read %[[V]][%[[BATCH]], %[[SHARED]],
// CHECK: tile.write %{{.*}}, %[[O]][%[[PART]], %[[BATCH]], %[[SHARED]],
// CHECK: tile.write %{{.*}}, %[[L]][%[[PART]], %[[BATCH]], %[[SHARED]],

// The second kernel has a row for each of the first one's.
// CHECK: tile.kernel {{.*}}gridExtents = ["16*B"], gridTiles = array<i64: 1>
// CHECK: tile.map {{.*}}kinds = ["max"], {{.*}} shape = array<i64: 1, 4>
// CHECK: tile.map {{.*}}kinds = ["sum"], {{.*}} shape = array<i64: 1, 4>
// CHECK: math.exp2
// CHECK-COUNT-4: math.fma
// CHECK: arith.divf
// CHECK: tile.write

// WHOLE: tile.kernel {{.*}}gridExtents = ["B", "2", "8"], gridTiles = array<i64: 1, 1, 16>
// WHOLE-NOT: tile.kernel
!q = tensor<?x8x2x64xf32, #graph.dims<"B", 8, 2, 64>>
!k = tensor<?x2x?x64xf32, #graph.dims<"B", 2, "S", 64>>
func.func @main(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"},
                %v: !k {graph.name = "v"}) -> (!q {graph.name = "o"})
    attributes {graph.dims = [#graph.dim<"B", 1, 64>, #graph.dim<"S", 1, 32768>]} {
  %0 = graph.attention %q, %k, %v
      {causal = "bottom_right", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64,
       label = "attn"} : (!q, !k, !k) -> !q
  return %0 : !q
}
