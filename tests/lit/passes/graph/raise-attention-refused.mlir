// RUN: azulejo-opt %s -azulejo-raise-attention | FileCheck %s
// What is almost attention stays as it is, and a note says why.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Normalised over the queries.
// CHECK-LABEL: @other_axis(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the softmax does not run along the keys, the last axis"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @other_axis(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// The probabilities are an output too.
// CHECK-LABEL: @probabilities_returned(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the probabilities are used elsewhere as well"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @probabilities_returned(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4, %3 : tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>
}

// So are the scores.
// CHECK-LABEL: @scores_returned(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the scores are used elsewhere as well"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @scores_returned(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4, %2 : tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>
}

// A learned temperature.
// CHECK-LABEL: @tensor_scale(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the scale is a tensor, not a constant"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @tensor_scale(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<f32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.mul %0, %a3 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %2 = graph.softmax %1 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = graph.matmul %2, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %3 : tensor<2x4x8x16xf32>
}

// A factor per probability, as dropout has it.
// CHECK-LABEL: @dropout(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the probabilities are changed between the softmax and the product with v"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @dropout(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<2x4x8x8xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.mul %a3, %3 : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5 : tensor<2x4x8x16xf32>
}

// A mask after the softmax does not renormalise.
// CHECK-LABEL: @mask_after(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the probabilities are changed between the softmax and the product with v"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @mask_after(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<8x8xi1>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.0 : f64} : () -> tensor<f32>
  %5 = graph.where %a3, %3, %4 : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// Rows and columns of the probabilities exchanged.
// CHECK-LABEL: @transposed_probabilities(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the probabilities enter the product with v transposed"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @transposed_probabilities(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = true, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// Another normalisation.
// CHECK-LABEL: @sigmoid(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the scores are normalised by a sigmoid, not by a softmax"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @sigmoid(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.sigmoid %2 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// The maximum of other rows.
// CHECK-LABEL: @other_maximum(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "what is subtracted before the exponential is not the row maximum of the same scores"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @other_maximum(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.reduce_max %a0 {axes = array<i64: 3>, keepdims = true} : (tensor<2x4x8x16xf32>) -> tensor<2x4x8x1xf32>
  %4 = graph.sub %2, %3 : (tensor<2x4x8x8xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.exp %4 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.reduce_sum %5 {axes = array<i64: 3>, keepdims = true} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x1xf32>
  %7 = graph.div %5, %6 : (tensor<2x4x8x8xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
  %8 = graph.matmul %7, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %8 : tensor<2x4x8x16xf32>
}

// Overflows where a softmax does not.
// CHECK-LABEL: @no_maximum(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the exponential of the scores is not taken relative to their row maximum"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @no_maximum(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.exp %2 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.reduce_sum %3 {axes = array<i64: 3>, keepdims = true} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x1xf32>
  %5 = graph.div %3, %4 : (tensor<2x4x8x8xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// The bias has a batch that the scores do not have.
// CHECK-LABEL: @wide_bias(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the bias does not broadcast to the scores"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @wide_bias(%a0: tensor<1x4x8x16xf32>, %a1: tensor<1x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<2x1x8x8xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %3 = graph.add %2, %a3 : (tensor<1x4x8x8xf32>, tensor<2x1x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5 : tensor<2x4x8x16xf32>
}

// One q for all batches of k.
// CHECK-LABEL: @batch_mismatch(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the batch axes of q and k differ"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @batch_mismatch(%a0: tensor<1x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<1x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// k has one head, v four.
// CHECK-LABEL: @kv_mismatch(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "k and v show different numbers of heads"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @kv_mismatch(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x1x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x1x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// An explicit rounding is kept.
// CHECK-LABEL: @rounded_scores(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the scores are rounded to f16 on purpose, which attention would not do"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @rounded_scores(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.cast %2 {dtype = f16} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf16>
  %4 = graph.cast %3 {dtype = f32} : (tensor<2x4x8x8xf16>) -> tensor<2x4x8x8xf32>
  %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// No kernel has a symbolic head size.
// CHECK-LABEL: @symbolic_head(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the head size D is not a constant"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @symbolic_head(%a0: tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>, %a1: tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>, %a2: tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>) -> (tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>) attributes {graph.dims = [#graph.dim<"D", 1, 4096>, #graph.dim<"S", 1, 4096>]} {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>, tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>) -> tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "S">>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "S">>, tensor<f32>) -> tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "S">>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "S">>) -> tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "S">>
  %4 = graph.matmul %3, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "S">>, tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>) -> tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>
  return %4 : tensor<2x4x?x?xf32, #graph.dims<2, 4, "S", "D">>
}

