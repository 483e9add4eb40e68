// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device a100 --emit kernel --pin 'Matmul{tileM=64,tileN=64,tileK=64,warpsM=2,warpsN=2,stages=3}' -o - | FileCheck %s
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device a100 --emit kernel --pin 'Matmul{tileM=64,tileN=64,tileK=64,warpsM=2,warpsN=2,stages=2}' -o - | FileCheck %s --check-prefix=TWO
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device a100 --emit asm --pin 'Matmul{tileM=64,tileN=64,tileK=64,warpsM=2,warpsN=2,stages=3}' -o - | FileCheck %s --check-prefix=PTX
// A step of 64 contracted elements has four slices of 16, each of which has 4
// loads and 8 products for a warp's 32 x 32. Each slice's operands are loaded
// during the slice before; those of a step's first slice under the last slice of
// the step before, behind the barrier, or the matrix units would stand still
// while the block waits. The copies of a step (8 per thread) are spread over the
// slices before its last; with two stages, where they are waited for in the same
// step, over its first half.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: kernel.copy_wait 1
// CHECK-NEXT: kernel.barrier
// CHECK-COUNT-4: kernel.load_matrix
// CHECK-NOT: kernel.load_matrix
// CHECK: scf.for
// CHECK-NOT: kernel.copy_async
// CHECK-NOT: kernel.barrier
// CHECK-COUNT-4: kernel.load_matrix
// CHECK: scf.if %[[EXISTS:.*]] {
// CHECK-COUNT-2: kernel.copy_async
// CHECK-NOT: kernel.copy_async
// CHECK-COUNT-4: kernel.load_matrix
// CHECK: scf.if %[[EXISTS]] {
// CHECK-COUNT-3: kernel.copy_async
// CHECK-NOT: kernel.copy_async
// CHECK-COUNT-4: kernel.load_matrix
// CHECK: scf.if %[[EXISTS]] {
// CHECK-COUNT-3: kernel.copy_async
// CHECK-NOT: kernel.copy_async
// CHECK: kernel.copy_commit
// CHECK-COUNT-4: kernel.mma
// CHECK-NOT: kernel.mma
// CHECK: kernel.copy_wait 1
// CHECK-NEXT: kernel.barrier
// CHECK-NOT: kernel.mma
// CHECK-COUNT-4: kernel.load_matrix
// CHECK-COUNT-4: kernel.mma
// CHECK-NOT: kernel.mma
// CHECK: scf.yield
// CHECK: kernel.copy_wait 0
// CHECK-NEXT: kernel.barrier

// TWO: scf.for
// TWO: scf.if
// TWO-COUNT-4: kernel.copy_async
// TWO-NOT: kernel.copy_async
// TWO: scf.if
// TWO-COUNT-4: kernel.copy_async
// TWO-NOT: kernel.copy_async
// TWO: kernel.copy_commit
// TWO-NOT: kernel.copy_wait
// TWO-COUNT-8: kernel.load_matrix
// TWO: kernel.copy_wait 0
// TWO-NEXT: kernel.barrier

// The barrier is in the middle of the loop's products.
// PTX: bar{{(rier)?}}.
// PTX: {{^}}$L__BB
// PTX: mma.sync
// PTX: cp.async.wait_group 1
// PTX-NEXT: bar{{(rier)?}}.{{(cta\.)?}}sync
// PTX: ldmatrix
// PTX: mma.sync
// PTX: bra
// PTX: cp.async.wait_group 0
func.func @main(%a: tensor<128x256xbf16> {graph.name = "a"},
                %b: tensor<256x256xbf16> {graph.name = "b"})
    -> (tensor<128x256xbf16> {graph.name = "y"}) {
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = true}
      : (tensor<128x256xbf16>, tensor<256x256xbf16>) -> tensor<128x256xbf16>
  return %0 : tensor<128x256xbf16>
}
