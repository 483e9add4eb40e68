// RUN: sed -e 's/FLAG/1/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s
// RUN: sed -e 's/FLAG/0/' %s | azulejo-opt "-azulejo-lower-tile-to-host=target=cpu-avx512" -canonicalize -cse | FileCheck %s --check-prefix=CACHED
// With streamStores, whole vectors bypass the cache where every row of the
// output starts on a cache line; the same kernel without is kept for the rest.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c4_i64
// CHECK: %[[BOTH:.*]] = arith.ori %[[ADDRESS]], %[[BYTES]]
// CHECK: %[[REST:.*]] = arith.andi %[[BOTH]], %c63_i64
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0_i64
// CHECK: scf.if %[[ALIGNED]] {
// CHECK: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
// A masked vector cannot stream.
// CHECK: llvm.intr.masked.store
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>
// CHECK: llvm.intr.masked.store
// CHECK-NOT: nontemporal
// CACHED-NOT: nontemporal
// CACHED-NOT: scf.if
// CACHED: llvm.return
tile.kernel @negate attributes {
    symbols = ["M", "N"], gridExtents = ["M"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{streamStores=FLAG}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %m: index, %n: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %id = tile.program_id 0
  %row = arith.muli %id, %c4 : index
  tile.map at(%row, %c0) to(%m, %n)
      attributes {shape = array<i64: 4, 4096>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    %e = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %g = arith.negf %e : f32
    tile.write %g, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}
