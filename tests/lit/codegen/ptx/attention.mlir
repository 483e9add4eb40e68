// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit asm --pin 'Attention{tileM=64,tileN=64,warpsM=4,stages=2}' -o - | tee %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=STEP < %t
// Causal attention: scores, softmax and output stay in registers. The softmax
// folds within quads, its exponentials are the hardware's, and the weights go
// from accumulators to operands by packing pairs: nothing is stored to shared
// memory between the two products, and no N x N buffer exists.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: .visible .entry
// CHECK-DAG: max.NaN.f32
// CHECK-DAG: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1
// CHECK-DAG: ex2.approx.ftz.f32
// CHECK-DAG: cvt.rn.f16x2.f32
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: .local

// In the loop the next step's rows are counted on from one to the next: offsets
// of all of them, prepared in front, would hold two registers each. The output
// is multiplied in a branch that a warp takes as one.
// STEP: cp.async.wait_group
// STEP: mov.b64 %[[DOWN:rd[0-9]+]], %rd{{[0-9]+}};
// STEP: cp.async.cg
// STEP: add.s64 %{{rd[0-9]+}}, {{(%rd[0-9]+, )?}}%[[DOWN]]{{[,;]}}
// STEP: cp.async.cg
// STEP: vote.sync.any.pred %[[ANY:p[0-9]+]]
// STEP: @%{{p[0-9]+}} bra
// STEP-NEXT: mul.rn.f32
!t = tensor<1x4x256x64xf16>
func.func @main(%q: !t {graph.name = "q"}, %k: !t {graph.name = "k"}, %v: !t {graph.name = "v"}) -> (!t {graph.name = "o"}) {
  %0 = graph.attention %q, %k, %v {causal = "bottom_right", layout = "bhsd", lse = false, roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (!t, !t, !t) -> !t
  return %0 : !t
}
