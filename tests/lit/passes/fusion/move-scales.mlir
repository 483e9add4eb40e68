// RUN: azulejo-opt %s -split-input-file -azulejo-move-scales=target=h200 | FileCheck %s
// Scales of rows and columns in front of products move behind them.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// The statistics stand where the norm stood, so that every product follows
// them; the scale follows its product at once.
// CHECK-LABEL: @statistics(
// CHECK-SAME: %[[X:.*]]: {{.*}}, %[[W:[^:]*]]: {{.*}}, %[[V:[^:]*]]:
// CHECK-NEXT: %[[F:.*]] = graph.cast %[[X]] {dtype = f32}
// CHECK-NEXT: %[[Q:.*]] = graph.mul %[[F]], %[[F]]
// CHECK-NEXT: %[[M:.*]] = graph.reduce_mean %[[Q]] {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[E:.*]] = graph.constant
// CHECK-SAME: value = 9.9999999999999995E-7
// CHECK-NEXT: %[[A:.*]] = graph.add %[[M]], %[[E]]
// CHECK-NEXT: %[[R:.*]] = graph.rsqrt %[[A]] {label = "norm"}
// CHECK-NEXT: %[[P:.*]] = graph.matmul %[[X]], %[[W]] {label = "q"
// CHECK-NEXT: %[[S:.*]] = graph.mul %[[P]], %[[R]]
// CHECK-NEXT: %[[Y:.*]] = graph.cast %[[S]] {dtype = bf16}
// CHECK-NEXT: %[[P2:.*]] = graph.matmul %[[X]], %[[V]]
// CHECK-NEXT: %[[S2:.*]] = graph.mul %[[P2]], %[[R]]
// CHECK-NEXT: %[[Y2:.*]] = graph.cast %[[S2]] {dtype = bf16}
// CHECK-NEXT: return %[[Y]], %[[Y2]]
func.func @statistics(%x: !x, %w: !w, %v: !w) -> (!y, !y) {
  %n = graph.rms_norm %x {eps = 1.0e-06 : f64, label = "norm"} : (!x) -> !x
  %p = graph.matmul %n, %w {transpose_a = false, transpose_b = false,
                            label = "q"} : (!x, !w) -> !y
  %q = graph.matmul %n, %v {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %p, %q : !y, !y
}

// -----

!x = tensor<32x64xf32>
!w = tensor<48x64xf32>
!y = tensor<32x48xf32>

// The right operand's scale is turned as the operand is. Nothing is cast, and
// the product keeps its precision.
// CHECK-LABEL: @both_sides(
// CHECK-SAME: %[[X:.*]]: {{.*}}, %[[W:[^:]*]]: {{.*}}, %[[R:[^:]*]]: {{.*}}, %[[C:[^:]*]]:
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[C]] {perm = array<i64: 1, 0>}
// CHECK-NEXT: %[[P:.*]] = graph.matmul %[[X]], %[[W]] {precision = "tf32", transpose_a = false, transpose_b = true}
// CHECK-NEXT: %[[S:.*]] = graph.div %[[P]], %[[R]]
// CHECK-NEXT: %[[Y:.*]] = graph.mul %[[S]], %[[T]]
// CHECK-NEXT: return %[[Y]]
func.func @both_sides(%x: !x, %w: !w, %r: tensor<32x1xf32>,
                      %c: tensor<48x1xf32>) -> !y {
  %a = graph.div %x, %r : (!x, tensor<32x1xf32>) -> !x
  %b = graph.mul %c, %w : (tensor<48x1xf32>, !w) -> !w
  %y = graph.matmul %a, %b {precision = "tf32", transpose_a = false, transpose_b = true} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<64x32xf16>
!w = tensor<64x48xf16>
!y = tensor<32x48xf16>

// A vector along the rows of a transposed operand gets an axis.
// CHECK-LABEL: @vector(
// CHECK-SAME: %[[X:.*]]: {{.*}}, %[[W:[^:]*]]: {{.*}}, %[[R:[^:]*]]:
// CHECK-NEXT: %[[T:.*]] = graph.reshape %[[R]] {shape = #graph.dims<32, 1>}
// CHECK-NEXT: %[[P:.*]] = graph.matmul %[[X]], %[[W]]
// CHECK-NEXT: graph.mul %[[P]], %[[T]]
func.func @vector(%x: !x, %w: !w, %r: tensor<32xf16>) -> !y {
  %a = graph.mul %x, %r : (!x, tensor<32xf16>) -> !x
  %y = graph.matmul %a, %w {transpose_a = true, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// An operand that would be computed on its way loses a step of that.
// CHECK-LABEL: @in_a_prologue(
// CHECK: %[[A:.*]] = graph.silu
// CHECK-NEXT: %[[P:.*]] = graph.matmul %[[A]]
// CHECK-NEXT: graph.mul %[[P]]
func.func @in_a_prologue(%x: !x, %w: !w, %r: tensor<32x1xbf16>) -> !y {
  %a = graph.silu %x : (!x) -> !x
  %b = graph.mul %a, %r : (!x, tensor<32x1xbf16>) -> !x
  %y = graph.matmul %b, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}