// The order of the contract is scale, then bias.
// CHECK-LABEL: @bias_scaled(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "a bias is added before the scale or the softcap"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @bias_scaled(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<8x8xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.add %0, %a3 : (tensor<2x4x8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %3 = graph.mul %1, %2 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5 : tensor<2x4x8x16xf32>
}

// -10000 still lets scores through.
// CHECK-LABEL: @small_fill(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "masked scores are replaced by a number that is neither -inf nor so large that it absorbs any score"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @small_fill(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<8x8xi1>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = -10000.0 : f64} : () -> tensor<f32>
  %4 = graph.where %a3, %2, %3 : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// A row that -65504 masks entirely is not uniform afterwards.
// CHECK-LABEL: @small_fill_half(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "masked scores are replaced by a number that is neither -inf nor so large that it absorbs any score"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @small_fill_half(%a0: tensor<2x4x8x16xf16>, %a1: tensor<2x4x8x16xf16>, %a2: tensor<2x4x8x16xf16>, %a3: tensor<8x8xi1>) -> (tensor<2x4x8x16xf16>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>) -> tensor<2x4x8x8xf16>
  %1 = graph.constant  {dtype = f16, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f16>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf16>, tensor<f16>) -> tensor<2x4x8x8xf16>
  %3 = graph.constant  {dtype = f16, shape = #graph.dims<>, value = -65504.0 : f64} : () -> tensor<f16>
  %4 = graph.where %a3, %2, %3 : (tensor<8x8xi1>, tensor<2x4x8x8xf16>, tensor<f16>) -> tensor<2x4x8x8xf16>
  %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<2x4x8x8xf16>) -> tensor<2x4x8x8xf16>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf16>, tensor<2x4x8x16xf16>) -> tensor<2x4x8x16xf16>
  return %6 : tensor<2x4x8x16xf16>
}

// A fill from data.
// CHECK-LABEL: @tensor_fill(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "what masked scores are replaced by is no constant"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @tensor_fill(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<8x8xi1>, %a4: tensor<8x8xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.where %a3, %2, %a4 : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5 : tensor<2x4x8x16xf32>
}

// A product of f32 scores with bf16 values.
// CHECK-LABEL: @mixed_types(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "q, k and v differ in type"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @mixed_types(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<2x4x8x16xbf16>) -> (tensor<2x4x8x16xbf16>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.cast %3 {dtype = bf16} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
  %5 = graph.matmul %4, %a3 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xbf16>, tensor<2x4x8x16xbf16>) -> tensor<2x4x8x16xbf16>
  return %5 : tensor<2x4x8x16xbf16>
}

// f16 in between.
// CHECK-LABEL: @probabilities_rounded(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the probabilities are rounded to another type than that of v"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @probabilities_rounded(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.cast %3 {dtype = f16} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf16>
  %5 = graph.cast %4 {dtype = f32} : (tensor<2x4x8x8xf16>) -> tensor<2x4x8x8xf32>
  %6 = graph.matmul %5, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// The finite fill revives hidden keys.
// CHECK-LABEL: @inner_mask(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "a mask of -inf lies under a mask with a finite fill"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @inner_mask(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>, %a3: tensor<8x8xi1>, %a4: tensor<2x1x1x8xi1>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %4 = graph.where %a3, %2, %3 : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %5 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = -3.4028234663852886E+38 : f64} : () -> tensor<f32>
  %6 = graph.where %a4, %4, %5 : (tensor<2x1x1x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %7 = graph.softmax %6 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %8 = graph.matmul %7, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %8 : tensor<2x4x8x16xf32>
}

