// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=64,tileN=96,tileK=64,warpsM=1,warpsN=1,consumers=2,pingpong=1,cluster=1,stages=4,rasterGroup=1}' | FileCheck %s
// Groups take whole items in turns: each releases the stages of its items alone
// and leaves those of the others out. The bias is read where it is used, since
// the epilogue runs beside the other group's products.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

module {
  func.func @main(%a: tensor<1000x192xbf16> {graph.name = "a"}, %b: tensor<192x960xbf16> {graph.name = "b"}, %r: tensor<960xbf16> {graph.name = "r"}) -> (tensor<1000x960xbf16> {graph.name = "c"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<1000x192xbf16>, tensor<192x960xbf16>) -> tensor<1000x960xbf16>
    %1 = graph.add %0, %r {label = "bias"} : (tensor<1000x960xbf16>, tensor<960xbf16>) -> tensor<1000x960xbf16>
    return %1 : tensor<1000x960xbf16>
  }
}

// CHECK: kernel.phases_alloc arrivals(1)
// Empty: the four warps of one group, and so it is with the turns.
// CHECK: %[[EMPTY:.*]] = kernel.phases_alloc arrivals(4)
// CHECK: %[[TURNS:.*]] = kernel.phases_alloc arrivals(4) {{.*}}: <2>
// CHECK: kernel.phases_init %[[TURNS]]
// CHECK: %[[GROUP:.*]] = kernel.uniform
// CHECK: kernel.set_registers 40
// CHECK: kernel.phase_wait %[[EMPTY]]
// CHECK: kernel.set_registers 232 more
// Every other item, from the group's own on.
// CHECK: %[[STRIDE:.*]] = arith.muli %{{.*}}, %c2_i64
// CHECK: scf.for {{.*}} step %[[STRIDE]]
// CHECK: kernel.phase_wait %[[TURNS]][%[[GROUP]]
// CHECK: scf.for
// CHECK: kernel.group_mma
// CHECK: kernel.group_wait %{{.*}} pending 1
// The other group may wait for its stages when nobody is before it there.
// CHECK: kernel.phase_arrive %[[TURNS]]
// CHECK: kernel.group_wait %{{.*}} pending 0(
// CHECK: kernel.phase_arrive %[[EMPTY]]
// CHECK: kernel.opaque
// CHECK: kernel.load
