// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Each rule of the op set is an error that carries the rule's label.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

func.func @f() {
  // expected-error @+1 {{[constant.C1]}}
  %0 = graph.constant {value = 1.0 : f64, dtype = f64, shape = #graph.dims<>}
      : () -> tensor<f32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{[iota.C1]}}
  %0 = graph.iota {shape = #graph.dims<4>, axis = 0 : i64, dtype = f16}
      : () -> tensor<4xf16>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{[iota.C2]}}
  %0 = graph.iota {shape = #graph.dims<4>, axis = 1 : i64, dtype = i64}
      : () -> tensor<4xi64>
  return
}

// -----

func.func @f(%a: tensor<3xf32>) {
  // expected-error @+1 {{[broadcast.C1]}}
  %0 = graph.broadcast %a {shape = #graph.dims<4>}
      : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<?x4xf32, #graph.dims<"S", 4>>) {
  // expected-error @+1 {{[reshape.C1]}}
  %0 = graph.reshape %a {shape = #graph.dims<"5*S">}
      : (tensor<?x4xf32, #graph.dims<"S", 4>>) -> tensor<?xf32, #graph.dims<"S*5">>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[transpose.C1]}}
  %0 = graph.transpose %a {perm = array<i64: 0, 0>}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[transpose.C1]}}
  %0 = graph.transpose %a {perm = array<i64: 0, 7>}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{[slice.C1]}}
  %0 = graph.slice %a {starts = array<i64: 0>, steps = array<i64: 1>, sizes = #graph.dims<2>}
      : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{[slice.C2]}}
  %0 = graph.slice %a {starts = array<i64: 0>, steps = array<i64: 0>, sizes = #graph.dims<2>}
      : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{[slice.C2]}}
  %0 = graph.slice %a {starts = array<i64: -1>, steps = array<i64: 1>, sizes = #graph.dims<2>}
      : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{[slice.C3]}}
  %0 = graph.slice %a {starts = array<i64: 0>, steps = array<i64: 4>, sizes = #graph.dims<2>}
      : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>) {
  // expected-error @+1 {{[slice.C3]}}
  %0 = graph.slice %a {starts = array<i64: 0>, steps = array<i64: 1>, sizes = #graph.dims<4>}
      : (tensor<?xf32, #graph.dims<"S">>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<9xf32>) {
  // expected-error @+1 {{[slice.C3]}}
  %0 = graph.slice %a {starts = array<i64: 9223372036854775807>, steps = array<i64: 9223372036854775807>, sizes = #graph.dims<2>}
      : (tensor<9xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{[concat.C1]}}
  %0 = graph.concat %a, %b {axis = 1 : i64}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  // expected-error @+1 {{[concat.C2]}}
  %0 = graph.concat %a, %b {axis = 0 : i64}
      : (tensor<2xf32>, tensor<2xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{[concat.C3]}}
  %0 = graph.concat %a, %b {axis = 0 : i64}
      : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @+1 {{[gather.C1]}}
  %0 = graph.gather %a, %b {axis = -1 : i64}
      : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{[gather.C2]}}
  %0 = graph.gather %a, %b {axis = 0 : i64}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x1x4xf32>, %c: tensor<i32>) {
  // expected-error @+1 {{[cache_update.C1]}}
  %0 = graph.cache_update %a, %b, %c {axis = 3 : i64}
      : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<i32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x1x5xf32>, %c: tensor<i32>) {
  // expected-error @+1 {{[cache_update.C2]}}
  %0 = graph.cache_update %a, %b, %c {axis = 1 : i64}
      : (tensor<2x8x4xf32>, tensor<2x1x5xf32>, tensor<i32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x1x4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{[cache_update.C3]}}
  %0 = graph.cache_update %a, %b, %c {axis = 1 : i64}
      : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x1x4xf32>, %c: tensor<3xi32>) {
  // expected-error @+1 {{[cache_update.C3]}}
  %0 = graph.cache_update %a, %b, %c {axis = 1 : i64}
      : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<3xi32>) -> tensor<2x8x4xf32>
  return
}