// An unknown map.
// CHECK-LABEL: @squared(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "graph.abs between the products is no part of attention"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @squared(%a0: tensor<2x4x8x16xf32>, %a1: tensor<2x4x8x16xf32>, %a2: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>) {
  %0 = graph.matmul %a0, %a1 {transpose_a = false, transpose_b = true} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>, value = 0.25 : f64} : () -> tensor<f32>
  %2 = graph.mul %0, %1 : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = graph.abs %2 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = graph.matmul %4, %a2 {transpose_a = false, transpose_b = false} : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5 : tensor<2x4x8x16xf32>
}

// The number of query heads per KV head is symbolic.
// CHECK-LABEL: @symbolic_groups(
// CHECK: graph.notes = [{ops = {{.*}}, rule = "raise-attention", text = "the query heads are not provably a multiple of the KV heads"}]
// CHECK-NOT: graph.attention
// CHECK: return
func.func @symbolic_groups(%a0: tensor<2x?x8x16xf32, #graph.dims<2, "2*G", 8, 16>>, %a1: tensor<2x2x8x16xf32>, %a2: tensor<2x2x8x16xf32>) -> (tensor<2x?x8x16xf32, #graph.dims<2, "2*G", 8, 16>>) attributes {graph.dims = [#graph.dim<"G", 1, 4096>]} {
  %0 = graph.reshape %a0 {shape = #graph.dims<2, 2, "G", 8, 16>} : (tensor<2x?x8x16xf32, #graph.dims<2, "2*G", 8, 16>>) -> tensor<2x2x?x8x16xf32, #graph.dims<2, 2, "G", 8, 16>>
  %1 = graph.reshape %a1 {shape = #graph.dims<2, 2, 1, 8, 16>} : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %2 = graph.reshape %a2 {shape = #graph.dims<2, 2, 1, 8, 16>} : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %3 = graph.matmul %0, %1 {transpose_a = false, transpose_b = true} : (tensor<2x2x?x8x16xf32, #graph.dims<2, 2, "G", 8, 16>>, tensor<2x2x1x8x16xf32>) -> tensor<2x2x?x8x8xf32, #graph.dims<2, 2, "G", 8, 8>>
  %4 = graph.softmax %3 {axis = 4 : i64} : (tensor<2x2x?x8x8xf32, #graph.dims<2, 2, "G", 8, 8>>) -> tensor<2x2x?x8x8xf32, #graph.dims<2, 2, "G", 8, 8>>
  %5 = graph.matmul %4, %2 {transpose_a = false, transpose_b = false} : (tensor<2x2x?x8x8xf32, #graph.dims<2, 2, "G", 8, 8>>, tensor<2x2x1x8x16xf32>) -> tensor<2x2x?x8x16xf32, #graph.dims<2, 2, "G", 8, 16>>
  %6 = graph.reshape %5 {shape = #graph.dims<2, "2*G", 8, 16>} : (tensor<2x2x?x8x16xf32, #graph.dims<2, 2, "G", 8, 16>>) -> tensor<2x?x8x16xf32, #graph.dims<2, "2*G", 8, 16>>
  return %6 : tensor<2x?x8x16xf32, #graph.dims<2, "2*G", 8, 16>>
}

// A softmax of an input is no attention, and needs no note.
// CHECK-LABEL: @no_scores(
// CHECK-NOT: graph.notes
// CHECK: graph.softmax
// CHECK-NOT: graph.attention
// CHECK: return
func.func @no_scores(%a0: tensor<8x8xf32>, %a1: tensor<8x4xf32>) -> (tensor<8x4xf32>) {
  %0 = graph.softmax %a0 {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.matmul %0, %a1 {transpose_a = false, transpose_b = false} : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// Nor are relative exponentials of an input.
// CHECK-LABEL: @exponentials(
// CHECK-NOT: graph.notes
// CHECK: graph.div
// CHECK: return
func.func @exponentials(%a0: tensor<8x8xf32>) -> (tensor<8x8xf32>) {
  %0 = graph.exp %a0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.reduce_sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %2 = graph.div %0, %1 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Neither are two products.
// CHECK-LABEL: @two_products(
// CHECK-NOT: graph.notes
// CHECK-NOT: graph.attention
// CHECK: return
func.func @two_products(%a0: tensor<8x8xf32>, %a1: tensor<8x4xf32>) -> (tensor<8x4xf32>) {
  %0 = graph.matmul %a0, %a0 {transpose_a = false, transpose_b = false} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.matmul %0, %a1 {transpose_a = false, transpose_b = false} : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
