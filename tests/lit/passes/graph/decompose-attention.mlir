// RUN: azulejo-opt %s -azulejo-decompose-attention | FileCheck %s
// RUN: azulejo-opt %s -azulejo-decompose-attention=f32-scores | FileCheck %s --check-prefix=F32
// Attention as products, maps and reductions; rows without a key give 0.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Grouped heads become an axis; the diagonal follows symbolic lengths; scores
// are rounded to the element type unless the option says otherwise.
// CHECK-LABEL: @grouped(
// CHECK-SAME: %[[Q:.*]]: tensor<?x8x?x64xbf16, {{.*}}>, %[[K:.*]]: tensor<?x2x?x64xbf16, {{.*}}>, %[[V:[^ ]*]]:
// CHECK-DAG: %[[KEY:.*]] = graph.iota {axis = 1 : i64, dtype = i64, shape = #graph.dims<1, "T">}
// CHECK-DAG: %[[ROW:.*]] = graph.iota {axis = 0 : i64, dtype = i64, shape = #graph.dims<"S", 1>}
// CHECK: %[[OFFSET:.*]] = graph.sub
// CHECK: %[[OWN:.*]] = graph.add %[[ROW]], %[[OFFSET]]
// CHECK: %[[QG:.*]] = graph.reshape %[[Q]] {shape = #graph.dims<"B", 2, 4, "S", 64>}
// CHECK: %[[KG:.*]] = graph.reshape %[[K]] {shape = #graph.dims<"B", 2, 1, "T", 64>}
// CHECK: %[[S:.*]] = graph.matmul %[[QG]], %[[KG]] {transpose_a = false, transpose_b = true}
// CHECK-SAME: -> tensor<?x2x4x?x?xbf16
// CHECK: %[[S4:.*]] = graph.reshape %[[S]]
// CHECK: graph.cast %[[S4]] {dtype = f32}
// CHECK: graph.tanh
// CHECK: %[[CAUSAL:.*]] = graph.compare %[[KEY]], %[[OWN]] {predicate = "le"}
// CHECK: %[[BACK:.*]] = graph.sub %[[OWN]], %[[KEY]]
// CHECK: %[[NEAR:.*]] = graph.compare %[[BACK]], %{{.*}} {predicate = "lt"}
// CHECK: %[[VISIBLE:.*]] = graph.and %[[CAUSAL]], %[[NEAR]]
// CHECK: %[[NOTHING:.*]] = graph.constant {{.*}}value = 0xFFF0000000000000
// CHECK: %[[MASKED:.*]] = graph.where %[[VISIBLE]], %{{.*}}, %[[NOTHING]]
// CHECK: %[[MAX:.*]] = graph.reduce_max %[[MASKED]]
// CHECK: %[[NONE:.*]] = graph.compare %[[MAX]]
// CHECK: %[[CENTRE:.*]] = graph.where %[[NONE]]
// CHECK: graph.exp
// CHECK: %[[SUM:.*]] = graph.reduce_sum
// CHECK: %[[LOG:.*]] = graph.log %[[SUM]]
// CHECK: %[[LSE4:.*]] = graph.add %[[CENTRE]], %[[LOG]]
// CHECK: %[[LSE:.*]] = graph.reshape %[[LSE4]]
// CHECK: %[[DIVISOR:.*]] = graph.where %[[NONE]], %{{.*}}, %[[SUM]]
// CHECK: %[[P:.*]] = graph.div %{{.*}}, %[[DIVISOR]]
// CHECK: %[[PN:.*]] = graph.cast %[[P]] {dtype = bf16}
// CHECK: graph.matmul
// CHECK: %[[O:.*]] = graph.reshape %{{.*}} {label = "att", shape = #graph.dims<"B", 8, "S", 32>}
// CHECK: return %[[O]], %[[LSE]]
// F32-LABEL: @grouped(
// F32: graph.matmul {{.*}} -> tensor<?x2x4x?x?xf32
func.func @grouped(%q: tensor<?x8x?x64xbf16, #graph.dims<"B", 8, "S", 64>>,
                   %k: tensor<?x2x?x64xbf16, #graph.dims<"B", 2, "T", 64>>,
                   %v: tensor<?x2x?x32xbf16, #graph.dims<"B", 2, "T", 32>>)
    -> (tensor<?x8x?x32xbf16, #graph.dims<"B", 8, "S", 32>>, tensor<?x8x?xf32, #graph.dims<"B", 8, "S">>)
    attributes {graph.dims = [#graph.dim<"B", 1, 64>, #graph.dim<"S", 1, 4096>, #graph.dim<"T", 1, 4096>]} {
  %o:2 = graph.attention %q, %k, %v {causal = "bottom_right", label = "att", layout = "bhsd", lse = true, roles = "", scale = 0.125 : f64, softcap = 30.0 : f64, window = 128 : i64}
      : (tensor<?x8x?x64xbf16, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xbf16, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x32xbf16, #graph.dims<"B", 2, "T", 32>>)
      -> (tensor<?x8x?x32xbf16, #graph.dims<"B", 8, "S", 32>>, tensor<?x8x?xf32, #graph.dims<"B", 8, "S">>)
  return %o#0, %o#1 : tensor<?x8x?x32xbf16, #graph.dims<"B", 8, "S", 32>>, tensor<?x8x?xf32, #graph.dims<"B", 8, "S">>
}

// Nothing is masked: no positions, no scale of 1, no groups, no casts in f32.
// CHECK-LABEL: @bare(
// CHECK-NOT: graph.iota
// CHECK: %[[S:.*]] = graph.matmul
// CHECK-NEXT: graph.constant
// CHECK-NEXT: graph.reduce_max %[[S]]
// CHECK-NOT: graph.cast
// CHECK: return
func.func @bare(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %o = graph.attention %q, %k, %k {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.0 : f64, softcap = 0.0 : f64, window = 0 : i64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// A length hides keys, moves the diagonal, and blanks rows of v, which may
// hold NaN; [B, S, H, D] is transposed on the way in and out.
// CHECK-LABEL: @lengths(
// CHECK-SAME: %[[K:[^ ,:]*]]: tensor<2x7x4x16xf32>, %[[V:[^ ,:]*]]: tensor<2x7x4x16xf32>, %[[LENS:[^ ,:]*]]: tensor<2xi32>
// CHECK: %[[VT:.*]] = graph.transpose %[[V]] {perm = array<i64: 0, 2, 1, 3>}
// CHECK: %[[WIDE:.*]] = graph.cast %[[LENS]] {dtype = i64}
// CHECK: graph.max %[[WIDE]]
// CHECK: %[[CLAMPED:.*]] = graph.min
// CHECK: %[[LEN:.*]] = graph.reshape %[[CLAMPED]] {shape = #graph.dims<2, 1, 1, 1>}
// CHECK: graph.sub %[[LEN]]
// CHECK: graph.compare %{{.*}}, %[[LEN]] {predicate = "lt"}
// CHECK: %[[EXISTS:.*]] = graph.compare %{{.*}}, %[[LEN]] {predicate = "lt"}
// CHECK: %[[CLEAN:.*]] = graph.where %[[EXISTS]], %[[VT]]
// CHECK: %[[O:.*]] = graph.matmul %{{.*}}, %[[CLEAN]]
// CHECK: %[[OT:.*]] = graph.transpose %[[O]] {perm = array<i64: 0, 2, 1, 3>}
// CHECK: return %[[OT]]
func.func @lengths(%q: tensor<2x5x4x16xf32>, %k: tensor<2x7x4x16xf32>, %v: tensor<2x7x4x16xf32>, %n: tensor<2xi32>) -> tensor<2x5x4x16xf32> {
  %o = graph.attention %q, %k, %v, %n {causal = "bottom_right", layout = "bshd", lse = false, roles = "lengths", scale = 0.25 : f64, softcap = 0.0 : f64, window = 0 : i64}
      : (tensor<2x5x4x16xf32>, tensor<2x7x4x16xf32>, tensor<2x7x4x16xf32>, tensor<2xi32>) -> tensor<2x5x4x16xf32>
  return %o : tensor<2x5x4x16xf32>
}

// A body without attention stays as it is.
// CHECK-LABEL: @none(
// CHECK-NEXT: graph.softmax
// CHECK-NEXT: return
func.func @none(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = graph.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Both products keep the precision.
// CHECK-LABEL: @tf32(
// CHECK: graph.matmul {{.*}}precision = "tf32", transpose_a = false, transpose_b = true
// CHECK: graph.exp
// CHECK: graph.matmul {{.*}}precision = "tf32", transpose_a = false, transpose_b = false
func.func @tf32(%q: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = graph.attention %q, %q, %q {causal = "none", layout = "bhsd", lse = false, precision = "tf32", roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %0 : tensor<2x4x8x16xf32>
}
