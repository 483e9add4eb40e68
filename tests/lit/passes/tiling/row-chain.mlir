// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device cpu-avx2 --emit tiled -o - | FileCheck %s
// A residual and a norm over rows that are longer than one chunk: the sum of
// squares is taken chunk by chunk in one pass, which also writes the sum of both
// inputs; the norm computes that sum anew instead of reading it back.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: tile.kernel {{.*}}family = "RowChain", gridExtents = ["S"], gridTiles = array<i64: [[ROWS:[0-9]+]]>
// CHECK-SAME: laneChunk=[[CHUNK:[0-9]+]]
// CHECK-SAME: symbols = ["S"]
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c[[ROWS]]
// CHECK: %[[INIT:.*]] = tile.fill %{{.*}} : f32 -> tensor<[[ROWS]]xf32>
// CHECK: %[[SQUARES:.*]] = scf.for %[[AT:.*]] = %c0 to %c20000 step %c[[CHUNK]] iter_args(%[[SUM:.*]] = %[[INIT]]) -> (tensor<[[ROWS]]xf32>)
// CHECK: tile.map at(%[[ROW]], %[[AT]]) to(%{{.*}}, %c20000) inits(%[[SUM]] : tensor<[[ROWS]]xf32>) attributes {kinds = ["sum"], pads = [0.000000e+00], shape = array<i64: [[ROWS]], [[CHUNK]]>}
// CHECK-COUNT-2: tile.read
// CHECK: %[[BOTH:.*]] = arith.addf
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[BOTH]], %[[BOTH]]
// CHECK-NEXT: tile.write %[[BOTH]], %arg3[
// CHECK-NEXT: tile.yield %[[SQUARE]]
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %c0 to %c20000 step %c[[CHUNK]] {
// CHECK-NEXT: tile.map {{.*}} ins(%[[SQUARES]] : tensor<[[ROWS]]xf32>)
// CHECK-COUNT-2: tile.read
// CHECK: math.rsqrt
// CHECK: tile.read %arg2
// CHECK: tile.write %{{.*}}, %arg4[
// CHECK-NOT: tile.write
// CHECK-NOT: scf.for
!x = tensor<?x20000xf32, #graph.dims<"S", 20000>>
func.func @main(%x: !x {graph.name = "x"}, %r: !x {graph.name = "r"},
                %w: tensor<20000xf32> {graph.name = "w"})
    -> (!x {graph.name = "h"}, !x {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"S", 1, 32768>]} {
  %0 = graph.add %x, %r {label = "sum"} : (!x, !x) -> !x
  %1 = graph.rms_norm %0, %w {eps = 1.0e-6 : f64, label = "norm"}
      : (!x, tensor<20000xf32>) -> !x
  return %0, %1 : !x, !x
}
