// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Each rule of the op set is an error that carries the rule's label.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

func.func @f(%a: tensor<2x3xi8>) {
  // expected-error @+1 {{[reduce_sum.C1]}}
  %0 = graph.reduce_sum %a {axes = array<i64: 1>, keepdims = false}
      : (tensor<2x3xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_sum.C2]}}
  %0 = graph.reduce_sum %a {axes = array<i64: 2>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_sum.C2]}}
  %0 = graph.reduce_sum %a {axes = array<i64: 1, 1>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_sum.C2]}}
  %0 = graph.reduce_sum %a {axes = array<i64>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xi8>) {
  // expected-error @+1 {{[reduce_max.C1]}}
  %0 = graph.reduce_max %a {axes = array<i64: 1>, keepdims = false}
      : (tensor<2x3xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_max.C2]}}
  %0 = graph.reduce_max %a {axes = array<i64: 2>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_max.C2]}}
  %0 = graph.reduce_max %a {axes = array<i64: 1, 1>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_max.C2]}}
  %0 = graph.reduce_max %a {axes = array<i64>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xi8>) {
  // expected-error @+1 {{[reduce_mean.C1]}}
  %0 = graph.reduce_mean %a {axes = array<i64: 1>, keepdims = false}
      : (tensor<2x3xi8>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_mean.C2]}}
  %0 = graph.reduce_mean %a {axes = array<i64: 2>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_mean.C2]}}
  %0 = graph.reduce_mean %a {axes = array<i64: 1, 1>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[reduce_mean.C2]}}
  %0 = graph.reduce_mean %a {axes = array<i64>, keepdims = false}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  // expected-error @+1 {{[softmax.C1]}}
  %0 = graph.softmax %a {axis = 0 : i64}
      : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{[softmax.C2]}}
  %0 = graph.softmax %a {axis = 1 : i64}
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xi32>) {
  // expected-error @+1 {{[layer_norm.C1]}}
  %0 = graph.layer_norm %a, %b {eps = 1.0e-5 : f64}
      : (tensor<4x8xf32>, tensor<8xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{[layer_norm.C2]}}
  %0 = graph.layer_norm %a {eps = 1.0e-5 : f64}
      : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{[layer_norm.C3]}}
  %0 = graph.layer_norm %a, %b {eps = 1.0e-5 : f64}
      : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{[layer_norm.C4]}}
  %0 = graph.layer_norm %a {eps = -1.0 : f64}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xi32>) {
  // expected-error @+1 {{[rms_norm.C1]}}
  %0 = graph.rms_norm %a, %b {eps = 1.0e-5 : f64}
      : (tensor<4x8xf32>, tensor<8xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{[rms_norm.C2]}}
  %0 = graph.rms_norm %a {eps = 1.0e-5 : f64}
      : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{[rms_norm.C3]}}
  %0 = graph.rms_norm %a, %b {eps = 1.0e-5 : f64}
      : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{[rms_norm.C4]}}
  %0 = graph.rms_norm %a {eps = -1.0 : f64}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  // expected-error @+1 {{[rms_norm.operands]}}
  %0 = graph.rms_norm %a, %b, %c {eps = 0.0 : f64}
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, %b: tensor<?x32xi32, #graph.dims<"S", 32>>, %c: tensor<?x32xi32, #graph.dims<"S", 32>>) {
  // expected-error @+1 {{[rope.C1]}}
  %0 = graph.rope %a, %b, %c {pairing = "half"}
      : (tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, tensor<?x32xi32, #graph.dims<"S", 32>>, tensor<?x32xi32, #graph.dims<"S", 32>>) -> tensor<2x?x64xf32, #graph.dims<2, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<64xf32>, %b: tensor<32xf32>, %c: tensor<32xf32>) {
  // expected-error @+1 {{[rope.C2]}}
  %0 = graph.rope %a, %b, %c {pairing = "half"}
      : (tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @f(%a: tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, %b: tensor<?x32xf32, #graph.dims<"S", 32>>, %c: tensor<?x16xf32, #graph.dims<"S", 16>>) {
  // expected-error @+1 {{[rope.C3]}}
  %0 = graph.rope %a, %b, %c {pairing = "half"}
      : (tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, tensor<?x32xf32, #graph.dims<"S", 32>>, tensor<?x16xf32, #graph.dims<"S", 16>>) -> tensor<2x?x64xf32, #graph.dims<2, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, %b: tensor<?x64xf32, #graph.dims<"S", 64>>, %c: tensor<?x64xf32, #graph.dims<"S", 64>>) {
  // expected-error @+1 {{[rope.C4]}}
  %0 = graph.rope %a, %b, %c {pairing = "half"}
      : (tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, tensor<?x64xf32, #graph.dims<"S", 64>>, tensor<?x64xf32, #graph.dims<"S", 64>>) -> tensor<2x?x64xf32, #graph.dims<2, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, %b: tensor<?x32xf32, #graph.dims<"T", 32>>, %c: tensor<?x32xf32, #graph.dims<"T", 32>>) {
  // expected-error @+1 {{[rope.C5]}}
  %0 = graph.rope %a, %b, %c {pairing = "half"}
      : (tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, tensor<?x32xf32, #graph.dims<"T", 32>>, tensor<?x32xf32, #graph.dims<"T", 32>>) -> tensor<2x?x64xf32, #graph.dims<2, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, %b: tensor<?x32xf32, #graph.dims<"S", 32>>, %c: tensor<?x32xf32, #graph.dims<"S", 32>>) {
  // expected-error @+1 {{[rope.attrs]}}
  %0 = graph.rope %a, %b, %c {pairing = "other"}
      : (tensor<2x?x64xf32, #graph.dims<2, "S", 64>>, tensor<?x32xf32, #graph.dims<"S", 32>>, tensor<?x32xf32, #graph.dims<"S", 32>>) -> tensor<2x?x64xf32, #graph.dims<2, "S", 64>>
  return
}
