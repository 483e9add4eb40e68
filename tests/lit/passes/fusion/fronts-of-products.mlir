// REQUIRES: tool-azulejo
// RUN: azulejo compile %s --cache off --device h200 --emit asm -o - | FileCheck %s --implicit-check-not=mma.sync
// RUN: azulejo explain %s --cache off --device h200 | FileCheck %s --check-prefix=WHY
// Large products keep their bulk copies and warp groups whatever stands in
// front of them: its factors move behind, the rest is a kernel of its own.
// Wrong if one of them runs on mma.sync.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// The rows' kernel, then the products'; two of them are one.
// CHECK: .entry
// CHECK: .entry
// CHECK: wgmma.mma_async
// CHECK: .entry
// CHECK: wgmma.mma_async
// CHECK: .entry
// CHECK: wgmma.mma_async
// CHECK: .entry
// CHECK: wgmma.mma_async
// CHECK-NOT: .entry

// WHY: {{^}}bare_1 Matmul bare, mul, cast
// WHY: {{^}}scaled_4 Matmul scaled, mul
// WHY: Not fused
// WHY: {{move-scales +rms_norm, weighted +its weight varies along the contracted axis}}
// WHY: {{move-scales +layer_norm, centred +layer_norm takes each row's mean away}}
// WHY: {{vertical .*gated +one kernel would take about}}
!x = tensor<4096x4096xbf16>
!v = tensor<4096xbf16>
!m = tensor<4096x1xbf16>
func.func @main(%x: !x {graph.name = "x"}, %u: !x {graph.name = "u"},
                %w: !x {graph.name = "w"}, %g: !v {graph.name = "g"},
                %h: !v {graph.name = "h"}, %s: !m {graph.name = "s"})
    -> (!x {graph.name = "a"}, !x {graph.name = "b"}, !x {graph.name = "c"},
        !x {graph.name = "d"}, !x {graph.name = "e"}) {
  %0 = graph.rms_norm %x {eps = 1.0e-06 : f64} : (!x) -> !x
  %1 = graph.matmul %0, %w {transpose_a = false, transpose_b = true,
                            label = "bare"} : (!x, !x) -> !x
  %2 = graph.rms_norm %x, %g {eps = 1.0e-06 : f64} : (!x, !v) -> !x
  %3 = graph.matmul %2, %w {transpose_a = false, transpose_b = true,
                            label = "weighted"} : (!x, !x) -> !x
  %4 = graph.layer_norm %x, %g, %h {eps = 1.0e-06 : f64} : (!x, !v, !v) -> !x
  %5 = graph.matmul %4, %w {transpose_a = false, transpose_b = true,
                            label = "centred"} : (!x, !x) -> !x
  %6 = graph.add %5, %h : (!x, !v) -> !x
  %7 = graph.gelu_tanh %6 : (!x) -> !x
  %8 = graph.mul %x, %s : (!x, !m) -> !x
  %9 = graph.matmul %8, %w {transpose_a = false, transpose_b = true,
                            label = "scaled"} : (!x, !x) -> !x
  %10 = graph.silu %x : (!x) -> !x
  %11 = graph.mul %10, %u : (!x, !x) -> !x
  %12 = graph.matmul %11, %w {transpose_a = false, transpose_b = true,
                              label = "gated"} : (!x, !x) -> !x
  return %1, %3, %7, %9, %12 : !x, !x, !x, !x, !x
}
