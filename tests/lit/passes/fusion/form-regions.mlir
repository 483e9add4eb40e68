// RUN: azulejo-opt %s -azulejo-form-regions 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=QUIET --allow-empty < %t.remarks
// RUN: azulejo-opt %s "-azulejo-form-regions=fuse=false" | FileCheck %s --check-prefix=APART
// What becomes one kernel. Wrong if a region splits, if it writes a value that
// nobody outside reads, or if it takes another family.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!x = tensor<?x64xbf16, #graph.dims<"S", 64>>
!half = tensor<?x32xbf16, #graph.dims<"S", 32>>
!f = tensor<?x64xf32, #graph.dims<"S", 64>>

// QUIET-NOT: remark

// Vertical: a chain is one kernel with one result. Unfused, every op is one.
// CHECK-LABEL: @chain(
// CHECK: graph.fused "RowChain" named "grow_0"(%arg0, %arg1) : {{.*}} -> tensor<?x64xbf16, #graph.dims<"S", 64>> {
// CHECK: graph.silu
// CHECK-NEXT: graph.mul
// CHECK-NEXT: %[[E:.*]] = graph.exp
// CHECK-NEXT: graph.yield %[[E]] :
// CHECK-NOT: graph.fused
// CHECK: return
// APART-LABEL: @chain(
// APART: graph.fused "RowChain" named "gate_0"
// APART: graph.fused "RowChain" named "scale_1"
// APART: graph.fused "RowChain" named "grow_2"
// APART: return
func.func @chain(%x: !x, %w: tensor<64xbf16>) -> !x {
  %0 = graph.silu %x {label = "gate"} : (!x) -> !x
  %1 = graph.mul %0, %w {label = "scale"} : (!x, tensor<64xbf16>) -> !x
  %2 = graph.exp %1 {label = "grow"} : (!x) -> !x
  return %2 : !x
}

// The halves of a SwiGLU are slices of the norm's result: they move no data,
// so norm, gate, product and residual are one region.
// CHECK-LABEL: @norm_swiglu_residual(
// CHECK: graph.fused "RowChain"
// CHECK: graph.layer_norm
// CHECK: graph.slice {{.*}} starts = array<i64: 0, 0>
// CHECK: graph.silu
// CHECK: graph.slice {{.*}} starts = array<i64: 0, 32>
// CHECK: graph.mul
// CHECK: %[[SUM:.*]] = graph.add
// CHECK-NEXT: graph.yield %[[SUM]] :
// CHECK-NOT: graph.fused
// CHECK: return
// APART-LABEL: @norm_swiglu_residual(
// APART-COUNT-4: graph.fused "RowChain"
// APART-NOT: graph.fused
// APART: return
func.func @norm_swiglu_residual(%x: !x, %r: !half, %w: tensor<64xbf16>,
                                %b: tensor<64xbf16>) -> !half {
  %0 = graph.layer_norm %x, %w, %b {eps = 1.0e-5 : f64, label = "norm"}
      : (!x, tensor<64xbf16>, tensor<64xbf16>) -> !x
  %1 = graph.slice %0 {sizes = #graph.dims<"S", 32>, starts = array<i64: 0, 0>,
                       steps = array<i64: 1, 1>} : (!x) -> !half
  %2 = graph.slice %0 {sizes = #graph.dims<"S", 32>, starts = array<i64: 0, 32>,
                       steps = array<i64: 1, 1>} : (!x) -> !half
  %3 = graph.silu %1 {label = "gate"} : (!half) -> !half
  %4 = graph.mul %3, %2 {label = "swiglu"} : (!half, !half) -> !half
  %5 = graph.add %4, %r {label = "residual"} : (!half, !half) -> !half
  return %5 : !half
}

// Both the sum and its norm are wanted: one kernel, two results.
// CHECK-LABEL: @residual_norm(
// CHECK: %[[R:.*]]:2 = graph.fused "RowChain"
// CHECK: %[[SUM:.*]] = graph.add
// CHECK-NEXT: %[[NORM:.*]] = graph.rms_norm %[[SUM]]
// CHECK-NEXT: graph.yield %[[SUM]], %[[NORM]] :
// CHECK-NOT: graph.fused
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @residual_norm(%x: !x, %r: !x, %w: tensor<64xbf16>) -> (!x, !x) {
  %0 = graph.add %x, %r {label = "sum"} : (!x, !x) -> !x
  %1 = graph.rms_norm %0, %w {eps = 1.0e-6 : f64, label = "norm"}
      : (!x, tensor<64xbf16>) -> !x
  return %0, %1 : !x, !x
}

