// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device a100 --emit asm --pin 'SmallM{splits=2,tileM=16,tileN=64,tileK=128,warpsN=2,stages=4,stageReads=1}' -o - | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit asm --pin 'SmallM{splits=2,tileM=16,tileN=64,tileK=128,warpsN=2,stages=4,stageReads=1}' -o - | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit asm --pin 'SmallM{splits=2,tileM=16,tileN=64,tileK=128,warpsN=2,stages=4,stageReads=1}' -o - | FileCheck %s --check-prefix=COUNT
// One row against integer weights, stored a row per column: both warps have all
// of the 16 rows of an instruction and half of the columns each, so that each
// weight is read from shared memory once. The integers come by asynchronous
// copies, 16 to a chunk, three steps ahead; a thread turns its own chunks into
// bf16 before the step's barrier, without reading global memory. The second
// kernel reads four neighbours of both parts in one access each.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// SM80: .target sm_80
// SM90: .target sm_90a
// CHECK: .visible .entry
// CHECK: .reqntid 64
// CHECK-NOT: .local
// CHECK: cp.async.cg.shared.global
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: ldmatrix{{.*}}trans
// CHECK: cp.async.wait_group {{.*}}2;
// CHECK-NOT: ld.global
// CHECK: ld.shared.v4.b32
// CHECK-NOT: ld.global
// CHECK: st.shared.v4.b32
// CHECK-NOT: ld.global
// CHECK: bar.sync
// CHECK: st.global.v4.b32
// CHECK: .visible .entry
// CHECK: .reqntid 64
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-COUNT-4: add.rn.f32
// COUNT-COUNT-32: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// COUNT-NOT: mma.sync
!x = tensor<1x4096xbf16>
!y = tensor<1x4096xbf16>
func.func @main(%x: !x {graph.name = "x"},
                %w: tensor<4096x4096xi8> {graph.name = "w"},
                %s: tensor<4096xbf16> {graph.name = "s"})
    -> (!y {graph.name = "y"}) {
  %0 = graph.cast %w {dtype = bf16} : (tensor<4096x4096xi8>) -> tensor<4096x4096xbf16>
  %1 = graph.matmul %x, %0 {transpose_a = false, transpose_b = true}
      : (!x, tensor<4096x4096xbf16>) -> !y
  %2 = graph.mul %1, %s : (!y, tensor<4096xbf16>) -> !y
  return %2 : !y
}
