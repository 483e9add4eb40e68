// REQUIRES: tool-azulejo
// RUN: split-file %s %t
// RUN: env AZULEJO_CACHE=off azulejo compile %t/product.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,cluster=1,stages=4,dynamic=1}' | FileCheck %t/product.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/product.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=64,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,pingpong=1,cluster=1,stages=4,dynamic=1}' | FileCheck %t/product.mlir --check-prefix TURNS
// RUN: env AZULEJO_CACHE=off azulejo compile %t/attention.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Attention{tileM=128,tileN=64,consumers=2,stages=2,stay=1,dynamic=1}' | FileCheck %t/attention.mlir
// RUN: not env AZULEJO_CACHE=off azulejo compile %t/attention.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Attention{tileM=128,tileN=64,consumers=2,stages=2,stay=0,dynamic=1}' 2>&1 | FileCheck %s --check-prefix ALONE
// Items from a counter in memory: one thread asks for them, the others learn
// the number from a ring. A block that does not stay has nothing to ask for.
// ALONE: a counter deals out items to blocks that stay
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

//--- product.mlir
module {
  func.func @main(%a: tensor<1000x192xbf16> {graph.name = "a"}, %b: tensor<192x960xbf16> {graph.name = "b"}) -> (tensor<1000x960xbf16> {graph.name = "c"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<1000x192xbf16>, tensor<192x960xbf16>) -> tensor<1000x960xbf16>
    return %0 : tensor<1000x960xbf16>
  }
}
// CHECK: kernel.func {{.*}}takes_counter
// CHECK-NEXT: ^bb0({{.*}}, %[[COUNTER:.*]]: i64):
// An entry is read by the warps of both groups and their storing threads.
// CHECK: %[[FULL:.*]] = kernel.phases_alloc arrivals(1) {{.*}}: <2>
// CHECK: %[[EMPTY:.*]] = kernel.phases_alloc arrivals(10) {{.*}}: <2>
// CHECK: %[[NUMBERS:.*]] = kernel.shared_alloc {{.*}}: <i64, 2>
// CHECK: kernel.set_registers 40
// The copying thread begins with the block's own item, tells of each before it
// copies for it, and asks for the next one ahead of the copies, since items are
// equally long.
// CHECK: %[[BLOCK:.*]] = kernel.block_id
// CHECK: %[[BLOCKS:.*]] = kernel.grid_size
// CHECK: %[[LEFT:.*]]:6 = scf.while (%{{.*}} = %[[BLOCK]],
// CHECK: kernel.phase_wait %[[EMPTY]]
// CHECK-NEXT: kernel.shared_store %[[NUMBERS]]
// CHECK-NEXT: kernel.phase_arrive %[[FULL]]
// CHECK: %[[N:.*]] = kernel.count %[[COUNTER]]
// CHECK: kernel.bulk_load
// CHECK: kernel.bulk_load
// CHECK: arith.addi %[[BLOCKS]], %[[N]]
// CHECK: scf.yield
// What it got last is no item, and goes to all.
// CHECK: kernel.phase_wait %[[EMPTY]]
// CHECK-NEXT: kernel.shared_store %[[NUMBERS]][{{.*}}], %[[LEFT]]#0
// CHECK-NEXT: kernel.phase_arrive %[[FULL]]
// A storing thread reads for itself.
// CHECK: scf.while
// CHECK-NEXT: kernel.phase_wait %[[FULL]]
// CHECK-NEXT: kernel.shared_load %[[NUMBERS]]
// CHECK-NEXT: kernel.phase_arrive %[[EMPTY]]
// CHECK: scf.condition
// CHECK: kernel.bulk_store
// CHECK: kernel.set_registers 232 more
// A warp reads as one before it says that it has.
// CHECK: scf.while
// CHECK-NEXT: kernel.phase_wait %[[FULL]]
// CHECK-NEXT: %[[READ:.*]] = kernel.shared_load %[[NUMBERS]]
// CHECK: kernel.uniform
// CHECK: kernel.uniform
// CHECK: kernel.phase_arrive %[[EMPTY]]
// CHECK: scf.condition
// CHECK: kernel.group_mma

// Two entries for each group, read by its own warps and storing thread.
// TURNS: kernel.phases_alloc arrivals(1) {{.*}}: <4>
// TURNS: %[[ITEMS:.*]] = kernel.phases_alloc arrivals(5) {{.*}}: <4>
// TURNS: kernel.set_registers 40
// An end for each group.
// TURNS: kernel.count
// TURNS: scf.yield
// TURNS: kernel.shared_store {{.*}}[%[[LAST:.*]]#1]
// TURNS: kernel.shared_store
// TURNS-NOT: kernel.shared_store
// TURNS: kernel.set_registers 232 more
// TURNS: kernel.shared_load
// TURNS-NOT: kernel.count

//--- attention.mlir
module {
  func.func @main(%q: tensor<1x2x256x64xbf16> {graph.name = "q"}, %k: tensor<1x2x256x64xbf16> {graph.name = "k"}, %v: tensor<1x2x256x64xbf16> {graph.name = "v"}) -> (tensor<1x2x256x64xbf16> {graph.name = "o"}) {
    %0 = graph.attention %q, %k, %v {causal = "bottom_right", label = "att", layout = "bhsd", lse = false, roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16>) -> tensor<1x2x256x64xbf16>
    return %0 : tensor<1x2x256x64xbf16>
  }
}
// CHECK: kernel.func {{.*}}most_blocks = 132 {{.*}}takes_counter
// CHECK: kernel.phases_alloc arrivals(8) {{.*}}: <2>
// CHECK: kernel.shared_alloc {{.*}}: <i64, 2>
// CHECK: kernel.set_registers 40
// CHECK: scf.while
// CHECK: kernel.shared_store
// The longest first: a head's last queries. The next one behind the copies.
// CHECK-NOT: kernel.count
// CHECK: arith.subi %{{.*}}
// CHECK: kernel.bulk_load
// CHECK: kernel.count
// CHECK: kernel.shared_store
// CHECK: kernel.set_registers 232 more
// CHECK: scf.while
// CHECK: kernel.shared_load
// CHECK: kernel.group_mma
