// REQUIRES: tool-azulejo
// RUN: split-file %s %t
// RUN: env AZULEJO_CACHE=off azulejo compile %t/residual.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/residual.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/heads.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/heads.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/odd.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/odd.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/wider.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/wider.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/again.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/again.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/mixed.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/mixed.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/ragged.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/ragged.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/whole.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=96,tileK=64,warpsM=1,warpsN=1,consumers=2,stages=4,rasterGroup=1}' | FileCheck %t/whole.mlir
// RUN: not env AZULEJO_CACHE=off azulejo compile %t/residual.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Matmul{tileM=128,tileN=128,tileK=64,consumers=2,stages=1}' 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: steps overlap, which takes two stages [compile.pin]
// Which results of products by warps with roles are stored in bulk.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

//--- residual.mlir
// A tensor of the result's shape is copied to the tile that the result takes.
module {
  func.func @main(%a: tensor<256x64xbf16> {graph.name = "a"}, %b: tensor<64x128xbf16> {graph.name = "b"}, %r: tensor<256x128xbf16> {graph.name = "r"}) -> (tensor<256x128xbf16> {graph.name = "y"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<256x64xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %1 = graph.add %0, %r {label = "residual"} : (tensor<256x128xbf16>, tensor<256x128xbf16>) -> tensor<256x128xbf16>
    return %1 : tensor<256x128xbf16>
  }
}
// CHECK: tensor_maps = [#kernel.bulk_map<view 0, {{.*}}>, #kernel.bulk_map<view 1, {{.*}}>, #kernel.bulk_map<view 3, {{.*}}box[64, 64]{{.*}}>, #kernel.bulk_map<view 2, {{.*}}box[64, 64]{{.*}}>]
// CHECK: %[[TILE:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 4, 64, 64>
// CHECK-NEXT: %[[READY:.*]] = kernel.phases_alloc arrivals(1)
// CHECK: kernel.bulk_wait 0
// CHECK: kernel.phase_expect %[[READY]][%{{.*}}] bytes(8192)
// CHECK: kernel.bulk_load %{{.*}}, %[[TILE]][%{{.*}}] signals %[[READY]]
// CHECK: kernel.bulk_store %{{.*}}, %[[TILE]]
// CHECK: kernel.phase_wait %[[READY]]
// CHECK: kernel.tile_load %[[TILE]]
// CHECK: kernel.tile_store %[[TILE]]
// CHECK-NOT: kernel.store

//--- heads.mlir
// Rows of the result are not neighbours along one axis of this tensor.
module {
  func.func @main(%a: tensor<2x128x64xbf16> {graph.name = "a"}, %b: tensor<64x128xbf16> {graph.name = "b"}) -> (tensor<2x2x128x64xbf16> {graph.name = "y"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<2x128x64xbf16>, tensor<64x128xbf16>) -> tensor<2x128x128xbf16>
    %1 = graph.reshape %0 {label = "split", shape = #graph.dims<2, 128, 2, 64>} : (tensor<2x128x128xbf16>) -> tensor<2x128x2x64xbf16>
    %2 = graph.transpose %1 {label = "heads", perm = array<i64: 0, 2, 1, 3>} : (tensor<2x128x2x64xbf16>) -> tensor<2x2x128x64xbf16>
    return %2 : tensor<2x2x128x64xbf16>
  }
}
// CHECK-NOT: kernel.bulk_store
// CHECK: kernel.shared_store
// CHECK: kernel.store bf16

//--- odd.mlir
// The end of a row lies within 16 bytes: a store in bulk would write behind it.
module {
  func.func @main(%a: tensor<?x64xbf16, #graph.dims<"S", 64>> {graph.name = "a"}, %b: tensor<?x64xbf16, #graph.dims<"N", 64>> {graph.name = "b"}) -> (tensor<?x?xbf16, #graph.dims<"S", "N">> {graph.name = "y"}) attributes {graph.dims = [#graph.dim<"S", 1, 4096>, #graph.dim<"N", 1, 4096>]} {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = true} : (tensor<?x64xbf16, #graph.dims<"S", 64>>, tensor<?x64xbf16, #graph.dims<"N", 64>>) -> tensor<?x?xbf16, #graph.dims<"S", "N">>
    return %0 : tensor<?x?xbf16, #graph.dims<"S", "N">>
  }
}
// CHECK-NOT: kernel.bulk_store
// CHECK: kernel.shared_store
// CHECK: kernel.store bf16

//--- wider.mlir
// f32 in tiles of 32 columns.
module {
  func.func @main(%a: tensor<256x64xbf16> {graph.name = "a"}, %b: tensor<64x128xbf16> {graph.name = "b"}, %c: tensor<128xf32> {graph.name = "c"}) -> (tensor<256x128xf32> {graph.name = "y"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<256x64xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %w = graph.cast %0 {dtype = f32, label = "wide"} : (tensor<256x128xbf16>) -> tensor<256x128xf32>
    %1 = graph.add %w, %c {label = "bias"} : (tensor<256x128xf32>, tensor<128xf32>) -> tensor<256x128xf32>
    return %1 : tensor<256x128xf32>
  }
}
// CHECK: tensor_maps = [{{.*}}, #kernel.bulk_map<view 3, {{.*}}box[32, 64]{{.*}}>]
// CHECK: kernel.load f32
// CHECK: kernel.tile_store %{{.*}} : <f32, 8, 64, 32>

//--- again.mlir
// Every sequence of the batch begins again with the first row of r.
module {
  func.func @main(%a: tensor<2x128x64xbf16> {graph.name = "a"}, %b: tensor<64x128xbf16> {graph.name = "b"}, %r: tensor<128x128xbf16> {graph.name = "r"}) -> (tensor<2x128x128xbf16> {graph.name = "y"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<2x128x64xbf16>, tensor<64x128xbf16>) -> tensor<2x128x128xbf16>
    %1 = graph.add %0, %r {label = "positions"} : (tensor<2x128x128xbf16>, tensor<128x128xbf16>) -> tensor<2x128x128xbf16>
    return %1 : tensor<2x128x128xbf16>
  }
}
// CHECK-NOT: bulk_map<view 2
// CHECK: kernel.load bf16

//--- mixed.mlir
// The tile of a result in one type does not hold what is read in another.
module {
  func.func @main(%a: tensor<256x64xbf16> {graph.name = "a"}, %b: tensor<64x128xbf16> {graph.name = "b"}, %r: tensor<256x128xf16> {graph.name = "r"}) -> (tensor<256x128xbf16> {graph.name = "y"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<256x64xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %1 = graph.add %0, %r {label = "sum"} : (tensor<256x128xbf16>, tensor<256x128xf16>) -> tensor<256x128xf32>
    %2 = graph.cast %1 {dtype = bf16, label = "narrow"} : (tensor<256x128xf32>) -> tensor<256x128xbf16>
    return %2 : tensor<256x128xbf16>
  }
}
// CHECK-NOT: bulk_map<view 2
// CHECK: kernel.load f16

//--- ragged.mlir
// A bias beyond the columns is that of the item's first column, without a
// condition, so that it can be under way.
module {
  func.func @main(%a: tensor<256x64xbf16> {graph.name = "a"}, %b: tensor<64x160xbf16> {graph.name = "b"}, %c: tensor<160xbf16> {graph.name = "c"}) -> (tensor<256x160xbf16> {graph.name = "y"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<256x64xbf16>, tensor<64x160xbf16>) -> tensor<256x160xbf16>
    %1 = graph.add %0, %c {label = "bias"} : (tensor<256x160xbf16>, tensor<160xbf16>) -> tensor<256x160xbf16>
    return %1 : tensor<256x160xbf16>
  }
}
// CHECK-NOT: kernel.load {{.*}}if
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK-NOT: kernel.load {{.*}}if
// CHECK: kernel.load bf16
// CHECK-NOT: kernel.load {{.*}}if

//--- whole.mlir
// Whole tiles of a width that is no power of two are known to be whole.
module {
  func.func @main(%a: tensor<256x64xbf16> {graph.name = "a"}, %b: tensor<64x192xbf16> {graph.name = "b"}, %c: tensor<192xbf16> {graph.name = "c"}) -> (tensor<256x192xbf16> {graph.name = "y"}) {
    %0 = graph.matmul %a, %b {label = "mm", transpose_a = false, transpose_b = false} : (tensor<256x64xbf16>, tensor<64x192xbf16>) -> tensor<256x192xbf16>
    %1 = graph.add %0, %c {label = "bias"} : (tensor<256x192xbf16>, tensor<192xbf16>) -> tensor<256x192xbf16>
    return %1 : tensor<256x192xbf16>
  }
}
// CHECK: kernel.load bf16
// CHECK-NOT: arith.select {{.*}} : i64
