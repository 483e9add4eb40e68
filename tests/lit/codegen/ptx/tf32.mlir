// REQUIRES: tool-azulejo
// RUN: split-file %s %t
// RUN: env AZULEJO_CACHE=off azulejo compile %t/product.mlir --device a100 --emit asm --pin 'Matmul{tileM=128,tileN=64,tileK=32,warpsM=2,warpsN=2,stages=2}' -o - | FileCheck %s --check-prefixes=PRODUCT,SM80
// RUN: env AZULEJO_CACHE=off azulejo compile %t/product.mlir --device h200 --emit asm --pin 'Matmul{tileM=128,tileN=64,tileK=32,warpsM=2,warpsN=2,stages=2}' -o - | FileCheck %s --check-prefixes=PRODUCT,SM90
// RUN: env AZULEJO_CACHE=off azulejo compile %t/product.mlir --device rtx5090 --emit asm --pin 'Matmul{tileM=128,tileN=64,tileK=32,warpsM=2,warpsN=2,stages=2}' -o - | FileCheck %s --check-prefixes=PRODUCT,SM120
// RUN: env AZULEJO_CACHE=off azulejo compile %t/product.mlir --device h200 --emit asm --pin 'Matmul{tileM=128,tileN=64,tileK=32,warpsM=2,warpsN=2,stages=2}' -o - | FileCheck %s --check-prefix=MMA
// RUN: env AZULEJO_CACHE=off azulejo compile %t/product.mlir --device h200 --emit asm --pin 'Matmul{tileM=128,tileN=64,tileK=32,warpsM=2,warpsN=2,stages=2}' -o - | FileCheck %s --check-prefix=ROUND
// RUN: env AZULEJO_CACHE=off azulejo compile %t/turned.mlir --device h200 --emit asm --pin 'Matmul{tileM=128,tileN=64,tileK=32,warpsM=2,warpsN=2,stages=2}' -o - | FileCheck %s --check-prefix=TURNED
// RUN: env AZULEJO_CACHE=off azulejo compile %t/attention.mlir --device h200 --emit asm --pin 'Attention{tileM=64,tileN=64,warpsM=4,stages=2}' -o - | FileCheck %s --check-prefix=ATTENTION
// RUN: env AZULEJO_CACHE=off azulejo compile %t/exact.mlir --device h200 --emit asm -o - | FileCheck %s --check-prefix=EXACT
// Products of f32 that may be rounded to tf32 run on matrix units: a warp's 64 x
// 32 x 32 are 4 x 4 x 4 instructions, and each register of its operands is
// rounded once, 4 x 4 x 4 of a and 4 x 2 x 4 of b.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// SM80: .target sm_80
// SM90: .target sm_90a
// SM120: .target sm_120a
// PRODUCT-DAG: cp.async.cg.shared.global
// PRODUCT-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PRODUCT-DAG: cvt.rna.tf32.f32
// PRODUCT-DAG: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// PRODUCT-NOT: ldmatrix.sync.aligned.m8n8.x4.trans
// PRODUCT-NOT: .local
// MMA-COUNT-64: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// MMA-NOT: mma.sync
// ROUND-COUNT-96: cvt.rna.tf32.f32
// ROUND-NOT: cvt.rna

// Where both operands are turned, the order of contracted elements is the one
// that shared memory serves best: no word is exchanged for another.
// TURNED-NOT: ldmatrix
// TURNED: cvt.rna.tf32.f32
// TURNED-NOT: selp.f32
// TURNED-NOT: ldmatrix
// TURNED: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32

// Weights go from accumulators to operands as they lie, and are rounded.
// ATTENTION-DAG: ex2.approx.ftz.f32
// ATTENTION-DAG: cvt.rna.tf32.f32
// ATTENTION-DAG: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// ATTENTION-NOT: .local

// Without the precision nothing is rounded.
// EXACT-NOT: tf32
// EXACT: fma.rn.f32
// EXACT-NOT: tf32
//--- product.mlir
!t = tensor<512x512xf32>
func.func @main(%a: !t {graph.name = "a"}, %b: !t {graph.name = "b"}) -> (!t {graph.name = "c"}) {
  %0 = graph.matmul %a, %b {precision = "tf32", transpose_a = false, transpose_b = false} : (!t, !t) -> !t
  return %0 : !t
}
//--- turned.mlir
!t = tensor<512x512xf32>
func.func @main(%a: !t {graph.name = "a"}, %b: !t {graph.name = "b"}) -> (!t {graph.name = "c"}) {
  %0 = graph.matmul %a, %b {precision = "tf32", transpose_a = true, transpose_b = false} : (!t, !t) -> !t
  return %0 : !t
}
//--- attention.mlir
!t = tensor<1x4x256x64xf32>
func.func @main(%q: !t {graph.name = "q"}, %k: !t {graph.name = "k"}, %v: !t {graph.name = "v"}) -> (!t {graph.name = "o"}) {
  %0 = graph.attention %q, %k, %v {causal = "bottom_right", layout = "bhsd", lse = false, precision = "tf32", roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (!t, !t, !t) -> !t
  return %0 : !t
}
//--- exact.mlir
!t = tensor<512x512xf32>
func.func @main(%a: !t {graph.name = "a"}, %b: !t {graph.name = "b"}) -> (!t {graph.name = "c"}) {
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false} : (!t, !t) -> !t
  return %0 : !t
}
