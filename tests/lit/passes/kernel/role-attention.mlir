// REQUIRES: tool-azulejo
// RUN: split-file %s %t
// RUN: env AZULEJO_CACHE=off azulejo compile %t/causal.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Attention{tileM=128,tileN=64,consumers=2,stages=2}' | FileCheck %t/causal.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t/lengths.mlir --device h200 --emit kernel -o - \
// RUN:   --pin 'Attention{tileM=128,tileN=64,consumers=2,stages=2}' | FileCheck %t/lengths.mlir
// Attention by warps with roles: the products of one step are started before
// the softmax of the step, so that it runs under the output of the step before.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

//--- causal.mlir
module {
  func.func @main(%q: tensor<1x2x256x64xbf16> {graph.name = "q"}, %k: tensor<1x2x256x64xbf16> {graph.name = "k"}, %v: tensor<1x2x256x64xbf16> {graph.name = "v"}) -> (tensor<1x2x256x64xbf16> {graph.name = "o"}) {
    %0 = graph.attention %q, %k, %v {causal = "bottom_right", label = "att", layout = "bhsd", lse = false, roles = "", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16>) -> tensor<1x2x256x64xbf16>
    return %0 : tensor<1x2x256x64xbf16>
  }
}
// One item per block, so no bound on the blocks. Values beyond the causal end
// have no weight, so they may be copied.
// CHECK: kernel.func @{{.*}} threads(384) attributes {aligned_views = array<i64: 0, 1, 2, 3>, min_blocks = 1 : i32, tensor_maps = [#kernel.bulk_map<view 0, {{.*}}box[64, 128, 1, 1]{{.*}}>, #kernel.bulk_map<view 1, {{.*}}box[64, 64, 1, 1]{{.*}}>, #kernel.bulk_map<view 2, {{.*}}box[64, 64, 1, 1]{{.*}}>]}
// CHECK: %[[Q:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 1, 128, 64>
// CHECK: %[[K:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 2, 64, 64>
// CHECK-NEXT: %[[KFULL:.*]] = kernel.phases_alloc arrivals(1)
// CHECK-NEXT: %[[KEMPTY:.*]] = kernel.phases_alloc arrivals(8)
// CHECK-NEXT: %[[V:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 2, 64, 64>
// CHECK-NEXT: %[[VFULL:.*]] = kernel.phases_alloc arrivals(1)
// CHECK-NEXT: %[[VEMPTY:.*]] = kernel.phases_alloc arrivals(8)
// CHECK: kernel.set_registers 40
// CHECK: kernel.block_id
// The first keys do not wait for the queries, and keys go a step ahead.
// CHECK: kernel.phase_wait %[[KEMPTY]]
// CHECK: kernel.bulk_load %{{.*}}, %[[K]]
// CHECK: kernel.bulk_load %{{.*}}, %[[Q]]
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: kernel.phase_wait %[[KEMPTY]]
// CHECK: kernel.bulk_load %{{.*}}, %[[K]]
// CHECK: kernel.phase_wait %[[VEMPTY]]
// CHECK: kernel.bulk_load %{{.*}}, %[[V]]
// CHECK: kernel.set_registers 232 more
// The first step has no output to wait for.
// CHECK: scf.if
// CHECK: kernel.phase_wait %[[KFULL]]
// CHECK: kernel.group_mma bf16 depth(64) tile %[[Q]]
// CHECK: kernel.group_wait %{{.*}} pending 0(
// CHECK: scf.for
// CHECK: kernel.phase_wait %[[KFULL]]
// CHECK: kernel.group_mma bf16 depth(64) tile %[[Q]]
// CHECK: kernel.phase_wait %[[VFULL]]
// CHECK: kernel.group_mma bf16 depth(64) registers(
// CHECK: kernel.group_wait %{{.*}} pending 1(
// CHECK: kernel.phase_arrive %[[KEMPTY]]
// The reference follows a row that grows by more than 2^8, and the output is
// multiplied only if one of the warp's rows did.
// CHECK: %[[LIMIT:.*]] = arith.addf %[[M:.*]], %{{.*}} : f32
// CHECK: %[[GROWS:.*]] = arith.cmpf ugt, %[[NEW:.*]], %[[LIMIT]] : f32
// CHECK: arith.select %[[GROWS]], %[[NEW]], %[[M]] : f32
// CHECK: %[[ANY:.*]] = kernel.warp_any
// CHECK: math.exp2
// CHECK: kernel.group_wait %{{.*}} pending 0(
// CHECK: kernel.phase_arrive %[[VEMPTY]]
// CHECK: scf.if %[[ANY]]
// CHECK: arith.mulf
// CHECK: scf.yield
// CHECK: kernel.group_mma bf16 depth(64) registers(
// CHECK: kernel.store bf16

//--- lengths.mlir
// What lies behind a sequence's length may be NaN and must not be multiplied:
// each group writes zeros over the values of the last step that are there, and
// shows them to its product.
module {
  func.func @main(%q: tensor<1x2x256x64xbf16> {graph.name = "q"}, %k: tensor<1x2x256x64xbf16> {graph.name = "k"}, %v: tensor<1x2x256x64xbf16> {graph.name = "v"}, %l: tensor<1xi32> {graph.name = "l"}) -> (tensor<1x2x256x64xbf16> {graph.name = "o"}) {
    %0 = graph.attention %q, %k, %v, %l {causal = "none", label = "att", layout = "bhsd", lse = false, roles = "lengths", scale = 0.125 : f64, softcap = 0.0 : f64, window = 0 : i64} : (tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16>, tensor<1x2x256x64xbf16>, tensor<1xi32>) -> tensor<1x2x256x64xbf16>
    return %0 : tensor<1x2x256x64xbf16>
  }
}
// CHECK: kernel.tile_alloc at {{.*}} : <bf16, 2, 64, 64>
// CHECK: %[[V:.*]] = kernel.tile_alloc at {{.*}} : <bf16, 2, 64, 64>
// CHECK-NEXT: %[[VFULL:.*]] = kernel.phases_alloc arrivals(1)
// CHECK: kernel.set_registers 40
// CHECK: kernel.load i32
// CHECK: kernel.bulk_load
// CHECK: kernel.set_registers 232 more
// CHECK: kernel.load i32
// CHECK: scf.for
// CHECK: kernel.group_mma bf16 depth(64) registers(
// CHECK-NOT: kernel.tile_store
// CHECK: scf.yield
// CHECK: arith.remui
// CHECK: scf.if
// CHECK: kernel.phase_wait %[[VFULL]]
// CHECK: scf.for
// CHECK: kernel.tile_store %[[V]]
// CHECK: kernel.bulk_fence
// CHECK: kernel.group_barrier %{{.*}} threads(128)
// CHECK: kernel.group_mma bf16 depth(64) registers(
