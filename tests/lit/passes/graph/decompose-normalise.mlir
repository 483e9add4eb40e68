// RUN: azulejo-opt %s -azulejo-decompose-normalise | FileCheck %s
// RUN: azulejo-opt %s -azulejo-decompose-normalise=fused-only | FileCheck %s --check-prefix=FUSED
// Rows are normalised in f32 with kept axes; variance centres first, and what
// rounding the mean left over is taken out of both row and variance.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x5x8xf32
// CHECK: %[[M:.*]] = graph.reduce_max %[[X]] {axes = array<i64: 1>, keepdims = true}
// CHECK-SAME: tensor<?x1x8xf32, #graph.dims<"B", 1, 8>>
// CHECK: %[[D:.*]] = graph.sub %[[X]], %[[M]]
// CHECK: %[[E:.*]] = graph.exp %[[D]]
// CHECK: %[[S:.*]] = graph.reduce_sum %[[E]] {axes = array<i64: 1>, keepdims = true}
// CHECK: %[[R:.*]] = graph.div %{{.*}}, %[[S]]
// CHECK: %[[Y:.*]] = graph.mul %[[E]], %[[R]] {label = "rows"}
// CHECK: return %[[Y]]
// FUSED-LABEL: @softmax(
// FUSED: graph.softmax
func.func @softmax(%x: tensor<?x5x8xf32, #graph.dims<"B", 5, 8>>)
    -> tensor<?x5x8xf32, #graph.dims<"B", 5, 8>>
    attributes {graph.dims = [#graph.dim<"B", 1, 64>]} {
  %y = graph.softmax %x {axis = 1 : i64, label = "rows"}
      : (tensor<?x5x8xf32, #graph.dims<"B", 5, 8>>) -> tensor<?x5x8xf32, #graph.dims<"B", 5, 8>>
  return %y : tensor<?x5x8xf32, #graph.dims<"B", 5, 8>>
}

// CHECK-LABEL: @layer_norm(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>, %[[W:.*]]: tensor<8xbf16>, %[[B:.*]]: tensor<8xf32>
// CHECK: %[[F:.*]] = graph.cast %[[X]] {dtype = f32}
// CHECK: %[[MEAN:.*]] = graph.reduce_mean %[[F]] {axes = array<i64: 1>, keepdims = true}
// CHECK: %[[C:.*]] = graph.sub %[[F]], %[[MEAN]]
// CHECK: %[[REST:.*]] = graph.reduce_mean %[[C]]
// CHECK: %[[SQ:.*]] = graph.mul %[[C]], %[[C]]
// CHECK: %[[MS:.*]] = graph.reduce_mean %[[SQ]]
// CHECK: %[[RR:.*]] = graph.mul %[[REST]], %[[REST]]
// CHECK: %[[RAW:.*]] = graph.sub %[[MS]], %[[RR]]
// CHECK: %[[ZERO:.*]] = graph.constant {{.*}}value = 0.000000e+00
// CHECK: %[[V:.*]] = graph.max %[[RAW]], %[[ZERO]]
// CHECK: %[[CC:.*]] = graph.sub %[[C]], %[[REST]]
// CHECK: %[[EPS:.*]] = graph.constant {{.*}}value = 1.000000e-05
// CHECK: %[[VE:.*]] = graph.add %[[V]], %[[EPS]]
// CHECK: %[[R:.*]] = graph.rsqrt %[[VE]]
// CHECK: %[[N:.*]] = graph.mul %[[CC]], %[[R]]
// CHECK: %[[NW:.*]] = graph.mul %[[N]], %[[W]]
// CHECK: %[[NB:.*]] = graph.add %[[NW]], %[[B]]
// CHECK: %[[Y:.*]] = graph.cast %[[NB]] {dtype = bf16}
// CHECK: return %[[Y]]
func.func @layer_norm(%x: tensor<4x8xbf16>, %w: tensor<8xbf16>, %b: tensor<8xf32>) -> tensor<4x8xbf16> {
  %y = graph.layer_norm %x, %w, %b {eps = 1.0e-5 : f64}
      : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xf32>) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// rms_norm has no centre, and a fused body is rewritten in place.
// CHECK-LABEL: @rms_norm(
// CHECK: graph.fused "RowChain"
// CHECK: ^bb0(%[[A:.*]]: tensor<4x8xf32>
// CHECK-NOT: graph.sub
// CHECK: %[[SQ:.*]] = graph.mul %[[A]], %[[A]]
// CHECK: graph.reduce_mean %[[SQ]]
// CHECK: graph.rsqrt
// CHECK: %[[Y:.*]] = graph.mul %[[A]],
// CHECK: graph.yield %[[Y]]
// FUSED-LABEL: @rms_norm(
// FUSED-NOT: graph.rms_norm
// FUSED: graph.rsqrt
func.func @rms_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = graph.fused "RowChain" (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %y = graph.rms_norm %a {eps = 1.0e-6 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    graph.yield %y : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Reductions that stand alone are not touched.
// CHECK-LABEL: @plain(
// CHECK-NEXT: graph.reduce_sum
// CHECK-NEXT: return
func.func @plain(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
