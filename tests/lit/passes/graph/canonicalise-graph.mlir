// RUN: azulejo-opt %s -azulejo-canonicalise-graph | FileCheck %s
// One spelling for what means the same, and nothing that is not exact.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Moves and casts that change nothing.
// CHECK-LABEL: @identities(
// CHECK-NEXT: return %arg0
func.func @identities(%a0: tensor<?x4xf32, #graph.dims<"N", 4>>) -> (tensor<?x4xf32, #graph.dims<"N", 4>>) attributes {graph.dims = [#graph.dim<"N", 1, 4096>]} {
  %0 = graph.cast %a0 {dtype = f32} : (tensor<?x4xf32, #graph.dims<"N", 4>>) -> tensor<?x4xf32, #graph.dims<"N", 4>>
  %1 = graph.transpose %0 {perm = array<i64: 0, 1>} : (tensor<?x4xf32, #graph.dims<"N", 4>>) -> tensor<?x4xf32, #graph.dims<"N", 4>>
  %2 = graph.broadcast %1 {shape = #graph.dims<"N", 4>} : (tensor<?x4xf32, #graph.dims<"N", 4>>) -> tensor<?x4xf32, #graph.dims<"N", 4>>
  %3 = graph.reshape %2 {shape = #graph.dims<"N", 4>} : (tensor<?x4xf32, #graph.dims<"N", 4>>) -> tensor<?x4xf32, #graph.dims<"N", 4>>
  %4 = graph.slice %3 {sizes = #graph.dims<"N", 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x4xf32, #graph.dims<"N", 4>>) -> tensor<?x4xf32, #graph.dims<"N", 4>>
  %5 = graph.concat %4 {axis = 0 : i64} : (tensor<?x4xf32, #graph.dims<"N", 4>>) -> tensor<?x4xf32, #graph.dims<"N", 4>>
  return %5 : tensor<?x4xf32, #graph.dims<"N", 4>>
}

// A slice that drops a row stays.
// CHECK-LABEL: @window_stays(
// CHECK: graph.slice
func.func @window_stays(%a0: tensor<4x4xf32>) -> (tensor<3x4xf32>) {
  %0 = graph.slice %a0 {sizes = #graph.dims<3, 4>, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Two transposes are one, and it has the label of the last.
// CHECK-LABEL: @transposes(
// CHECK: %[[T:.*]] = graph.transpose %arg0 {label = "t", perm = array<i64: 1, 2, 0>}
// CHECK-NEXT: return %[[T]]
func.func @transposes(%a0: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>) {
  %0 = graph.transpose %a0 {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = graph.transpose %0 {label = "t", perm = array<i64: 2, 0, 1>} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  return %1 : tensor<3x4x2xf32>
}

// Moving an axis of size 1 is a reshape.
// CHECK-LABEL: @unit_transpose(
// CHECK: %[[R:.*]] = graph.reshape %arg0 {shape = #graph.dims<"B", 8, 1, 64>}
// CHECK-NEXT: return %[[R]]
func.func @unit_transpose(%a0: tensor<?x1x8x64xf32, #graph.dims<"B", 1, 8, 64>>) -> (tensor<?x8x1x64xf32, #graph.dims<"B", 8, 1, 64>>) attributes {graph.dims = [#graph.dim<"B", 1, 4096>]} {
  %0 = graph.transpose %a0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x1x8x64xf32, #graph.dims<"B", 1, 8, 64>>) -> tensor<?x8x1x64xf32, #graph.dims<"B", 8, 1, 64>>
  return %0 : tensor<?x8x1x64xf32, #graph.dims<"B", 8, 1, 64>>
}

// Two reshapes are one.
// CHECK-LABEL: @reshapes(
// CHECK: %[[R:.*]] = graph.reshape %arg0 {shape = #graph.dims<"4*N">}
// CHECK-NEXT: return %[[R]]
func.func @reshapes(%a0: tensor<?x4xf32, #graph.dims<"N", 4>>) -> (tensor<?xf32, #graph.dims<"4*N">>) attributes {graph.dims = [#graph.dim<"N", 1, 4096>]} {
  %0 = graph.reshape %a0 {shape = #graph.dims<4, "N">} : (tensor<?x4xf32, #graph.dims<"N", 4>>) -> tensor<4x?xf32, #graph.dims<4, "N">>
  %1 = graph.reshape %0 {shape = #graph.dims<"4*N">} : (tensor<4x?xf32, #graph.dims<4, "N">>) -> tensor<?xf32, #graph.dims<"4*N">>
  return %1 : tensor<?xf32, #graph.dims<"4*N">>
}

// Products read transposed operands as they are stored.
// CHECK-LABEL: @matmul(
// CHECK: %[[M:.*]] = graph.matmul %arg0, %arg1 {transpose_a = true, transpose_b = true}
// CHECK-NEXT: return %[[M]]
func.func @matmul(%a0: tensor<2x5x3xf32>, %a1: tensor<2x4x5xf32>) -> (tensor<2x3x4xf32>) {
  %0 = graph.transpose %a0 {perm = array<i64: 0, 2, 1>} : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
  %1 = graph.transpose %a1 {perm = array<i64: 0, 2, 1>} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  %2 = graph.matmul %0, %1 {transpose_a = false, transpose_b = false} : (tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// A transpose that moves batch axes stays.
// CHECK-LABEL: @matmul_batch(
// CHECK: %[[T:.*]] = graph.transpose %arg1
// CHECK: graph.matmul %arg0, %[[T]] {transpose_a = false, transpose_b = false}
func.func @matmul_batch(%a0: tensor<2x3x4x5xf32>, %a1: tensor<3x2x5x4xf32>) -> (tensor<2x3x4x4xf32>) {
  %0 = graph.transpose %a1 {perm = array<i64: 1, 0, 2, 3>} : (tensor<3x2x5x4xf32>) -> tensor<2x3x5x4xf32>
  %1 = graph.matmul %a0, %0 {transpose_a = false, transpose_b = false} : (tensor<2x3x4x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x4x4xf32>
  return %1 : tensor<2x3x4x4xf32>
}

// A broadcast in front of an op that stretches by itself.
// CHECK-LABEL: @stretch(
// CHECK: %[[A:.*]] = graph.add %arg0, %arg1
// CHECK-NEXT: return %[[A]]
func.func @stretch(%a0: tensor<?x8xf32, #graph.dims<"N", 8>>, %a1: tensor<8xf32>) -> (tensor<?x8xf32, #graph.dims<"N", 8>>) attributes {graph.dims = [#graph.dim<"N", 1, 4096>]} {
  %0 = graph.broadcast %a1 {shape = #graph.dims<"N", 8>} : (tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<"N", 8>>
  %1 = graph.add %a0, %0 : (tensor<?x8xf32, #graph.dims<"N", 8>>, tensor<?x8xf32, #graph.dims<"N", 8>>) -> tensor<?x8xf32, #graph.dims<"N", 8>>
  return %1 : tensor<?x8xf32, #graph.dims<"N", 8>>
}

// One that gives the result its shape stays.
// CHECK-LABEL: @stretch_shapes(
// CHECK: %[[B:.*]] = graph.broadcast %arg0
// CHECK: graph.exp %[[B]]
func.func @stretch_shapes(%a0: tensor<8xf32>) -> (tensor<4x8xf32>) {
  %0 = graph.broadcast %a0 {shape = #graph.dims<4, 8>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = graph.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// f32 -> f16 -> f32 rounds and stays; f16 -> f32 -> f16 does not and goes.
// CHECK-LABEL: @casts(
// CHECK: %[[H:.*]] = graph.cast %arg0 {dtype = f16}
// CHECK: %[[R:.*]] = graph.cast %[[H]] {dtype = f32}
// CHECK: return %[[R]], %arg1
func.func @casts(%a0: tensor<4xf32>, %a1: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>) {
  %0 = graph.cast %a0 {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
  %1 = graph.cast %0 {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
  %2 = graph.cast %a1 {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
  %3 = graph.cast %2 {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
  return %1, %3 : tensor<4xf32>, tensor<4xf16>
}

// x * 1, x + -0.0 and x - 0.0 are x.
// CHECK-LABEL: @neutral(
// CHECK-NEXT: return %arg0
func.func @neutral(%a0: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 1.0 : f64} : () -> tensor<f32>
  %1 = graph.mul %a0, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = -0.0 : f64} : () -> tensor<f32>
  %3 = graph.add %1, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.0 : f64} : () -> tensor<f32>
  %5 = graph.sub %3, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// x + 0.0 turns -0.0 into 0.0.
// CHECK-LABEL: @positive_zero(
// CHECK: graph.add
func.func @positive_zero(%a0: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.0 : f64} : () -> tensor<f32>
  %1 = graph.add %a0, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// On integers any zero goes.
// CHECK-LABEL: @integer_zero(
// CHECK-NEXT: return %arg0
func.func @integer_zero(%a0: tensor<4xi32>) -> (tensor<4xi32>) {
  %0 = graph.constant  {dtype = i32, shape = #graph.dims<>, value = 0.0 : f64} : () -> tensor<i32>
  %1 = graph.add %a0, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// A factor of 1 that widens the type stays.
// CHECK-LABEL: @promoting_one(
// CHECK: graph.mul
func.func @promoting_one(%a0: tensor<4xf16>) -> (tensor<4xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 1.0 : f64} : () -> tensor<f32>
  %1 = graph.mul %a0, %0 : (tensor<4xf16>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// neg of neg, not of not.
// CHECK-LABEL: @doubles(
// CHECK-NEXT: return %arg0, %arg1
func.func @doubles(%a0: tensor<4xf32>, %a1: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>) {
  %0 = graph.neg %a0 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.not %a1 : (tensor<4xi1>) -> tensor<4xi1>
  %3 = graph.not %2 : (tensor<4xi1>) -> tensor<4xi1>
  return %1, %3 : tensor<4xf32>, tensor<4xi1>
}

// Known conditions.
// CHECK-LABEL: @logic(
// CHECK-NEXT: return %arg0, %arg1
func.func @logic(%a0: tensor<4xi1>, %a1: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xf32>) {
  %0 = graph.constant  {dtype = i1, shape = #graph.dims<>, value = 1.0 : f64} : () -> tensor<i1>
  %1 = graph.constant  {dtype = i1, shape = #graph.dims<>, value = 0.0 : f64} : () -> tensor<i1>
  %2 = graph.and %a0, %0 : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %3 = graph.or %2, %1 : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %4 = graph.exp %a1 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.where %0, %a1, %4 : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %5 : tensor<4xi1>, tensor<4xf32>
}

// 1 / sqrt(64) is exact.
// CHECK-LABEL: @constants(
// CHECK: %[[C:.*]] = graph.constant {dtype = f32, shape = #graph.dims<>, value = 1.250000e-01 : f64}
// CHECK: graph.mul %arg0, %[[C]]
func.func @constants(%a0: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 1.0 : f64} : () -> tensor<f32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 64.0 : f64} : () -> tensor<f32>
  %2 = graph.sqrt %1 : (tensor<f32>) -> tensor<f32>
  %3 = graph.div %0, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = graph.mul %a0, %3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// 1 / 3 is not.
// CHECK-LABEL: @rounded_constants(
// CHECK: graph.div
func.func @rounded_constants(%a0: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 1.0 : f64} : () -> tensor<f32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 3.0 : f64} : () -> tensor<f32>
  %2 = graph.div %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = graph.mul %a0, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// What nobody uses goes.
// CHECK-LABEL: @dead(
// CHECK-NEXT: return %arg0
func.func @dead(%a0: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = graph.exp %a0 : (tensor<4xf32>) -> tensor<4xf32>
  return %a0 : tensor<4xf32>
}

// Axes count from 0.
// CHECK-LABEL: @axis(
// CHECK: graph.softmax %arg0 {axis = 1 : i64}
func.func @axis(%a0: tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  %0 = graph.softmax %a0 {axis = -1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Attention reads heads and sequence in either order.
// CHECK-LABEL: @attention(
// CHECK: %[[A:.*]] = graph.attention %arg0, %arg1, %arg1 {{{.*}}layout = "bshd"
// CHECK-NEXT: return %[[A]]
func.func @attention(%a0: tensor<?x?x4x16xf32, #graph.dims<"B", "S", 4, 16>>, %a1: tensor<?x?x2x16xf32, #graph.dims<"B", "T", 2, 16>>) -> (tensor<?x?x4x16xf32, #graph.dims<"B", "S", 4, 16>>) attributes {graph.dims = [#graph.dim<"B", 1, 4096>, #graph.dim<"S", 1, 4096>, #graph.dim<"T", 1, 4096>]} {
  %0 = graph.transpose %a0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x16xf32, #graph.dims<"B", "S", 4, 16>>) -> tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
  %1 = graph.transpose %a1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x16xf32, #graph.dims<"B", "T", 2, 16>>) -> tensor<?x2x?x16xf32, #graph.dims<"B", 2, "T", 16>>
  %2 = graph.attention %0, %1, %1 {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 0.25 : f64, softcap = 0.0 : f64, window = 0 : i64} : (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>, tensor<?x2x?x16xf32, #graph.dims<"B", 2, "T", 16>>, tensor<?x2x?x16xf32, #graph.dims<"B", 2, "T", 16>>) -> tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
  %3 = graph.transpose %2 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>) -> tensor<?x?x4x16xf32, #graph.dims<"B", "S", 4, 16>>
  return %3 : tensor<?x?x4x16xf32, #graph.dims<"B", "S", 4, 16>>
}

// Only when all of q, k and v are exchanged.
// CHECK-LABEL: @attention_mixed(
// CHECK: graph.transpose
// CHECK: graph.attention {{.*}}layout = "bhsd"
func.func @attention_mixed(%a0: tensor<2x8x4x16xf32>, %a1: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.transpose %a0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %1 = graph.attention %0, %a1, %a1 {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 0.25 : f64, softcap = 0.0 : f64, window = 0 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %1 : tensor<2x4x8x16xf32>
}

// Folding transposes keeps the precision.
// CHECK-LABEL: @precision(
// CHECK: graph.matmul %arg0, %arg1 {precision = "tf32", transpose_a = false, transpose_b = true}
// CHECK: graph.attention %arg2, %arg2, %arg2 {{.*}}layout = "bshd", {{.*}}precision = "tf32"
func.func @precision(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %q: tensor<2x8x4x16xf32>) -> (tensor<8x4xf32>, tensor<2x4x8x16xf32>) {
  %0 = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %1 = graph.matmul %a, %0 {precision = "tf32", transpose_a = false, transpose_b = false} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %2 = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %3 = graph.attention %2, %2, %2 {causal = "none", layout = "bhsd", lse = false, precision = "tf32", roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<2x4x8x16xf32>
}
