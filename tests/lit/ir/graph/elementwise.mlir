// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// Every elementwise op: wrong if text loses or changes an operand, a type
// or an attribute on the way through parser and printer.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: @exp_0(
// CHECK: graph.exp %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @exp_0(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.exp %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @exp2_1(
// CHECK: graph.exp2 %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @exp2_1(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.exp2 %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @log_2(
// CHECK: graph.log %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @log_2(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.log %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @sqrt_3(
// CHECK: graph.sqrt %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @sqrt_3(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.sqrt %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @rsqrt_4(
// CHECK: graph.rsqrt %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @rsqrt_4(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.rsqrt %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @sin_5(
// CHECK: graph.sin %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @sin_5(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.sin %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @cos_6(
// CHECK: graph.cos %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @cos_6(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.cos %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @tanh_7(
// CHECK: graph.tanh %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @tanh_7(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.tanh %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @sigmoid_8(
// CHECK: graph.sigmoid %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @sigmoid_8(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.sigmoid %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @silu_9(
// CHECK: graph.silu %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @silu_9(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.silu %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @gelu_erf_10(
// CHECK: graph.gelu_erf %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @gelu_erf_10(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.gelu_erf %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @gelu_tanh_11(
// CHECK: graph.gelu_tanh %arg0 : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
func.func @gelu_tanh_11(%a: tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) {
  %0 = graph.gelu_tanh %a
      : (tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>) -> tensor<?x?x64xf16, #graph.dims<"B", "S", 64>>
  return
}

