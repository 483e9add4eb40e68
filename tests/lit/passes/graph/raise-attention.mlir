// RUN: azulejo-opt %s -azulejo-raise-attention | FileCheck %s
// Each spelling becomes one graph.attention with these operands and attributes.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// The plain spelling.
// CHECK-LABEL: @multiply_after(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @multiply_after(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// Division by a constant, also when that is computed; lengths are symbolic.
// CHECK-LABEL: @divide_after(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @divide_after(%a0: tensor<?x4x?x64xf32, #graph.dims<"B", 4, "S", 64>>, %a1: tensor<?x4x?x64xf32, #graph.dims<"B", 4, "T", 64>>, %a2: tensor<?x4x?x64xf32, #graph.dims<"B", 4, "T", 64>>) -> (tensor<?x4x?x64xf32, #graph.dims<"B", 4, "S", 64>>) attributes {graph.dims = [#graph.dim<"B", 1, 4096>, #graph.dim<"S", 1, 4096>, #graph.dim<"T", 1, 4096>]} {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<?x4x?x64xf32, #graph.dims<"B", 4, "S", 64>>, tensor<?x4x?x64xf32, #graph.dims<"B", 4, "T", 64>>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 64.0 : f64} : () -> tensor<f32>
  %2 = graph.sqrt %1 : (tensor<f32>) -> tensor<f32>
  %3 = graph.div %0, %2 : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<f32>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<?x4x?x64xf32, #graph.dims<"B", 4, "T", 64>>) -> tensor<?x4x?x64xf32, #graph.dims<"B", 4, "S", 64>>
  return %5 : tensor<?x4x?x64xf32, #graph.dims<"B", 4, "S", 64>>
}

// The factor on q before its heads are moved.
// CHECK-LABEL: @scaled_query(
// CHECK: %[[Q:.*]] = graph.transpose %arg0
// CHECK-NOT: graph.mul
// CHECK: graph.attention %[[Q]], %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @scaled_query(%a0: tensor<2x8x4x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %1 = graph.mul %a0, %0 : (tensor<2x8x4x16xf32>, tensor<f32>) -> tensor<2x8x4x16xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %3 = graph.matmul %2, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5 : tensor<2x4x8x16xf32>
}

// The factor on k, under an explicit transpose.
// CHECK-LABEL: @scaled_key(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @scaled_key(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %1 = graph.mul %a1, %0 : (tensor<2x4x8x16xf32>, tensor<f32>) -> tensor<2x4x8x16xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x8x16xf32>) -> tensor<2x4x16x8xf32>
  %3 = graph.matmul %a0, %2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5 : tensor<2x4x8x16xf32>
}

// As exporters to ONNX write it: the root of the scale on both sides, k as
// [B, H, D, S], an additive mask.
// CHECK-LABEL: @scaled_both(
// CHECK: graph.attention %arg0, %arg1, %arg2, %arg3 {causal = "none", {{.*}}roles = "bias", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @scaled_both(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<2x1x8x8xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.5 : f64} : () -> tensor<f32>
  %1 = graph.mul %a0, %0 : (tensor<2x4x8x16xf32>, tensor<f32>) -> tensor<2x4x8x16xf32>
  %2 = graph.transpose %a1 {perm = array<i64: 0, 1, 3, 2>} : (tensor<2x4x8x16xf32>) -> tensor<2x4x16x8xf32>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.5 : f64} : () -> tensor<f32>
  %4 = graph.mul %2, %3 : (tensor<2x4x16x8xf32>, tensor<f32>) -> tensor<2x4x16x8xf32>
  %5 = graph.matmul %1, %4 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.add %5, %a3 : (tensor<2x4x8x8xf32>, tensor<2x1x8x8xf32>) -> tensor<2x4x8x8xf32>
  %7 = graph.softmax %6 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %8 = graph.matmul %7, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %8 : tensor<2x4x8x16xf32>
}

// cap * tanh(scale * s / cap).
// CHECK-LABEL: @softcap(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 3.000000e+01 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @softcap(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 30.0 : f64} : () -> tensor<f32>
  %4 = graph.div %2, %3 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %5 = graph.tanh %4 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 30.0 : f64} : () -> tensor<f32>
  %7 = graph.mul %5, %6 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %8 = graph.softmax %7 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %9 = graph.matmul %8, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %9 : tensor<2x4x8x16xf32>
}

