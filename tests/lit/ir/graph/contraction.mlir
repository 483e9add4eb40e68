// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// Matmul and attention: wrong if text loses or changes an operand, a type
// or an attribute on the way through parser and printer.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: @matmul_0(
// CHECK: graph.matmul %arg0, %arg1 {transpose_a = false, transpose_b = false} : (tensor<?x1x8x16xf16, #graph.dims<"B", 1, 8, 16>>, tensor<4x16x?xf32, #graph.dims<4, 16, "N">>) -> tensor<?x4x8x?xf32, #graph.dims<"B", 4, 8, "N">>
func.func @matmul_0(%a: tensor<?x1x8x16xf16, #graph.dims<"B", 1, 8, 16>>, %b: tensor<4x16x?xf32, #graph.dims<4, 16, "N">>) {
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false}
      : (tensor<?x1x8x16xf16, #graph.dims<"B", 1, 8, 16>>, tensor<4x16x?xf32, #graph.dims<4, 16, "N">>) -> tensor<?x4x8x?xf32, #graph.dims<"B", 4, 8, "N">>
  return
}

// CHECK-LABEL: @matmul_1(
// CHECK: graph.matmul %arg0, %arg1 {transpose_a = true, transpose_b = true} : (tensor<16x8xf16>, tensor<?x16xf16, #graph.dims<"N", 16>>) -> tensor<8x?xf16, #graph.dims<8, "N">>
func.func @matmul_1(%a: tensor<16x8xf16>, %b: tensor<?x16xf16, #graph.dims<"N", 16>>) {
  %0 = graph.matmul %a, %b {transpose_a = true, transpose_b = true}
      : (tensor<16x8xf16>, tensor<?x16xf16, #graph.dims<"N", 16>>) -> tensor<8x?xf16, #graph.dims<8, "N">>
  return
}

// CHECK-LABEL: @attention_2(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64} : (tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>
func.func @attention_2(%a: tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>) {
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>
  return
}

// CHECK-LABEL: @attention_3(
// CHECK: graph.attention %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6 {causal = "bottom_right", layout = "bhsd", lse = true, roles = "mask,lengths,slopes,bias", scale = 1.250000e-01 : f64, softcap = 3.000000e+01 : f64, window = 128 : i64} : (tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x32xf16, #graph.dims<"B", 2, "T", 32>>, tensor<?x?xi1, #graph.dims<"S", "T">>, tensor<?xi32, #graph.dims<"B">>, tensor<8xf32>, tensor<8x1x?xf32, #graph.dims<8, 1, "T">>) -> (tensor<?x8x?x32xf16, #graph.dims<"B", 8, "S", 32>>, tensor<?x8x?xf32, #graph.dims<"B", 8, "S">>)
func.func @attention_3(%a: tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x32xf16, #graph.dims<"B", 2, "T", 32>>, %d: tensor<?x?xi1, #graph.dims<"S", "T">>, %e: tensor<?xi32, #graph.dims<"B">>, %f: tensor<8xf32>, %g: tensor<8x1x?xf32, #graph.dims<8, 1, "T">>) {
  %r:2 = graph.attention %a, %b, %c, %d, %e, %f, %g {causal = "bottom_right", layout = "bhsd", lse = true, roles = "mask,lengths,slopes,bias", scale = 1.250000e-01 : f64, softcap = 3.000000e+01 : f64, window = 128 : i64}
      : (tensor<?x8x?x64xf16, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x32xf16, #graph.dims<"B", 2, "T", 32>>, tensor<?x?xi1, #graph.dims<"S", "T">>, tensor<?xi32, #graph.dims<"B">>, tensor<8xf32>, tensor<8x1x?xf32, #graph.dims<8, 1, "T">>) -> (tensor<?x8x?x32xf16, #graph.dims<"B", 8, "S", 32>>, tensor<?x8x?xf32, #graph.dims<"B", 8, "S">>)
  return
}

// CHECK-LABEL: @attention_4(
// CHECK: graph.attention %arg0, %arg1, %arg2 {causal = "none", layout = "bshd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64} : (tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>, tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>, tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>) -> tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>
func.func @attention_4(%a: tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>, %b: tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>, %c: tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>) {
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bshd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>, tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>, tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>) -> tensor<2x?x4x64xf32, #graph.dims<2, "S", 4, 64>>
  return
}

// Texts from before there was a precision say the same as ones with its
// default, which is not printed.
// CHECK-LABEL: @precision(
// CHECK-COUNT-2: graph.matmul %arg0, %arg1 {transpose_a = false, transpose_b = false} :
// CHECK: graph.matmul %arg0, %arg1 {precision = "tf32", transpose_a = false, transpose_b = false} :
// CHECK: graph.attention {{.*}}, precision = "tf32", roles
func.func @precision(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %q: tensor<1x1x8x16xf32>) {
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = graph.matmul %a, %b {precision = "ieee", transpose_a = false, transpose_b = false} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %2 = graph.matmul %a, %b {precision = "tf32", transpose_a = false, transpose_b = false} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %3 = graph.attention %q, %q, %q {causal = "none", layout = "bhsd", lse = false, precision = "tf32", roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
  return
}
