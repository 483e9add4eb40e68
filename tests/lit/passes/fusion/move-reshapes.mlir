// RUN: azulejo-opt %s -split-input-file -azulejo-move-reshapes | FileCheck %s
// Reshapes between scales of rows and products move in front of the scales.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!x = tensor<?x?x64xf32, #graph.dims<"B", "S", 64>>
!f = tensor<?x64xf32, #graph.dims<"B*S", 64>>
!w = tensor<64x48xf32>
!y = tensor<?x48xf32, #graph.dims<"B*S", 48>>

// CHECK-LABEL: @norm(
// CHECK-NEXT: %[[F:.*]] = graph.reshape %arg0
// CHECK-NEXT: %[[N:.*]] = graph.rms_norm %[[F]] {eps = 9.9999999999999995E-7 : f64, label = "norm"}
// CHECK-NEXT: graph.matmul %[[N]], %arg1
// CHECK-NEXT: graph.matmul %[[N]], %arg2
// CHECK-NEXT: return
func.func @norm(%x: !x, %w: !w, %v: !w) -> (!y, !y)
    attributes {graph.dims = [#graph.dim<"B", 1, 8>, #graph.dim<"S", 1, 64>]} {
  %0 = graph.rms_norm %x {eps = 1.0e-06 : f64, label = "norm"} : (!x) -> !x
  %1 = graph.reshape %0 {shape = #graph.dims<"B*S", 64>} : (!x) -> !f
  %2 = graph.matmul %1, %w {transpose_a = false, transpose_b = false} : (!f, !w) -> !y
  %3 = graph.matmul %1, %v {transpose_a = false, transpose_b = false} : (!f, !w) -> !y
  return %2, %3 : !y, !y
}

// -----

!x = tensor<2x3x64xf32>
!f = tensor<6x64xf32>
!w = tensor<64x48xf32>

// A scale that repeats is written out along the rows first; two scales move
// one after the other.
// CHECK-LABEL: @scales(
// CHECK-DAG: %[[X:.*]] = graph.reshape %arg0 {shape = #graph.dims<6, 64>}
// CHECK-DAG: %[[B:.*]] = graph.broadcast %arg2 {shape = #graph.dims<2, 3, 1>}
// CHECK-DAG: %[[S:.*]] = graph.reshape %[[B]] {shape = #graph.dims<6, 1>}
// CHECK-DAG: %[[D:.*]] = graph.div %[[X]], %[[S]]
// CHECK-DAG: %[[B2:.*]] = graph.broadcast %arg3 {shape = #graph.dims<2, 3, 1>}
// CHECK-DAG: %[[S2:.*]] = graph.reshape %[[B2]] {shape = #graph.dims<6, 1>}
// CHECK: %[[M:.*]] = graph.mul %[[D]], %[[S2]]
// CHECK-NEXT: graph.matmul %[[M]], %arg1
// CHECK-NEXT: return
func.func @scales(%x: !x, %w: !w, %r: tensor<3x1xf32>, %s: tensor<f32>) -> tensor<6x48xf32> {
  %0 = graph.div %x, %r : (!x, tensor<3x1xf32>) -> !x
  %1 = graph.mul %s, %0 : (tensor<f32>, !x) -> !x
  %2 = graph.reshape %1 {shape = #graph.dims<6, 64>} : (!x) -> !f
  %3 = graph.matmul %2, %w {transpose_a = false, transpose_b = false} : (!f, !w) -> tensor<6x48xf32>
  return %3 : tensor<6x48xf32>
}

// -----

!x = tensor<2x3x64xf32>
!f = tensor<6x64xf32>

// Somebody reads the normalised rows before they are flattened, or after.
// CHECK-LABEL: @read_elsewhere(
// CHECK-NEXT: graph.rms_norm
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: graph.matmul
func.func @read_elsewhere(%x: !x, %w: tensor<64x48xf32>) -> (!x, tensor<6x48xf32>) {
  %0 = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %1 = graph.reshape %0 {shape = #graph.dims<6, 64>} : (!x) -> !f
  %2 = graph.matmul %1, %w {transpose_a = false, transpose_b = false} : (!f, tensor<64x48xf32>) -> tensor<6x48xf32>
  return %0, %2 : !x, tensor<6x48xf32>
}

// CHECK-LABEL: @read_after(
// CHECK-NEXT: graph.rms_norm
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: graph.matmul
func.func @read_after(%x: !x, %w: tensor<64x48xf32>) -> (!f, tensor<6x48xf32>) {
  %0 = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %1 = graph.reshape %0 {shape = #graph.dims<6, 64>} : (!x) -> !f
  %2 = graph.matmul %1, %w {transpose_a = false, transpose_b = false} : (!f, tensor<64x48xf32>) -> tensor<6x48xf32>
  return %1, %2 : !f, tensor<6x48xf32>
}

// -----

// The rows themselves change.
// CHECK-LABEL: @other_rows(
// CHECK-NEXT: graph.rms_norm
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: graph.matmul
func.func @other_rows(%x: tensor<6x4x16xf32>, %w: tensor<64x48xf32>) -> tensor<6x48xf32> {
  %0 = graph.rms_norm %x {eps = 1.0e-06 : f64} : (tensor<6x4x16xf32>) -> tensor<6x4x16xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<6, 64>} : (tensor<6x4x16xf32>) -> tensor<6x64xf32>
  %2 = graph.matmul %1, %w {transpose_a = false, transpose_b = false} : (tensor<6x64xf32>, tensor<64x48xf32>) -> tensor<6x48xf32>
  return %2 : tensor<6x48xf32>
}

// -----

// A scale along the rows is none of them.
// CHECK-LABEL: @along(
// CHECK-NEXT: graph.mul
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: graph.matmul
func.func @along(%x: tensor<2x3x64xf32>, %g: tensor<64xf32>, %w: tensor<64x48xf32>) -> tensor<6x48xf32> {
  %0 = graph.mul %x, %g : (tensor<2x3x64xf32>, tensor<64xf32>) -> tensor<2x3x64xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<6, 64>} : (tensor<2x3x64xf32>) -> tensor<6x64xf32>
  %2 = graph.matmul %1, %w {transpose_a = false, transpose_b = false} : (tensor<6x64xf32>, tensor<64x48xf32>) -> tensor<6x48xf32>
  return %2 : tensor<6x48xf32>
}

// -----

!f = tensor<6x64xf32>

// A reshape that changes nothing is no other one.
// CHECK-LABEL: @same(
// CHECK: %[[R:.*]] = graph.reshape
// CHECK-NEXT: %[[N:.*]] = graph.rms_norm %[[R]]
// CHECK-NEXT: graph.matmul %[[N]], %arg1
func.func @same(%x: tensor<2x3x64xf32>, %w: tensor<64x48xf32>) -> tensor<6x48xf32> {
  %0 = graph.mul %x, %x {label = "square"} : (tensor<2x3x64xf32>, tensor<2x3x64xf32>) -> tensor<2x3x64xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<6, 64>} : (tensor<2x3x64xf32>) -> !f
  %2 = graph.rms_norm %1 {eps = 1.0e-06 : f64, label = "norm"} : (!f) -> !f
  %3 = graph.reshape %2 {shape = #graph.dims<6, 64>} : (!f) -> !f
  %4 = graph.matmul %3, %w {transpose_a = false, transpose_b = false} : (!f, tensor<64x48xf32>) -> tensor<6x48xf32>
  return %4 : tensor<6x48xf32>
}