// CHECK-LABEL: @matmul_epilogue(
// CHECK: graph.fused "Matmul" named "product_0"
// CHECK: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.gelu_erf
// CHECK-NEXT: %[[SUM:.*]] = graph.add
// CHECK-NEXT: graph.yield %[[SUM]] :
// CHECK-NOT: graph.fused
// CHECK: return
// APART-LABEL: @matmul_epilogue(
// APART: graph.fused "Matmul"
// APART-COUNT-3: graph.fused "RowChain"
// APART-NOT: graph.fused
// APART: return
func.func @matmul_epilogue(%x: !x, %w: tensor<64x64xbf16>,
                           %b: tensor<64xbf16>, %r: !x) -> !x {
  %0 = graph.matmul %x, %w {transpose_a = false, transpose_b = false,
                            label = "product"}
      : (!x, tensor<64x64xbf16>) -> !x
  %1 = graph.add %0, %b {label = "bias"} : (!x, tensor<64xbf16>) -> !x
  %2 = graph.gelu_erf %1 {label = "gelu"} : (!x) -> !x
  %3 = graph.add %2, %r {label = "residual"} : (!x, !x) -> !x
  return %3 : !x
}

// Rotation of the queries before and bias and cast after: one kernel.
// CHECK-LABEL: @attention_around(
// CHECK: graph.fused "Attention" named "attn_0"
// CHECK: %[[Q:.*]] = graph.rope
// CHECK-NEXT: graph.attention %[[Q]],
// CHECK-NEXT: graph.add
// CHECK-NEXT: %[[C:.*]] = graph.cast
// CHECK-NEXT: graph.yield %[[C]] :
// CHECK-NOT: graph.fused
// CHECK: return
!q = tensor<1x4x?x64xf32, #graph.dims<1, 4, "S", 64>>
!h = tensor<1x4x?x64xbf16, #graph.dims<1, 4, "S", 64>>
!t = tensor<?x32xf32, #graph.dims<"S", 32>>
func.func @attention_around(%q: !q, %k: !q, %v: !q, %c: !t, %s: !t,
                            %b: tensor<64xf32>) -> !h {
  %0 = graph.rope %q, %c, %s {pairing = "half", label = "rope"}
      : (!q, !t, !t) -> !q
  %1 = graph.attention %0, %k, %v
      {causal = "bottom_right", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64,
       label = "attn"} : (!q, !q, !q) -> !q
  %2 = graph.add %1, %b {label = "bias"} : (!q, tensor<64xf32>) -> !q
  %3 = graph.cast %2 {dtype = bf16, label = "narrow"} : (!q) -> !h
  return %3 : !h
}

// Horizontal: siblings that read one tensor share a kernel and read it once.
// CHECK-LABEL: @siblings(
// CHECK: %[[R:.*]]:2 = graph.fused "RowChain"
// CHECK-SAME: (%arg0) :
// CHECK: graph.exp
// CHECK-NEXT: graph.tanh
// CHECK-NEXT: graph.yield
// CHECK-NOT: graph.fused
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @siblings(%x: !f) -> (!f, !f) {
  %0 = graph.exp %x {label = "left"} : (!f) -> !f
  %1 = graph.tanh %x {label = "right"} : (!f) -> !f
  return %0, %1 : !f, !f
}

// A value that is returned twice, and an argument that is returned, are copied:
// every result has a kernel that writes it.
// CHECK-LABEL: @returned(
// CHECK: %[[R:.*]]:{{[0-9]+}} = graph.fused
// CHECK-DAG: graph.reshape
// CHECK: return
// CHECK-NOT: return %arg0
func.func @returned(%x: !f) -> (!f, !f, !f) {
  %0 = graph.exp %x {label = "e"} : (!f) -> !f
  return %0, %0, %x : !f, !f, !f
}
