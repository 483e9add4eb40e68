// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device a100 --emit asm --pin 'Matmul{tileM=64,tileN=64,tileK=64,warpsM=2,warpsN=2,stages=3}' -o - | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit asm --pin 'Matmul{tileM=64,tileN=64,tileK=64,warpsM=2,warpsN=2,stages=3}' -o - | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit asm --pin 'Matmul{tileM=64,tileN=64,tileK=64,warpsM=2,warpsN=2,stages=3}' -o - | FileCheck %s --check-prefix=COUNT
// A product of bf16: a ring of three tiles filled by asynchronous copies, one
// barrier per step, operands by ldmatrix (the right one transposed, because its
// columns lie side by side), 4 x 2 x 4 instructions per warp and step, and an
// epilogue of wide stores.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// SM80: .target sm_80
// SM90: .target sm_90a
// CHECK: .reqntid 128
// CHECK-DAG: cp.async.cg.shared.global
// CHECK-DAG: cp.async.wait_group 1
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: st.shared.v2
// CHECK-DAG: ld.shared.v4
// CHECK-DAG: st.global.v4
// COUNT-COUNT-32: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// COUNT-NOT: mma.sync
!t = tensor<512x512xbf16>
func.func @main(%a: !t {graph.name = "a"}, %b: !t {graph.name = "b"}) -> (!t {graph.name = "c"}) {
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false} : (!t, !t) -> !t
  return %0 : !t
}
