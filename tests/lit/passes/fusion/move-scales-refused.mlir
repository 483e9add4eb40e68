// RUN: azulejo-opt %s -split-input-file -azulejo-move-scales=target=h200 | FileCheck %s
// RUN: not azulejo-opt %s -split-input-file -azulejo-move-scales=target=h201 2>&1 | FileCheck %s --check-prefix=TARGET
// Scales that stay in front of the product, and the reason that the user is
// told.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// TARGET: h201

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// CHECK-LABEL: @weight(
// CHECK-SAME: {ops = ["rms_norm", "matmul"], rule = "move-scales", text = "its weight varies along the contracted axis, so its rows have to be written, and may as well be normalised"}
// CHECK-NEXT: graph.rms_norm
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: return
func.func @weight(%x: !x, %w: !w, %g: tensor<64xbf16>) -> !y {
  %n = graph.rms_norm %x, %g {eps = 1.0e-06 : f64} : (!x, tensor<64xbf16>) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// CHECK-LABEL: @centre(
// CHECK-SAME: text = "layer_norm takes each row's mean away, which is no factor"
// CHECK-NEXT: graph.layer_norm
func.func @centre(%x: !x, %w: !w) -> !y {
  %n = graph.layer_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// A scale along the contracted axis is no factor of a row: nothing to say.
// CHECK-LABEL: @along(
// CHECK-NOT: graph.notes
// CHECK: graph.mul
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: return
func.func @along(%x: !x, %w: !w, %g: tensor<64xbf16>) -> !y {
  %n = graph.mul %x, %g : (!x, tensor<64xbf16>) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// Nor is what a row is divided out of.
// CHECK-LABEL: @divided(
// CHECK-NOT: graph.notes
// CHECK: graph.div
// CHECK-NEXT: graph.matmul
func.func @divided(%x: !x, %w: !w, %r: tensor<32x1xbf16>) -> !y {
  %n = graph.div %r, %x : (tensor<32x1xbf16>, !x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// CHECK-LABEL: @read_elsewhere(
// CHECK-SAME: text = "what it scales is read elsewhere, so it is written anyway"
// CHECK-NEXT: graph.rms_norm
func.func @read_elsewhere(%x: !x, %w: !w) -> (!x, !y) {
  %n = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %n, %y : !x, !y
}

// -----

!x = tensor<64x64xbf16>

// The second product sums over the rows of what the norm gives.
// CHECK-LABEL: @other_axis(
// CHECK-SAME: text = "a product reads it that the scale cannot move behind"
// CHECK-NEXT: graph.rms_norm
func.func @other_axis(%x: !x, %w: !x) -> (!x, !x) {
  %n = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !x) -> !x
  %z = graph.matmul %n, %w {transpose_a = true, transpose_b = false} : (!x, !x) -> !x
  return %y, %z : !x, !x
}

// -----

!x = tensor<32x64xbf16>
!f = tensor<32x64xf32>
!w = tensor<64x48xf32>
!y = tensor<32x48xf32>

// CHECK-LABEL: @wider(
// CHECK-SAME: text = "the scale widens bf16 to f32, which the product would have to do"
// CHECK-NEXT: graph.mul
func.func @wider(%x: !x, %w: !w, %r: tensor<32x1xf32>) -> !y {
  %n = graph.mul %x, %r : (!x, tensor<32x1xf32>) -> !f
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!f, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!f = tensor<32x64xf32>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// A cast that is spelled out rounds, and is kept.
// CHECK-LABEL: @cast(
// CHECK-SAME: text = "a cast stands between the scale and the product, and casts are kept"
// CHECK-NEXT: graph.mul
// CHECK-NEXT: graph.cast
func.func @cast(%x: !x, %w: !w, %r: tensor<32x1xf32>) -> !y {
  %m = graph.mul %x, %r : (!x, tensor<32x1xf32>) -> !f
  %n = graph.cast %m {dtype = bf16} : (!f) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xf16>
!w = tensor<64x48xf32>
!y = tensor<32x48xf32>

// CHECK-LABEL: @two_types(
// CHECK-SAME: text = "the product's operands are of two types"
// CHECK-NEXT: graph.mul
func.func @two_types(%x: !x, %w: !w, %r: tensor<32x1xf16>) -> !y {
  %n = graph.mul %x, %r : (!x, tensor<32x1xf16>) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x?xf32, #graph.dims<32, "K">>
!w = tensor<?x48xf32, #graph.dims<"K", 48>>
!y = tensor<32x48xf32>

// CHECK-LABEL: @maybe_empty(
// CHECK-SAME: text = "the contracted axis may be empty, and nothing times any scale is 0"
// CHECK-NEXT: graph.rms_norm
func.func @maybe_empty(%x: !x, %w: !w) -> !y
    attributes {graph.dims = [#graph.dim<"K", 0, 64>]} {
  %n = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x?xf32, #graph.dims<32, "K">>
!w = tensor<?x48xf32, #graph.dims<"K", 48>>
!y = tensor<32x48xf32>

// CHECK-LABEL: @never_empty(
// CHECK-NOT: graph.notes
// CHECK: graph.rsqrt
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.mul
func.func @never_empty(%x: !x, %w: !w) -> !y
    attributes {graph.dims = [#graph.dim<"K", 1, 64>]} {
  %n = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// The kernel of the sum can write the normalised rows instead.
// CHECK-LABEL: @made_for_it(
// CHECK-SAME: text = "the kernel that makes its rows writes them for this product alone and scales them on the way"
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.rms_norm
func.func @made_for_it(%a: !x, %b: !x, %w: !w) -> !y {
  %x = graph.add %a, %b : (!x, !x) -> !x
  %n = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x48xbf16>
!y = tensor<32x48xbf16>

// So can the kernel of a softmax's exponentials, whose sum is the divisor.
// CHECK-LABEL: @softmax(
// CHECK-SAME: text = "the kernel that makes its rows
// CHECK: graph.div
// CHECK-NEXT: graph.matmul
func.func @softmax(%x: !x, %w: !w) -> !y {
  %e = graph.exp %x : (!x) -> !x
  %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims = true} : (!x) -> tensor<32x1xbf16>
  %n = graph.div %e, %s : (!x, tensor<32x1xbf16>) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}

// -----

!x = tensor<32x64xbf16>
!w = tensor<64x64xbf16>

// A product's epilogue scales rows that are given, but knows no statistics.
// CHECK-LABEL: @behind_a_product(
// CHECK-SAME: ops = ["given", "second"]
// CHECK-SAME: text = "the kernel that makes its rows
// CHECK: graph.matmul
// CHECK-NEXT: graph.mul
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: return
func.func @behind_a_product(%x: !x, %w: !w, %r: tensor<32x1xbf16>) -> !x {
  %a = graph.matmul %x, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !x
  %n = graph.mul %a, %r {label = "given"} : (!x, tensor<32x1xbf16>) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false,
                            label = "second"} : (!x, !w) -> !x
  return %y : !x
}

// CHECK-LABEL: @statistics_of_a_product(
// CHECK-NOT: graph.notes
// CHECK: graph.matmul
// CHECK: graph.rsqrt
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.mul
func.func @statistics_of_a_product(%x: !x, %w: !w) -> !x {
  %a = graph.matmul %x, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !x
  %n = graph.rms_norm %a {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !x
  return %y : !x
}

// -----

!x = tensor<512x16xbf16>
!w = tensor<16x32768xbf16>
!y = tensor<512x32768xbf16>

// CHECK-LABEL: @many_columns(
// CHECK-SAME: text = "per row, 32768 multiplications would take longer than writing 32 bytes"
// CHECK-NEXT: graph.rms_norm
func.func @many_columns(%x: !x, %w: !w) -> !y {
  %n = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %y : !y
}
