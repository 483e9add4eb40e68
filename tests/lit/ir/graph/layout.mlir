// RUN: azulejo-opt %s | azulejo-opt | FileCheck %s
// Ops that make, move or place elements: wrong if text loses or changes an operand, a type
// or an attribute on the way through parser and printer.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: @constant_0(
// CHECK: graph.constant  {dtype = f8E5M2, shape = #graph.dims<2, "S">, value = 0x7FF8000000000000 : f64} : () -> tensor<2x?xf8E5M2, #graph.dims<2, "S">>
func.func @constant_0() {
  %0 = graph.constant {dtype = f8E5M2, shape = #graph.dims<2, "S">, value = 0x7FF8000000000000 : f64}
      : () -> tensor<2x?xf8E5M2, #graph.dims<2, "S">>
  return
}

// CHECK-LABEL: @iota_1(
// CHECK: graph.iota  {axis = 0 : i64, dtype = i64, shape = #graph.dims<"S", 4>} : () -> tensor<?x4xi64, #graph.dims<"S", 4>>
func.func @iota_1() {
  %0 = graph.iota {axis = 0 : i64, dtype = i64, shape = #graph.dims<"S", 4>}
      : () -> tensor<?x4xi64, #graph.dims<"S", 4>>
  return
}

// CHECK-LABEL: @broadcast_2(
// CHECK: graph.broadcast %arg0 {shape = #graph.dims<"S", 4>} : (tensor<4xf32>) -> tensor<?x4xf32, #graph.dims<"S", 4>>
func.func @broadcast_2(%a: tensor<4xf32>) {
  %0 = graph.broadcast %a {shape = #graph.dims<"S", 4>}
      : (tensor<4xf32>) -> tensor<?x4xf32, #graph.dims<"S", 4>>
  return
}

// CHECK-LABEL: @reshape_3(
// CHECK: graph.reshape %arg0 {shape = #graph.dims<"B*S", 4, 6>} : (tensor<?x?x24xf32, #graph.dims<"B", "S", 24>>) -> tensor<?x4x6xf32, #graph.dims<"B*S", 4, 6>>
func.func @reshape_3(%a: tensor<?x?x24xf32, #graph.dims<"B", "S", 24>>) {
  %0 = graph.reshape %a {shape = #graph.dims<"B*S", 4, 6>}
      : (tensor<?x?x24xf32, #graph.dims<"B", "S", 24>>) -> tensor<?x4x6xf32, #graph.dims<"B*S", 4, 6>>
  return
}

// CHECK-LABEL: @transpose_4(
// CHECK: graph.transpose %arg0 {perm = array<i64: 2, 0, 1>} : (tensor<?x?x24xf32, #graph.dims<"B", "S", 24>>) -> tensor<24x?x?xf32, #graph.dims<24, "B", "S">>
func.func @transpose_4(%a: tensor<?x?x24xf32, #graph.dims<"B", "S", 24>>) {
  %0 = graph.transpose %a {perm = array<i64: 2, 0, 1>}
      : (tensor<?x?x24xf32, #graph.dims<"B", "S", 24>>) -> tensor<24x?x?xf32, #graph.dims<24, "B", "S">>
  return
}

// CHECK-LABEL: @slice_5(
// CHECK: graph.slice %arg0 {sizes = #graph.dims<"S", 4>, starts = array<i64: 2, 0>, steps = array<i64: 1, 3>} : (tensor<?x10xf32, #graph.dims<"S + 3", 10>>) -> tensor<?x4xf32, #graph.dims<"S", 4>>
func.func @slice_5(%a: tensor<?x10xf32, #graph.dims<"S + 3", 10>>) {
  %0 = graph.slice %a {sizes = #graph.dims<"S", 4>, starts = array<i64: 2, 0>, steps = array<i64: 1, 3>}
      : (tensor<?x10xf32, #graph.dims<"S + 3", 10>>) -> tensor<?x4xf32, #graph.dims<"S", 4>>
  return
}

// CHECK-LABEL: @concat_6(
// CHECK: graph.concat %arg0, %arg1 {axis = 0 : i64} : (tensor<?x4xf32, #graph.dims<"S", 4>>, tensor<?x4xf32, #graph.dims<"T", 4>>) -> tensor<?x4xf32, #graph.dims<"S + T", 4>>
func.func @concat_6(%a: tensor<?x4xf32, #graph.dims<"S", 4>>, %b: tensor<?x4xf32, #graph.dims<"T", 4>>) {
  %0 = graph.concat %a, %b {axis = 0 : i64}
      : (tensor<?x4xf32, #graph.dims<"S", 4>>, tensor<?x4xf32, #graph.dims<"T", 4>>) -> tensor<?x4xf32, #graph.dims<"S + T", 4>>
  return
}

// CHECK-LABEL: @concat_7(
// CHECK: graph.concat %arg0 {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
func.func @concat_7(%a: tensor<4xf32>) {
  %0 = graph.concat %a {axis = 0 : i64}
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @gather_8(
// CHECK: graph.gather %arg0, %arg1 {axis = 0 : i64} : (tensor<100x8xf32>, tensor<?x?xi32, #graph.dims<"B", "S">>) -> tensor<?x?x8xf32, #graph.dims<"B", "S", 8>>
func.func @gather_8(%a: tensor<100x8xf32>, %b: tensor<?x?xi32, #graph.dims<"B", "S">>) {
  %0 = graph.gather %a, %b {axis = 0 : i64}
      : (tensor<100x8xf32>, tensor<?x?xi32, #graph.dims<"B", "S">>) -> tensor<?x?x8xf32, #graph.dims<"B", "S", 8>>
  return
}

// CHECK-LABEL: @cache_update_9(
// CHECK: graph.cache_update %arg0, %arg1, %arg2 {axis = 2 : i64} : (tensor<2x4x128x64xf16>, tensor<2x4x1x64xf16>, tensor<2xi32>) -> tensor<2x4x128x64xf16>
func.func @cache_update_9(%a: tensor<2x4x128x64xf16>, %b: tensor<2x4x1x64xf16>, %c: tensor<2xi32>) {
  %0 = graph.cache_update %a, %b, %c {axis = 2 : i64}
      : (tensor<2x4x128x64xf16>, tensor<2x4x1x64xf16>, tensor<2xi32>) -> tensor<2x4x128x64xf16>
  return
}
