// REQUIRES: tool-azulejo
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device cpu-avx2 --emit tiled --pin 'SmallM{splits=4,tileM=32,tileN=64,tileK=128}' -o - | FileCheck %s
// RUN: env AZULEJO_CACHE=off azulejo compile %s --device cpu-avx2 --emit tiled --pin 'SmallM{splits=1,tileM=32,tileN=64,tileK=128}' -o - | FileCheck %s --check-prefix=WHOLE
// RUN: env AZULEJO_CACHE=off azulejo explain %s --device h200 --dim B=1 --format csv | FileCheck %s --check-prefix=EXPLAIN
// At most 32 rows of activations against weights stored as integers with a
// scale per column. Four items take a quarter of the 900 contracted elements
// each, in whole steps of 128, and leave their sums for a second kernel, which
// adds them in order, scales and rounds.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: tile.kernel {{.*}}family = "SmallM", gridExtents = ["1", "B", "96", "4"], gridTiles = array<i64: 1, 32, 64, 1>
// CHECK: ^bb0(%[[W:[^:]*]]: !tile.view<i8, 2>, %[[X:[^:]*]]: !tile.view<bf16, 2>, %[[S:[^:]*]]: !tile.view<bf16, 1>, %[[SUMS:[^:]*]]: !tile.view<f32, 3>, %{{[^:]*}}: index):
// CHECK: %[[PART:.*]] = tile.program_id 3
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %c256
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %c256
// CHECK: %[[LAST:.*]] = arith.minsi %[[END]], %c900
// CHECK: scf.for %[[AT:.*]] = %[[FIRST]] to %[[LAST]] step %c128 iter_args
// CHECK: tile.read %[[X]]
// CHECK: tile.map at(%[[AT]], %{{.*}}) to(%c900, %c96)
// CHECK: tile.read %[[W]]
// CHECK-NEXT: arith.sitofp
// CHECK: tile.dot
// CHECK-NOT: tile.read %[[S]]
// CHECK: tile.write %{{.*}}, %[[SUMS]][%[[PART]],

// CHECK: tile.kernel {{.*}}gridExtents = ["B", "96"], gridTiles = array<i64: 1, 256>
// CHECK: ^bb0({{.*}}, %[[SCALES:[^:]*]]: !tile.view<bf16, 1>, %[[PARTS:[^:]*]]: !tile.view<f32, 3>, %[[Y:[^:]*]]: !tile.view<bf16, 2>, %{{[^:]*}}: index):
// CHECK: tile.map {{.*}} shape = array<i64: 1, 256>
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT: %[[P0:.*]] = tile.read %[[PARTS]][%c0, %[[I]], %[[J]]]
// CHECK-NEXT: %[[P1:.*]] = tile.read %[[PARTS]][%c1, %[[I]], %[[J]]]
// CHECK-NEXT: %[[S1:.*]] = arith.addf %[[P0]], %[[P1]]
// CHECK-NEXT: %[[P2:.*]] = tile.read %[[PARTS]][%c2, %[[I]], %[[J]]]
// CHECK-NEXT: %[[S2:.*]] = arith.addf %[[S1]], %[[P2]]
// CHECK-NEXT: %[[P3:.*]] = tile.read %[[PARTS]][%c3, %[[I]], %[[J]]]
// CHECK-NEXT: %[[S3:.*]] = arith.addf %[[S2]], %[[P3]]
// CHECK-NEXT: %[[SCALE:.*]] = tile.read %[[SCALES]][%[[J]]]
// CHECK-NEXT: arith.mulf %[[S3]], %[[SCALE]]
// CHECK: tile.write %{{.*}}, %[[Y]]

// WHOLE: tile.kernel {{.*}}gridExtents = ["1", "B", "96"], gridTiles = array<i64: 1, 32, 64>
// WHOLE: scf.for %{{.*}} = %c0 to %c900 step %c128
// WHOLE-NOT: tile.kernel

// An integer weight is one byte: 900 * 96, and x, scales and result of 2 bytes.
// EXPLAIN: matmul_0,SmallM,"cast, matmul, mul",{{[0-9]+}},{{[0-9]+}},88584,
!x = tensor<?x900xbf16, #graph.dims<"B", 900>>
!y = tensor<?x96xbf16, #graph.dims<"B", 96>>
func.func @main(%x: !x {graph.name = "x"},
                %w: tensor<900x96xi8> {graph.name = "w"},
                %s: tensor<96xbf16> {graph.name = "s"})
    -> (!y {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"B", 1, 32>]} {
  %0 = graph.cast %w {dtype = bf16} : (tensor<900x96xi8>) -> tensor<900x96xbf16>
  %1 = graph.matmul %x, %0 {transpose_a = false, transpose_b = false}
      : (!x, tensor<900x96xbf16>) -> !y
  %2 = graph.mul %1, %s : (!y, tensor<96xbf16>) -> !y
  return %2 : !y
}
