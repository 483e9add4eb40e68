// RUN: azulejo-opt %s -split-input-file -azulejo-form-regions -verify-diagnostics | FileCheck %s
// What does not become one kernel, and the reason that the user is told.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

!x = tensor<128x128xf32>

// CHECK-LABEL: @two_products(
// CHECK-COUNT-2: graph.fused "Matmul"
// CHECK-NOT: graph.fused
// CHECK: return
// expected-remark@below {{not fused (vertical): first, act, second: it has two products}}
func.func @two_products(%x: !x, %w: !x) -> !x {
  %0 = graph.matmul %x, %w {transpose_a = false, transpose_b = false,
                            label = "first"} : (!x, !x) -> !x
  %1 = graph.silu %0 {label = "act"} : (!x) -> !x
  %2 = graph.matmul %1, %w {transpose_a = false, transpose_b = false,
                            label = "second"} : (!x, !x) -> !x
  return %2 : !x
}

// -----

!q = tensor<1x4x128x64xf32>

// CHECK-LABEL: @attention_matmul(
// CHECK: graph.fused "Attention"
// CHECK: graph.fused "Matmul"
// expected-remark@below {{not fused (vertical): attn, product: two anchors, attention and matmul, do not share a kernel}}
func.func @attention_matmul(%q: !q, %k: !q, %v: !q, %w: tensor<64x64xf32>) -> !q {
  %0 = graph.attention %q, %k, %v
      {causal = "none", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64,
       label = "attn"} : (!q, !q, !q) -> !q
  %1 = graph.matmul %0, %w {transpose_a = false, transpose_b = false,
                            label = "product"} : (!q, tensor<64x64xf32>) -> !q
  return %1 : !q
}

// -----

// The sum waits for the product, which needs the row chain before it: joining
// the two row chains would need the product inside.
!x = tensor<128x128xf32>

// CHECK-LABEL: @cycle(
// CHECK: graph.fused "RowChain"
// CHECK: graph.fused "Matmul"
// expected-remark@below {{soft, product: its operand comes from 'graph.reduce_max', which is not computed element by element}}
// expected-remark@below {{product, again: 'graph.reduce_max' cannot join the kernel of 'graph.matmul'}}
// expected-remark@below {{product, again, sum: 'graph.reduce_max' cannot join the kernel of 'graph.matmul'}}
// expected-remark@below {{soft, again, sum: another kernel between them needs the one and feeds the other}}
func.func @cycle(%x: !x, %w: !x) -> !x {
  %0 = graph.softmax %x {axis = 1 : i64, label = "soft"} : (!x) -> !x
  %1 = graph.matmul %0, %w {transpose_a = false, transpose_b = false,
                            label = "product"} : (!x, !x) -> !x
  %2 = graph.softmax %1 {axis = 1 : i64, label = "again"} : (!x) -> !x
  %3 = graph.add %2, %0 {label = "sum"} : (!x, !x) -> !x
  return %3 : !x
}

// -----

!q = tensor<1x4x128x64xf32>

// CHECK-LABEL: @rope_on_keys(
// CHECK: graph.fused "RowChain"
// CHECK: graph.fused "Attention"
// expected-remark@below {{not fused (vertical): rope, attn: 'rope' on k would be recomputed for every block of queries}}
func.func @rope_on_keys(%q: !q, %k: !q, %v: !q, %c: tensor<128x32xf32>,
                        %s: tensor<128x32xf32>) -> !q {
  %0 = graph.rope %k, %c, %s {pairing = "half", label = "rope"}
      : (!q, tensor<128x32xf32>, tensor<128x32xf32>) -> !q
  %1 = graph.attention %q, %0, %v
      {causal = "none", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64,
       label = "attn"} : (!q, !q, !q) -> !q
  return %1 : !q
}

// -----

// With few queries there is one block and nothing to repeat.
!q = tensor<1x4x1x64xf32>
!k = tensor<1x4x128x64xf32>

// CHECK-LABEL: @rope_on_keys_while_decoding(
// CHECK: graph.fused "AttentionDecode"
// CHECK-NOT: graph.fused
// CHECK: return
func.func @rope_on_keys_while_decoding(%q: !q, %k: !k, %v: !k,
    %c: tensor<128x32xf32>, %s: tensor<128x32xf32>) -> !q {
  %0 = graph.rope %k, %c, %s {pairing = "half", label = "rope"}
      : (!k, tensor<128x32xf32>, tensor<128x32xf32>) -> !k
  %1 = graph.attention %q, %0, %v
      {causal = "none", layout = "bhsd", lse = false, roles = "",
       scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64,
       label = "attn"} : (!q, !k, !k) -> !q
  return %1 : !q
}

// -----

!x = tensor<64x32xf32>

// CHECK-LABEL: @other_rows(
// CHECK-COUNT-2: graph.fused "RowChain"
// CHECK-NOT: graph.fused
// CHECK: return
// expected-remark@below {{its reductions have different rows: [64] and [32]}}
func.func @other_rows(%x: !x) -> !x {
  %0 = graph.softmax %x {axis = 1 : i64, label = "along"} : (!x) -> !x
  %1 = graph.softmax %0 {axis = 0 : i64, label = "across"} : (!x) -> !x
  return %1 : !x
}
