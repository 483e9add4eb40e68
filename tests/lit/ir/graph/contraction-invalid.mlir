// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Each rule of the op set is an error that carries the rule's label.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

func.func @f(%a: tensor<2x3xi32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{[matmul.C1]}}
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false}
      : (tensor<2x3xi32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{[matmul.C2]}}
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false}
      : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x?xf32, #graph.dims<2, "K">>, %b: tensor<?x4xf32, #graph.dims<"L", 4>>) {
  // expected-error @+1 {{[matmul.C3]}}
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false}
      : (tensor<2x?xf32, #graph.dims<2, "K">>, tensor<?x4xf32, #graph.dims<"L", 4>>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2x3xf32>, %b: tensor<3x3x4xf32>) {
  // expected-error @+1 {{[matmul.C4]}}
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false}
      : (tensor<2x2x3xf32>, tensor<3x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C1]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf16, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x?x64xf32, #graph.dims<"B", "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C2]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x?x64xf32, #graph.dims<"B", "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"A", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"A", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C3]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"A", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"A", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x32xf32, #graph.dims<"B", 2, "T", 32>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C4]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x32xf32, #graph.dims<"B", 2, "T", 32>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "S", 64>>) {
  // expected-error @+1 {{[attention.C5]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "S", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x3x?x64xf32, #graph.dims<"B", 3, "T", 64>>, %c: tensor<?x3x?x64xf32, #graph.dims<"B", 3, "T", 64>>) {
  // expected-error @+1 {{[attention.C6]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x3x?x64xf32, #graph.dims<"B", 3, "T", 64>>, tensor<?x3x?x64xf32, #graph.dims<"B", 3, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "D">>, %b: tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "D">>, %c: tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "D">>) {
  // expected-error @+1 {{[attention.C7]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "D">>, tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "D">>, tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "D">>) -> tensor<?x8x?x?xf32, #graph.dims<"B", 8, "S", "D">>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C8]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = -1 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C8]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 4 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C9]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = -1.0 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C9]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "", scale = 0x7FF0000000000000 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.C10]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = false, roles = "bias", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %d: tensor<f32>, %e: tensor<f32>) {
  // expected-error @+1 {{[attention.C10]}}
  %0 = graph.attention %a, %b, %c, %d, %e {causal = "none", layout = "bhsd", lse = false, roles = "bias,bias", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<f32>, tensor<f32>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %d: tensor<f32>) {
  // expected-error @+1 {{[attention.C10]}}
  %0 = graph.attention %a, %b, %c, %d {causal = "none", layout = "bhsd", lse = false, roles = "offset", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<f32>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %d: tensor<?x?xf32, #graph.dims<"S", "T">>) {
  // expected-error @+1 {{[attention.C11]}}
  %0 = graph.attention %a, %b, %c, %d {causal = "none", layout = "bhsd", lse = false, roles = "mask", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x?xf32, #graph.dims<"S", "T">>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %d: tensor<?x?xf32, #graph.dims<"T", "S">>) {
  // expected-error @+1 {{[attention.C11]}}
  %0 = graph.attention %a, %b, %c, %d {causal = "none", layout = "bhsd", lse = false, roles = "bias", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x?xf32, #graph.dims<"T", "S">>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %d: tensor<?xi32, #graph.dims<"S">>) {
  // expected-error @+1 {{[attention.C12]}}
  %0 = graph.attention %a, %b, %c, %d {causal = "none", layout = "bhsd", lse = false, roles = "lengths", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?xi32, #graph.dims<"S">>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %d: tensor<2xf32>) {
  // expected-error @+1 {{[attention.C13]}}
  %0 = graph.attention %a, %b, %c, %d {causal = "none", layout = "bhsd", lse = false, roles = "slopes", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<2xf32>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.attrs]}}
  %0 = graph.attention %a, %b, %c {causal = "left", layout = "bhsd", lse = false, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, %b: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, %c: tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) {
  // expected-error @+1 {{[attention.results]}}
  %0 = graph.attention %a, %b, %c {causal = "none", layout = "bhsd", lse = true, roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>, tensor<?x2x?x64xf32, #graph.dims<"B", 2, "T", 64>>) -> tensor<?x8x?x64xf32, #graph.dims<"B", 8, "S", 64>>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xbf16>) {
  // expected-error @+1 {{hint: leave out precision: f16 and bf16 are multiplied as they are; or cast both operands to f32}}
  %0 = graph.matmul %a, %b {precision = "tf32", transpose_a = false, transpose_b = false}
      : (tensor<2x3xf32>, tensor<3x4xbf16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf16>, %b: tensor<3x4xf16>) {
  // expected-error @+1 {{[matmul.C5]}}
  %0 = graph.matmul %a, %b {precision = "tf32", transpose_a = false, transpose_b = false}
      : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{attribute 'precision' is 'bf16' [matmul.attrs]; hint: use one of: ieee, tf32}}
  %0 = graph.matmul %a, %b {precision = "bf16", transpose_a = false, transpose_b = false}
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%q: tensor<1x1x8x16xbf16>) {
  // expected-error @+1 {{[attention.C14]}}
  %0 = graph.attention %q, %q, %q {causal = "none", layout = "bhsd", lse = false, precision = "tf32", roles = "", scale = 1.250000e-01 : f64, softcap = 0.000000e+00 : f64, window = 0 : i64}
      : (tensor<1x1x8x16xbf16>, tensor<1x1x8x16xbf16>, tensor<1x1x8x16xbf16>) -> tensor<1x1x8x16xbf16>
  return
}