// CHECK-LABEL: @neg_12(
// CHECK: graph.neg %arg0 : (tensor<4xi32>) -> tensor<4xi32>
func.func @neg_12(%a: tensor<4xi32>) {
  %0 = graph.neg %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// CHECK-LABEL: @abs_13(
// CHECK: graph.abs %arg0 : (tensor<4xi32>) -> tensor<4xi32>
func.func @abs_13(%a: tensor<4xi32>) {
  %0 = graph.abs %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// CHECK-LABEL: @relu_14(
// CHECK: graph.relu %arg0 : (tensor<4xi32>) -> tensor<4xi32>
func.func @relu_14(%a: tensor<4xi32>) {
  %0 = graph.relu %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// CHECK-LABEL: @add_15(
// CHECK: graph.add %arg0, %arg1 : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
func.func @add_15(%a: tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, %b: tensor<3x8xbf16>) {
  %0 = graph.add %a, %b
      : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
  return
}

// CHECK-LABEL: @sub_16(
// CHECK: graph.sub %arg0, %arg1 : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
func.func @sub_16(%a: tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, %b: tensor<3x8xbf16>) {
  %0 = graph.sub %a, %b
      : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
  return
}

// CHECK-LABEL: @mul_17(
// CHECK: graph.mul %arg0, %arg1 : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
func.func @mul_17(%a: tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, %b: tensor<3x8xbf16>) {
  %0 = graph.mul %a, %b
      : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
  return
}

// CHECK-LABEL: @min_18(
// CHECK: graph.min %arg0, %arg1 : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
func.func @min_18(%a: tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, %b: tensor<3x8xbf16>) {
  %0 = graph.min %a, %b
      : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
  return
}

// CHECK-LABEL: @max_19(
// CHECK: graph.max %arg0, %arg1 : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
func.func @max_19(%a: tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, %b: tensor<3x8xbf16>) {
  %0 = graph.max %a, %b
      : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
  return
}

// CHECK-LABEL: @div_20(
// CHECK: graph.div %arg0, %arg1 : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
func.func @div_20(%a: tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, %b: tensor<3x8xbf16>) {
  %0 = graph.div %a, %b
      : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
  return
}

// CHECK-LABEL: @pow_21(
// CHECK: graph.pow %arg0, %arg1 : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
func.func @pow_21(%a: tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, %b: tensor<3x8xbf16>) {
  %0 = graph.pow %a, %b
      : (tensor<?x1x8xf16, #graph.dims<"S", 1, 8>>, tensor<3x8xbf16>) -> tensor<?x3x8xf32, #graph.dims<"S", 3, 8>>
  return
}

// CHECK-LABEL: @and_22(
// CHECK: graph.and %arg0, %arg1 : (tensor<?xi1, #graph.dims<"S">>, tensor<1xi1>) -> tensor<?xi1, #graph.dims<"S">>
func.func @and_22(%a: tensor<?xi1, #graph.dims<"S">>, %b: tensor<1xi1>) {
  %0 = graph.and %a, %b
      : (tensor<?xi1, #graph.dims<"S">>, tensor<1xi1>) -> tensor<?xi1, #graph.dims<"S">>
  return
}

// CHECK-LABEL: @or_23(
// CHECK: graph.or %arg0, %arg1 : (tensor<?xi1, #graph.dims<"S">>, tensor<1xi1>) -> tensor<?xi1, #graph.dims<"S">>
func.func @or_23(%a: tensor<?xi1, #graph.dims<"S">>, %b: tensor<1xi1>) {
  %0 = graph.or %a, %b
      : (tensor<?xi1, #graph.dims<"S">>, tensor<1xi1>) -> tensor<?xi1, #graph.dims<"S">>
  return
}

// CHECK-LABEL: @not_24(
// CHECK: graph.not %arg0 : (tensor<?xi1, #graph.dims<"S">>) -> tensor<?xi1, #graph.dims<"S">>
func.func @not_24(%a: tensor<?xi1, #graph.dims<"S">>) {
  %0 = graph.not %a
      : (tensor<?xi1, #graph.dims<"S">>) -> tensor<?xi1, #graph.dims<"S">>
  return
}

// CHECK-LABEL: @compare_25(
// CHECK: graph.compare %arg0, %arg1 {predicate = "lt"} : (tensor<?xi64, #graph.dims<"S">>, tensor<f32>) -> tensor<?xi1, #graph.dims<"S">>
func.func @compare_25(%a: tensor<?xi64, #graph.dims<"S">>, %b: tensor<f32>) {
  %0 = graph.compare %a, %b {predicate = "lt"}
      : (tensor<?xi64, #graph.dims<"S">>, tensor<f32>) -> tensor<?xi1, #graph.dims<"S">>
  return
}

// CHECK-LABEL: @where_26(
// CHECK: graph.where %arg0, %arg1, %arg2 : (tensor<4xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
func.func @where_26(%a: tensor<4xi1>, %b: tensor<2x4xf32>, %c: tensor<f32>) {
  %0 = graph.where %a, %b, %c
      : (tensor<4xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @clamp_27(
// CHECK: graph.clamp %arg0 {high = 1.000000e+00 : f64, low = -1.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32>
func.func @clamp_27(%a: tensor<4xf32>) {
  %0 = graph.clamp %a {high = 1.000000e+00 : f64, low = -1.000000e+00 : f64}
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @cast_28(
// CHECK: graph.cast %arg0 {dtype = f8E4M3FN} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
func.func @cast_28(%a: tensor<4xf32>) {
  %0 = graph.cast %a {dtype = f8E4M3FN}
      : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return
}

// CHECK-LABEL: @cast_29(
// CHECK: graph.cast %arg0 {dtype = f8E5M2} : (tensor<4xf32>) -> tensor<4xf8E5M2>
func.func @cast_29(%a: tensor<4xf32>) {
  %0 = graph.cast %a {dtype = f8E5M2}
      : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return
}

// CHECK-LABEL: @cast_30(
// CHECK: graph.cast %arg0 {dtype = i8} : (tensor<4xf32>) -> tensor<4xi8>
func.func @cast_30(%a: tensor<4xf32>) {
  %0 = graph.cast %a {dtype = i8}
      : (tensor<4xf32>) -> tensor<4xi8>
  return
}

// CHECK-LABEL: @cast_31(
// CHECK: graph.cast %arg0 {dtype = i1} : (tensor<4xf32>) -> tensor<4xi1>
func.func @cast_31(%a: tensor<4xf32>) {
  %0 = graph.cast %a {dtype = i1}
      : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @cast_32(
// CHECK: graph.cast %arg0 {dtype = bf16} : (tensor<4xf32>) -> tensor<4xbf16>
func.func @cast_32(%a: tensor<4xf32>) {
  %0 = graph.cast %a {dtype = bf16}
      : (tensor<4xf32>) -> tensor<4xbf16>
  return
}
