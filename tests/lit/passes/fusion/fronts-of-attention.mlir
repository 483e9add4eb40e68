// REQUIRES: tool-azulejo
// RUN: azulejo compile %s --cache off --device h200 --emit asm -o - | FileCheck %s --implicit-check-not=mma.sync
// RUN: azulejo explain %s --cache off --device h200 | FileCheck %s --check-prefix=WHY
// A layer's attention as models write it keeps its bulk copies and warp groups:
// heads are read where the projection left them, rotated queries are a kernel
// of their own together with the keys, and the product behind reads the heads
// as one row. Wrong if one of them runs on mma.sync.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Plain: attention, then the product. Rotated: rows, attention, product.
// CHECK: .entry
// CHECK: wgmma.mma_async
// CHECK: .entry
// CHECK: wgmma.mma_async
// CHECK: .entry
// CHECK: .entry
// CHECK: wgmma.mma_async
// CHECK-NOT: .entry

// WHY-DAG: {{^}}plain_{{[0-9]}} Attention
// WHY-DAG: {{^}}project_{{[0-9]}} Matmul
// WHY-DAG: {{^}}rotated_{{[0-9]}} Attention rotated
// WHY: {{vertical +turn_q, rotated +one kernel would take about}}
!packed = tensor<4x2048x3072xbf16>
!row = tensor<4x2048x1024xbf16>
!heads = tensor<4x2048x16x64xbf16>
!turned = tensor<4x16x2048x64xbf16>
!table = tensor<2048x32xf32>
!flat = tensor<8192x1024xbf16>
func.func @main(%x: !packed {graph.name = "x"}, %w: tensor<1024x1024xbf16> {graph.name = "w"},
                %a: !turned {graph.name = "a"}, %b: !turned {graph.name = "b"},
                %c: !table {graph.name = "c"}, %s: !table {graph.name = "s"})
    -> (!flat {graph.name = "y"}, !turned {graph.name = "z"}) {
  %0 = graph.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>, sizes = #graph.dims<4, 2048, 1024>} : (!packed) -> !row
  %1 = graph.slice %x {starts = array<i64: 0, 0, 1024>, steps = array<i64: 1, 1, 1>, sizes = #graph.dims<4, 2048, 1024>} : (!packed) -> !row
  %2 = graph.slice %x {starts = array<i64: 0, 0, 2048>, steps = array<i64: 1, 1, 1>, sizes = #graph.dims<4, 2048, 1024>} : (!packed) -> !row
  %q = graph.reshape %0 {shape = #graph.dims<4, 2048, 16, 64>} : (!row) -> !heads
  %k = graph.reshape %1 {shape = #graph.dims<4, 2048, 16, 64>} : (!row) -> !heads
  %v = graph.reshape %2 {shape = #graph.dims<4, 2048, 16, 64>} : (!row) -> !heads
  %3 = graph.attention %q, %k, %v {causal = "bottom_right", label = "plain", layout = "bshd", lse = false, roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (!heads, !heads, !heads) -> !heads
  %4 = graph.reshape %3 {shape = #graph.dims<8192, 1024>} : (!heads) -> !flat
  %5 = graph.matmul %4, %w {transpose_a = false, transpose_b = true, label = "project"} : (!flat, tensor<1024x1024xbf16>) -> !flat
  %6 = graph.rope %a, %c, %s {label = "turn_q", pairing = "half"} : (!turned, !table, !table) -> !turned
  %7 = graph.rope %b, %c, %s {label = "turn_k", pairing = "half"} : (!turned, !table, !table) -> !turned
  %8 = graph.attention %6, %7, %b {causal = "none", label = "rotated", layout = "bhsd", lse = false, roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (!turned, !turned, !turned) -> !turned
  return %5, %8 : !flat, !turned
}
