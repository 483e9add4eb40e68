// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device a100 --emit kernel -o - \
// RUN:   --pin 'Attention{tileM=64,tileN=64,warpsM=4,stages=2,consumers=0}' | FileCheck %s
// Under a causal mask the last tile of queries has the most keys: it comes first
// for every head (3 x 24 of them) of a strip of 512 / 32 = 16, so that no long
// item begins when the others end.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!t = tensor<3x24x2048x64xbf16>
func.func @main(%q: !t {graph.name = "q"}, %k: !t {graph.name = "k"}, %v: !t {graph.name = "v"}) -> (!t {graph.name = "o"}) {
  %0 = graph.attention %q, %k, %v {causal = "bottom_right", label = "att", layout = "bhsd", lse = false, roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (!t, !t, !t) -> !t
  return %0 : !t
}

// CHECK: %[[ITEM:.*]] = kernel.block_id
// CHECK: %[[STRIP:.*]] = arith.divui %[[ITEM]], %c512_i64
// CHECK-NEXT: %[[IN:.*]] = arith.remui %[[ITEM]], %c512_i64
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[STRIP]], %c16_i64
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %c72_i64{{.*}}, %[[FIRST]]
// CHECK-NEXT: %[[HEIGHT:.*]] = arith.minsi %[[LEFT]], %c16_i64
// CHECK-NEXT: %[[NUMBER:.*]] = arith.divui %[[IN]], %[[HEIGHT]]
// CHECK-NEXT: %[[ROW:.*]] = arith.remui %[[IN]], %[[HEIGHT]]
// CHECK-NEXT: %[[HEAD:.*]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK: arith.subi %c31_i64{{.*}}, %[[NUMBER]]
// CHECK-NEXT: arith.divui %[[HEAD]], %c24_i64
// CHECK-NEXT: arith.remui %[[HEAD]], %c24_i64