// Query i sees key j when i >= j.
// CHECK-LABEL: @causal_top_left(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "top_left", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @causal_top_left(%a0: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>, %a1: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>, %a2: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>) attributes {graph.dims = [#graph.dim<"B", 1, 4096>, #graph.dim<"S", 1, 4096>, #graph.dim<"T", 1, 4096>]} {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>, tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<f32>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %3 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<"S", 1>} : () -> tensor<?x1xi64, #graph.dims<"S", 1>>
  %4 = graph.iota  {axis = 1 : i64, dtype = i64, shape = #graph.dims<1, "T">} : () -> tensor<1x?xi64, #graph.dims<1, "T">>
  %5 = graph.compare %3, %4 {predicate = "ge"} : (tensor<?x1xi64, #graph.dims<"S", 1>>, tensor<1x?xi64, #graph.dims<1, "T">>) -> tensor<?x?xi1, #graph.dims<"S", "T">>
  %6 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %7 = graph.where %5, %2, %6 : (tensor<?x?xi1, #graph.dims<"S", "T">>, tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<f32>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %8 = graph.softmax %7 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %9 = graph.matmul %8, %a2 {transpose_a = false, transpose_b = false} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
  return %9 : tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
}

// The offset T - S, as a difference of the largest coordinates; the mask hides
// where its condition holds.
// CHECK-LABEL: @causal_bottom_right(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "bottom_right", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @causal_bottom_right(%a0: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>, %a1: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>, %a2: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>) attributes {graph.dims = [#graph.dim<"B", 1, 4096>, #graph.dim<"S", 1, 4096>, #graph.dim<"T", 1, 4096>]} {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>, tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<f32>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %3 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<"T">} : () -> tensor<?xi64, #graph.dims<"T">>
  %4 = graph.reduce_max %3 {axes = array<i64: 0>, keepdims = false} : (tensor<?xi64, #graph.dims<"T">>) -> tensor<i64>
  %5 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<"S">} : () -> tensor<?xi64, #graph.dims<"S">>
  %6 = graph.reduce_max %5 {axes = array<i64: 0>, keepdims = false} : (tensor<?xi64, #graph.dims<"S">>) -> tensor<i64>
  %7 = graph.sub %4, %6 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %8 = graph.iota  {axis = 1 : i64, dtype = i64, shape = #graph.dims<1, "T">} : () -> tensor<1x?xi64, #graph.dims<1, "T">>
  %9 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<"S", 1>} : () -> tensor<?x1xi64, #graph.dims<"S", 1>>
  %10 = graph.add %9, %7 : (tensor<?x1xi64, #graph.dims<"S", 1>>, tensor<i64>) -> tensor<?x1xi64, #graph.dims<"S", 1>>
  %11 = graph.compare %8, %10 {predicate = "gt"} : (tensor<1x?xi64, #graph.dims<1, "T">>, tensor<?x1xi64, #graph.dims<"S", 1>>) -> tensor<?x?xi1, #graph.dims<"S", "T">>
  %12 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %13 = graph.where %11, %12, %2 : (tensor<?x?xi1, #graph.dims<"S", "T">>, tensor<f32>, tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %14 = graph.softmax %13 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %15 = graph.matmul %14, %a2 {transpose_a = false, transpose_b = false} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
  return %15 : tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
}

// A constant offset of 4 = 12 - 8.
// CHECK-LABEL: @causal_offset_constant(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "bottom_right", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @causal_offset_constant(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x12x16xf32>, %a2: tensor<2x4x12x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x12x16xf32>) -> tensor<2x4x8x12xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x12xf32>, tensor<f32>) -> tensor<2x4x8x12xf32>
  %3 = graph.iota  {axis = 1 : i64, dtype = i32, shape = #graph.dims<8, 12>} : () -> tensor<8x12xi32>
  %4 = graph.iota  {axis = 0 : i64, dtype = i32, shape = #graph.dims<8, 12>} : () -> tensor<8x12xi32>
  %5 = graph.constant  {dtype = i32, shape = #graph.dims<>, value = 4.0 : f64} : () -> tensor<i32>
  %6 = graph.add %4, %5 : (tensor<8x12xi32>, tensor<i32>) -> tensor<8x12xi32>
  %7 = graph.compare %3, %6 {predicate = "le"} : (tensor<8x12xi32>, tensor<8x12xi32>) -> tensor<8x12xi1>
  %8 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %9 = graph.where %7, %2, %8 : (tensor<8x12xi1>, tensor<2x4x8x12xf32>, tensor<f32>) -> tensor<2x4x8x12xf32>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<2x4x8x12xf32>) -> tensor<2x4x8x12xf32>
  %11 = graph.matmul %10, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x12xf32>, tensor<2x4x12x16xf32>) -> tensor<2x4x8x16xf32>
  return %11 : tensor<2x4x8x16xf32>
}

// Two compares make a causal window of three tokens.
// CHECK-LABEL: @window(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "top_left", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 3 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @window(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<8>} : () -> tensor<8xi64>
  %1 = graph.reshape %0 {shape = #graph.dims<8, 1>} : (tensor<8xi64>) -> tensor<8x1xi64>
  %2 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<8>} : () -> tensor<8xi64>
  %3 = graph.compare %2, %1 {predicate = "le"} : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %4 = graph.constant  {dtype = i64, shape = #graph.dims<>, value = 3.0 : f64} : () -> tensor<i64>
  %5 = graph.sub %1, %4 : (tensor<8x1xi64>, tensor<i64>) -> tensor<8x1xi64>
  %6 = graph.compare %2, %5 {predicate = "gt"} : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %7 = graph.and %3, %6 : (tensor<8x8xi1>, tensor<8x8xi1>) -> tensor<8x8xi1>
  %8 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %9 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %10 = graph.mul %8, %9 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %11 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %12 = graph.where %7, %10, %11 : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %13 = graph.softmax %12 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %14 = graph.matmul %13, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %14 : tensor<2x4x8x16xf32>
}

// A condition of which only a part is causal: the rest is a mask.
// CHECK-LABEL: @boolean_mask(
// CHECK: %[[N:.*]] = graph.not %arg3
// CHECK: graph.attention %arg0, %arg1, %arg2, %[[N]] {causal = "top_left", {{.*}}roles = "mask", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @boolean_mask(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<2x1x1x8xi1>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.iota  {axis = 1 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %1 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %2 = graph.compare %0, %1 {predicate = "le"} : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
  %3 = graph.not %a3 : (tensor<2x1x1x8xi1>) -> tensor<2x1x1x8xi1>
  %4 = graph.and %2, %3 : (tensor<8x8xi1>, tensor<2x1x1x8xi1>) -> tensor<2x1x8x8xi1>
  %5 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %7 = graph.mul %5, %6 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %8 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %9 = graph.where %4, %7, %8 : (tensor<2x1x8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %11 = graph.matmul %10, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %11 : tensor<2x4x8x16xf32>
}

// A diagonal with no name stays a mask.
// CHECK-LABEL: @other_offset(
// CHECK: graph.attention %arg0, %arg1, %arg2, %{{.*}} {causal = "none", {{.*}}roles = "mask", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @other_offset(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.iota  {axis = 1 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %1 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %2 = graph.constant  {dtype = i64, shape = #graph.dims<>, value = 2.0 : f64} : () -> tensor<i64>
  %3 = graph.add %1, %2 : (tensor<8x8xi64>, tensor<i64>) -> tensor<8x8xi64>
  %4 = graph.compare %0, %3 {predicate = "le"} : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
  %5 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %7 = graph.mul %5, %6 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %8 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %9 = graph.where %4, %7, %8 : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %11 = graph.matmul %10, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %11 : tensor<2x4x8x16xf32>
}

// A bias that is 0 or -inf by position.
// CHECK-LABEL: @additive_causal(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "top_left", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @additive_causal(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.iota  {axis = 1 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %1 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %2 = graph.compare %0, %1 {predicate = "le"} : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.0 : f64} : () -> tensor<f32>
  %4 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %5 = graph.where %2, %3, %4 : (tensor<8x8xi1>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
  %6 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %7 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %8 = graph.mul %6, %7 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %9 = graph.add %8, %5 : (tensor<2x4x8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x8xf32>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %11 = graph.matmul %10, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %11 : tensor<2x4x8x16xf32>
}

// A finite fill is an alignment where every query keeps a key.
// CHECK-LABEL: @finite_causal(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "top_left", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @finite_causal(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.iota  {axis = 1 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %1 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %2 = graph.compare %0, %1 {predicate = "le"} : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
  %3 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %5 = graph.mul %3, %4 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %6 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = -3.4028234663852886E+38 : f64} : () -> tensor<f32>
  %7 = graph.where %2, %5, %6 : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %8 = graph.softmax %7 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %9 = graph.matmul %8, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %9 : tensor<2x4x8x16xf32>
}

// Else it is a bias, so that a fully masked row keeps its uniform mean.
// CHECK-LABEL: @finite_mask(
// CHECK: %[[B:.*]] = graph.where %arg3
// CHECK: graph.attention %arg0, %arg1, %arg2, %[[B]] {causal = "none", {{.*}}roles = "bias", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @finite_mask(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<2x1x1x8xi1>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = -3.4028234663852886E+38 : f64} : () -> tensor<f32>
  %4 = graph.where %a3, %2, %3 : (tensor<2x1x1x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// The lowest f16 among f16 scores, as a bias.
// CHECK-LABEL: @finite_causal_half(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "top_left", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @finite_causal_half(%a0: tensor<2x4x8x16xf16>, %a1: tensor<2x4x8x16xf16>, %a2: tensor<2x4x8x16xf16>) -> (tensor<2x4x8x16xf16>) {
  %0 = graph.iota  {axis = 1 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %1 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<8, 8>} : () -> tensor<8x8xi64>
  %2 = graph.compare %0, %1 {predicate = "le"} : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
  %3 = graph.constant  {dtype = f16, shape = #graph.dims<>, value = 0.0 : f64} : () -> tensor<f16>
  %4 = graph.constant  {dtype = f16, shape = #graph.dims<>, value = -65504.0 : f64} : () -> tensor<f16>
  %5 = graph.where %2, %3, %4 : (tensor<8x8xi1>, tensor<f16>, tensor<f16>) -> tensor<8x8xf16>
  %6 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>) -> tensor<2x4x8x8xf16>
  %7 = graph.constant  {dtype = f16, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f16>
  %8 = graph.mul %6, %7 : (tensor<2x4x8x8xf16>, tensor<f16>) -> tensor<2x4x8x8xf16>
  %9 = graph.add %8, %5 : (tensor<2x4x8x8xf16>, tensor<8x8xf16>) -> tensor<2x4x8x8xf16>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<2x4x8x8xf16>) -> tensor<2x4x8x8xf16>
  %11 = graph.matmul %10, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf16>, tensor<2x4x8x16xf16>) -> tensor<2x4x8x16xf16>
  return %11 : tensor<2x4x8x16xf16>
}

// As eager half-precision models write it: the softmax in f32.
// CHECK-LABEL: @eager_half(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @eager_half(%a0: tensor<2x4x8x16xbf16>, %a1: tensor<2x4x8x16xbf16>, %a2: tensor<2x4x8x16xbf16>) -> (tensor<2x4x8x16xbf16>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>) -> tensor<2x4x8x8xbf16>
  %1 = graph.constant  {dtype = bf16, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<bf16>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xbf16>, tensor<bf16>) -> tensor<2x4x8x8xbf16>
  %3 = graph.cast %2 {dtype = f32} : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.cast %4 {dtype = bf16} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xbf16>, tensor<2x4x8x16xbf16>) -> tensor<2x4x8x16xbf16>
  return %6 : tensor<2x4x8x16xbf16>
}

// KV heads repeated by broadcast and reshape, and read in place.
// CHECK-LABEL: @repeat_broadcast(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @repeat_broadcast(%a0: tensor<?x8x?x16xf32, #graph.dims<"B", 8, "S", 16>>, %a1: tensor<?x2x?x16xf32, #graph.dims<"B", 2, "T", 16>>, %a2: tensor<?x2x?x16xf32, #graph.dims<"B", 2, "T", 16>>) -> (tensor<?x8x?x16xf32, #graph.dims<"B", 8, "S", 16>>) attributes {graph.dims = [#graph.dim<"B", 1, 4096>, #graph.dim<"S", 1, 4096>, #graph.dim<"T", 1, 4096>]} {
  %0 = graph.reshape %a1 {shape = #graph.dims<"B", 2, 1, "T", 16>} : (tensor<?x2x?x16xf32, #graph.dims<"B", 2, "T", 16>>) -> tensor<?x2x1x?x16xf32, #graph.dims<"B", 2, 1, "T", 16>>
  %1 = graph.broadcast %0 {shape = #graph.dims<"B", 2, 4, "T", 16>} : (tensor<?x2x1x?x16xf32, #graph.dims<"B", 2, 1, "T", 16>>) -> tensor<?x2x4x?x16xf32, #graph.dims<"B", 2, 4, "T", 16>>
  %2 = graph.reshape %1 {shape = #graph.dims<"B", 8, "T", 16>} : (tensor<?x2x4x?x16xf32, #graph.dims<"B", 2, 4, "T", 16>>) -> tensor<?x8x?x16xf32, #graph.dims<"B", 8, "T", 16>>
  %3 = graph.reshape %a2 {shape = #graph.dims<"B", 2, 1, "T", 16>} : (tensor<?x2x?x16xf32, #graph.dims<"B", 2, "T", 16>>) -> tensor<?x2x1x?x16xf32, #graph.dims<"B", 2, 1, "T", 16>>
  %4 = graph.broadcast %3 {shape = #graph.dims<"B", 2, 4, "T", 16>} : (tensor<?x2x1x?x16xf32, #graph.dims<"B", 2, 1, "T", 16>>) -> tensor<?x2x4x?x16xf32, #graph.dims<"B", 2, 4, "T", 16>>
  %5 = graph.reshape %4 {shape = #graph.dims<"B", 8, "T", 16>} : (tensor<?x2x4x?x16xf32, #graph.dims<"B", 2, 4, "T", 16>>) -> tensor<?x8x?x16xf32, #graph.dims<"B", 8, "T", 16>>
  %6 = graph.transpose %2 {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x8x?x16xf32, #graph.dims<"B", 8, "T", 16>>) -> tensor<?x8x16x?xf32, #graph.dims<"B", 8, 16, "T">>
  %7 = graph.matmul %a0, %6 {transpose_a = false, transpose_b = false} : (tensor<?x8x?x16xf32, #graph.dims<"B", 8, "S", 16>>, tensor<?x8x16x?xf32, #graph.dims<"B", 8, 16, "T">>) -> tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "T">>
  %8 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %9 = graph.mul %7, %8 : (tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "T">>, tensor<f32>) -> tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "T">>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "T">>) -> tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "T">>
  %11 = graph.matmul %10, %5 {transpose_a = false, transpose_b = false} : (tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "T">>, tensor<?x8x?x16xf32, #graph.dims<"B", 8, "T", 16>>) -> tensor<?x8x?x16xf32, #graph.dims<"B", 8, "S", 16>>
  return %11 : tensor<?x8x?x16xf32, #graph.dims<"B", 8, "S", 16>>
}

// The same by concat.
// CHECK-LABEL: @repeat_concat(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @repeat_concat(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x2x8x16xf32>, %a2: tensor<2x2x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.reshape %a1 {shape = #graph.dims<2, 2, 1, 8, 16>} : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %1 = graph.concat %0, %0 {axis = 2 : i64} : (tensor<2x2x1x8x16xf32>, tensor<2x2x1x8x16xf32>) -> tensor<2x2x2x8x16xf32>
  %2 = graph.reshape %1 {shape = #graph.dims<2, 4, 8, 16>} : (tensor<2x2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %3 = graph.reshape %a2 {shape = #graph.dims<2, 2, 1, 8, 16>} : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %4 = graph.concat %3, %3 {axis = 2 : i64} : (tensor<2x2x1x8x16xf32>, tensor<2x2x1x8x16xf32>) -> tensor<2x2x2x8x16xf32>
  %5 = graph.reshape %4 {shape = #graph.dims<2, 4, 8, 16>} : (tensor<2x2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %6 = graph.matmul %a0, %2 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %7 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %8 = graph.mul %6, %7 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %9 = graph.softmax %8 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %10 = graph.matmul %9, %5 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %10 : tensor<2x4x8x16xf32>
}

// The same by gather with the ids 0, 0, 1, 1.
// CHECK-LABEL: @repeat_gather(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @repeat_gather(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x2x8x16xf32>, %a2: tensor<2x2x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<2, 2>} : () -> tensor<2x2xi64>
  %1 = graph.reshape %0 {shape = #graph.dims<4>} : (tensor<2x2xi64>) -> tensor<4xi64>
  %2 = graph.gather %a1, %1 {axis = 1 : i64} : (tensor<2x2x8x16xf32>, tensor<4xi64>) -> tensor<2x4x8x16xf32>
  %3 = graph.gather %a2, %1 {axis = 1 : i64} : (tensor<2x2x8x16xf32>, tensor<4xi64>) -> tensor<2x4x8x16xf32>
  %4 = graph.matmul %a0, %2 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %6 = graph.mul %4, %5 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %7 = graph.softmax %6 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %8 = graph.matmul %7, %3 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %8 : tensor<2x4x8x16xf32>
}

// Heads 0, 1, 0, 1 are no groups: the repeated tensors stay.
// CHECK-LABEL: @tiled_heads(
// CHECK: %[[K:.*]] = graph.concat
// CHECK: %[[V:.*]] = graph.concat
// CHECK: graph.attention %arg0, %[[K]], %[[V]] {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @tiled_heads(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x2x8x16xf32>, %a2: tensor<2x2x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.concat %a1, %a1 {axis = 1 : i64} : (tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %1 = graph.concat %a2, %a2 {axis = 1 : i64} : (tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %2 = graph.matmul %a0, %0 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %4 = graph.mul %2, %3 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %1 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// Groups as an own axis of the products.
// CHECK-LABEL: @grouped(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK: graph.reshape
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @grouped(%a0: tensor<2x8x8x16xf32>, %a1: tensor<2x2x8x16xf32>, %a2: tensor<2x2x8x16xf32>) -> (tensor<2x8x8x16xf32>) {
  %0 = graph.reshape %a0 {shape = #graph.dims<2, 2, 4, 8, 16>} : (tensor<2x8x8x16xf32>) -> tensor<2x2x4x8x16xf32>
  %1 = graph.reshape %a1 {shape = #graph.dims<2, 2, 1, 8, 16>} : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %2 = graph.reshape %a2 {shape = #graph.dims<2, 2, 1, 8, 16>} : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %3 = graph.matmul %0, %1 {transpose_a = false, transpose_b = true} : (tensor<2x2x4x8x16xf32>, tensor<2x2x1x8x16xf32>) -> tensor<2x2x4x8x8xf32>
  %4 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %5 = graph.mul %3, %4 : (tensor<2x2x4x8x8xf32>, tensor<f32>) -> tensor<2x2x4x8x8xf32>
  %6 = graph.softmax %5 {axis = 4 : i64} : (tensor<2x2x4x8x8xf32>) -> tensor<2x2x4x8x8xf32>
  %7 = graph.matmul %6, %2 {transpose_a = false, transpose_b = false} : (tensor<2x2x4x8x8xf32>, tensor<2x2x1x8x16xf32>) -> tensor<2x2x4x8x16xf32>
  %8 = graph.reshape %7 {shape = #graph.dims<2, 8, 8, 16>} : (tensor<2x2x4x8x16xf32>) -> tensor<2x8x8x16xf32>
  return %8 : tensor<2x8x8x16xf32>
}

// Batch and heads merged for the products, apart for the bias.
// CHECK-LABEL: @merged(
// CHECK: graph.attention %arg0, %arg1, %arg2, %arg3 {causal = "none", {{.*}}roles = "bias", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK: graph.reshape
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @merged(%a0: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>, %a1: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>, %a2: tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>, %a3: tensor<?x1x?x?xf32, #graph.dims<"B", 1, "S", "T">>) -> (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>) attributes {graph.dims = [#graph.dim<"B", 1, 4096>, #graph.dim<"S", 1, 4096>, #graph.dim<"T", 1, 4096>]} {
  %0 = graph.reshape %a0 {shape = #graph.dims<"4*B", "S", 16>} : (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>) -> tensor<?x?x16xf32, #graph.dims<"4*B", "S", 16>>
  %1 = graph.reshape %a1 {shape = #graph.dims<"4*B", "T", 16>} : (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> tensor<?x?x16xf32, #graph.dims<"4*B", "T", 16>>
  %2 = graph.matmul %0, %1 {transpose_a = false, transpose_b = true} : (tensor<?x?x16xf32, #graph.dims<"4*B", "S", 16>>, tensor<?x?x16xf32, #graph.dims<"4*B", "T", 16>>) -> tensor<?x?x?xf32, #graph.dims<"4*B", "S", "T">>
  %3 = graph.reshape %2 {shape = #graph.dims<"B", 4, "S", "T">} : (tensor<?x?x?xf32, #graph.dims<"4*B", "S", "T">>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %4 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %5 = graph.mul %3, %4 : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<f32>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %6 = graph.add %5, %a3 : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>, tensor<?x1x?x?xf32, #graph.dims<"B", 1, "S", "T">>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %7 = graph.softmax %6 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>) -> tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>
  %8 = graph.reshape %7 {shape = #graph.dims<"4*B", "S", "T">} : (tensor<?x4x?x?xf32, #graph.dims<"B", 4, "S", "T">>) -> tensor<?x?x?xf32, #graph.dims<"4*B", "S", "T">>
  %9 = graph.reshape %a2 {shape = #graph.dims<"4*B", "T", 16>} : (tensor<?x4x?x16xf32, #graph.dims<"B", 4, "T", 16>>) -> tensor<?x?x16xf32, #graph.dims<"4*B", "T", 16>>
  %10 = graph.matmul %8, %9 {transpose_a = false, transpose_b = false} : (tensor<?x?x?xf32, #graph.dims<"4*B", "S", "T">>, tensor<?x?x16xf32, #graph.dims<"4*B", "T", 16>>) -> tensor<?x?x16xf32, #graph.dims<"4*B", "S", 16>>
  %11 = graph.reshape %10 {shape = #graph.dims<"B", 4, "S", 16>} : (tensor<?x?x16xf32, #graph.dims<"4*B", "S", 16>>) -> tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
  return %11 : tensor<?x4x?x16xf32, #graph.dims<"B", 4, "S", 16>>
}

// Without heads every leading axis is a batch.
// CHECK-LABEL: @three_axes(
// CHECK: %[[Q:.*]] = graph.reshape %arg0 {shape = #graph.dims<6, 1, 8, 16>}
// CHECK: graph.attention %[[Q]]
// CHECK: graph.reshape {{.*}} {shape = #graph.dims<6, 8, 16>}
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @three_axes(%a0: tensor<6x8x16xf32>, %a1: tensor<6x8x16xf32>, %a2: tensor<6x8x16xf32>) -> (tensor<6x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<6x8x16xf32>, tensor<6x8x16xf32>) -> tensor<6x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<6x8x8xf32>, tensor<f32>) -> tensor<6x8x8xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<6x8x8xf32>) -> tensor<6x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<6x8x8xf32>, tensor<6x8x16xf32>) -> tensor<6x8x16xf32>
  return %4 : tensor<6x8x16xf32>
}

// The softmax spelled out.
// CHECK-LABEL: @spelled_softmax(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", {{.*}}roles = "", scale = 2.500000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
// CHECK-NOT: graph.exp
// CHECK: return
func.func @spelled_softmax(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.reduce_max %2 {axes = array<i64: 3>, keepdims = true} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x1xf32>
  %4 = graph.sub %2, %3 : (tensor<2x4x8x8xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.exp %4 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.reduce_sum %5 {axes = array<i64: 3>, keepdims = true} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x1xf32>
  %7 = graph.div %5, %6 : (tensor<2x4x8x8xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
  %8 = graph.matmul %7, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %8 : tensor<2x4x8x16xf32>
}

// What happens to q and k before the product is none of our business.
// CHECK-LABEL: @rotated(
// CHECK: graph.rope
// CHECK: graph.rope
// CHECK: graph.attention
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @rotated(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<8x8xf32>, %a4: tensor<8x8xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.rope %a0, %a3, %a4 {pairing = "half"} : (tensor<2x4x8x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x16xf32>
  %1 = graph.rope %a1, %a3, %a4 {pairing = "half"} : (tensor<2x4x8x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x16xf32>
  %2 = graph.matmul %0, %1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %4 = graph.mul %2, %3 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// An attention has the precision of both products, or the stricter one.
// CHECK-LABEL: @tf32(
// CHECK: graph.attention %arg0, %arg1, %arg2 {{.*}}precision = "tf32", roles = ""
// CHECK-LABEL: @half_tf32(
// CHECK-NOT: precision
// CHECK: graph.attention %arg0, %arg1, %arg2
// CHECK-NOT: precision
// CHECK: return
func.func @tf32(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {precision = "tf32", transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = graph.matmul %1, %a2 {precision = "tf32", transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %2 : tensor<2x4x8x16xf32>
}
func.func @half_tf32(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {precision = "tf32", transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = graph.matmul %1, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %2 : tensor<2x4x8x16xf32>
}
