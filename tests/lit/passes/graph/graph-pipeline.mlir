// RUN: azulejo-opt %s -azulejo-graph-pipeline | FileCheck %s
// RUN: azulejo-opt %s -azulejo-graph-pipeline=fuse=false | FileCheck %s --check-prefix=APART
// The passes in their order: transposes join the product that they feed, then
// the products and the softmax are seen as attention, then what that leaves
// behind goes. Unfused, attention is spelled in plain ops.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!t = tensor<2x4x8x16xf32>
!s = tensor<2x4x8x8xf32>

// CHECK-LABEL: @spelled(
// CHECK-NEXT: %[[O:.*]] = graph.attention %arg0, %arg1, %arg2
// CHECK-NEXT: return %[[O]]
// APART-LABEL: @spelled(
// APART-NOT: graph.transpose
// APART: graph.matmul {{.*}}transpose_b = true
// APART: graph.softmax
func.func @spelled(%q: !t, %k: !t, %v: !t) -> !t {
  %0 = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (!t) -> tensor<2x4x16x8xf32>
  %1 = graph.matmul %q, %0 {transpose_a = false, transpose_b = false} : (!t, tensor<2x4x16x8xf32>) -> !s
  %2 = graph.softmax %1 {axis = -1 : i64} : (!s) -> !s
  %3 = graph.matmul %2, %v {transpose_a = false, transpose_b = false} : (!s, !t) -> !t
  return %3 : !t
}

// CHECK-LABEL: @written(
// CHECK: graph.attention
// APART-LABEL: @written(
// APART-NOT: graph.attention
// APART: graph.matmul
// APART: graph.reduce_max
// APART: graph.matmul
func.func @written(%q: !t, %k: !t, %v: !t) -> !t {
  %0 = graph.attention %q, %k, %v {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 0.25 : f64, softcap = 0.0 : f64, window = 0 : i64} : (!t, !t, !t) -> !t
  return %0 : !t
}
