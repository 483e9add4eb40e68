// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// Reductions and normalisations: wrong if text loses or changes an operand, a type
// or an attribute on the way through parser and printer.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: @reduce_sum_0(
// CHECK: graph.reduce_sum %arg0 {axes = array<i64: 1>, keepdims = false} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x64xf32, #graph.dims<"B", 64>>
func.func @reduce_sum_0(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) {
  %0 = graph.reduce_sum %a {axes = array<i64: 1>, keepdims = false}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x64xf32, #graph.dims<"B", 64>>
  return
}

// CHECK-LABEL: @reduce_sum_1(
// CHECK: graph.reduce_sum %arg0 {axes = array<i64: 0, 2>, keepdims = true} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<1x?x1xf32, #graph.dims<1, "S", 1>>
func.func @reduce_sum_1(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) {
  %0 = graph.reduce_sum %a {axes = array<i64: 0, 2>, keepdims = true}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<1x?x1xf32, #graph.dims<1, "S", 1>>
  return
}

// CHECK-LABEL: @reduce_max_2(
// CHECK: graph.reduce_max %arg0 {axes = array<i64: 1>, keepdims = false} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x64xf32, #graph.dims<"B", 64>>
func.func @reduce_max_2(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) {
  %0 = graph.reduce_max %a {axes = array<i64: 1>, keepdims = false}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x64xf32, #graph.dims<"B", 64>>
  return
}

// CHECK-LABEL: @reduce_max_3(
// CHECK: graph.reduce_max %arg0 {axes = array<i64: 0, 2>, keepdims = true} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<1x?x1xf32, #graph.dims<1, "S", 1>>
func.func @reduce_max_3(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) {
  %0 = graph.reduce_max %a {axes = array<i64: 0, 2>, keepdims = true}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<1x?x1xf32, #graph.dims<1, "S", 1>>
  return
}

// CHECK-LABEL: @reduce_mean_4(
// CHECK: graph.reduce_mean %arg0 {axes = array<i64: 1>, keepdims = false} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x64xf32, #graph.dims<"B", 64>>
func.func @reduce_mean_4(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) {
  %0 = graph.reduce_mean %a {axes = array<i64: 1>, keepdims = false}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x64xf32, #graph.dims<"B", 64>>
  return
}

// CHECK-LABEL: @reduce_mean_5(
// CHECK: graph.reduce_mean %arg0 {axes = array<i64: 0, 2>, keepdims = true} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<1x?x1xf32, #graph.dims<1, "S", 1>>
func.func @reduce_mean_5(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) {
  %0 = graph.reduce_mean %a {axes = array<i64: 0, 2>, keepdims = true}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<1x?x1xf32, #graph.dims<1, "S", 1>>
  return
}

// CHECK-LABEL: @softmax_6(
// CHECK: graph.softmax %arg0 {axis = -1 : i64} : (tensor<?x?xbf16, #graph.dims<"S", "T">>) -> tensor<?x?xbf16, #graph.dims<"S", "T">>
func.func @softmax_6(%a: tensor<?x?xbf16, #graph.dims<"S", "T">>) {
  %0 = graph.softmax %a {axis = -1 : i64}
      : (tensor<?x?xbf16, #graph.dims<"S", "T">>) -> tensor<?x?xbf16, #graph.dims<"S", "T">>
  return
}

// CHECK-LABEL: @layer_norm_7(
// CHECK: graph.layer_norm %arg0 {eps = 1.000000e-05 : f64} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
func.func @layer_norm_7(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) {
  %0 = graph.layer_norm %a {eps = 1.000000e-05 : f64}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @layer_norm_8(
// CHECK: graph.layer_norm %arg0, %arg1, %arg2 {eps = 1.000000e-05 : f64} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<64xf16>, tensor<64xf32>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
func.func @layer_norm_8(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, %b: tensor<64xf16>, %c: tensor<64xf32>) {
  %0 = graph.layer_norm %a, %b, %c {eps = 1.000000e-05 : f64}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<64xf16>, tensor<64xf32>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @rms_norm_9(
// CHECK: graph.rms_norm %arg0, %arg1 {eps = 0.000000e+00 : f64} : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<64xf32>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
func.func @rms_norm_9(%a: tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, %b: tensor<64xf32>) {
  %0 = graph.rms_norm %a, %b {eps = 0.000000e+00 : f64}
      : (tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>, tensor<64xf32>) -> tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @rope_10(
// CHECK: graph.rope %arg0, %arg1, %arg2 {pairing = "interleaved"} : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x16xf32, #graph.dims<"S", 16>>, tensor<?x16xf32, #graph.dims<"S", 16>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
func.func @rope_10(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x16xf32, #graph.dims<"S", 16>>, %c: tensor<?x16xf32, #graph.dims<"S", 16>>) {
  %0 = graph.rope %a, %b, %c {pairing = "interleaved"}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x16xf32, #graph.dims<"S", 16>>, tensor<?x16xf32, #graph.dims<"S", 16>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}
