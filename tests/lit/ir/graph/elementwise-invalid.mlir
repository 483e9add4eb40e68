// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Each rule of the op set is an error that carries the rule's label.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[exp.C2]}}
  %0 = graph.exp %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[exp.C3]}}
  %0 = graph.exp %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[exp2.C2]}}
  %0 = graph.exp2 %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[exp2.C3]}}
  %0 = graph.exp2 %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[log.C2]}}
  %0 = graph.log %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[log.C3]}}
  %0 = graph.log %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[sqrt.C2]}}
  %0 = graph.sqrt %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[sqrt.C3]}}
  %0 = graph.sqrt %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[rsqrt.C2]}}
  %0 = graph.rsqrt %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[rsqrt.C3]}}
  %0 = graph.rsqrt %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[sin.C2]}}
  %0 = graph.sin %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[sin.C3]}}
  %0 = graph.sin %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[cos.C2]}}
  %0 = graph.cos %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[cos.C3]}}
  %0 = graph.cos %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[tanh.C2]}}
  %0 = graph.tanh %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[tanh.C3]}}
  %0 = graph.tanh %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[sigmoid.C2]}}
  %0 = graph.sigmoid %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[sigmoid.C3]}}
  %0 = graph.sigmoid %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[silu.C2]}}
  %0 = graph.silu %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[silu.C3]}}
  %0 = graph.silu %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[gelu_erf.C2]}}
  %0 = graph.gelu_erf %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[gelu_erf.C3]}}
  %0 = graph.gelu_erf %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{[gelu_tanh.C2]}}
  %0 = graph.gelu_tanh %a
      : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{[gelu_tanh.C3]}}
  %0 = graph.gelu_tanh %a
      : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xi8>) {
  // expected-error @+1 {{[neg.C2]}}
  %0 = graph.neg %a
      : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // expected-error @+1 {{[neg.C3]}}
  %0 = graph.neg %a
      : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<4xi8>) {
  // expected-error @+1 {{[abs.C2]}}
  %0 = graph.abs %a
      : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // expected-error @+1 {{[abs.C3]}}
  %0 = graph.abs %a
      : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<4xi8>) {
  // expected-error @+1 {{[relu.C2]}}
  %0 = graph.relu %a
      : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @f(%a: tensor<4xi1>) {
  // expected-error @+1 {{[relu.C3]}}
  %0 = graph.relu %a
      : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<?xf32, #graph.dims<"T">>) {
  // expected-error @+1 {{[add.C1]}}
  %0 = graph.add %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<?xf32, #graph.dims<"T">>) -> tensor<?xf32, #graph.dims<"S">>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{[add.C2]}}
  %0 = graph.add %a, %b
      : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // expected-error @+1 {{[add.C3]}}
  %0 = graph.add %a, %b
      : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<?xf32, #graph.dims<"T">>) {
  // expected-error @+1 {{[sub.C1]}}
  %0 = graph.sub %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<?xf32, #graph.dims<"T">>) -> tensor<?xf32, #graph.dims<"S">>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{[sub.C2]}}
  %0 = graph.sub %a, %b
      : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // expected-error @+1 {{[sub.C3]}}
  %0 = graph.sub %a, %b
      : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<?xf32, #graph.dims<"T">>) {
  // expected-error @+1 {{[mul.C1]}}
  %0 = graph.mul %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<?xf32, #graph.dims<"T">>) -> tensor<?xf32, #graph.dims<"S">>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{[mul.C2]}}
  %0 = graph.mul %a, %b
      : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // expected-error @+1 {{[mul.C3]}}
  %0 = graph.mul %a, %b
      : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<?xf32, #graph.dims<"T">>) {
  // expected-error @+1 {{[min.C1]}}
  %0 = graph.min %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<?xf32, #graph.dims<"T">>) -> tensor<?xf32, #graph.dims<"S">>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{[min.C2]}}
  %0 = graph.min %a, %b
      : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // expected-error @+1 {{[min.C3]}}
  %0 = graph.min %a, %b
      : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<?xf32, #graph.dims<"T">>) {
  // expected-error @+1 {{[max.C1]}}
  %0 = graph.max %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<?xf32, #graph.dims<"T">>) -> tensor<?xf32, #graph.dims<"S">>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{[max.C2]}}
  %0 = graph.max %a, %b
      : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // expected-error @+1 {{[max.C3]}}
  %0 = graph.max %a, %b
      : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<?xf32, #graph.dims<"T">>) {
  // expected-error @+1 {{[div.C1]}}
  %0 = graph.div %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<?xf32, #graph.dims<"T">>) -> tensor<?xf32, #graph.dims<"S">>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{[div.C2]}}
  %0 = graph.div %a, %b
      : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{[div.C3]}}
  %0 = graph.div %a, %b
      : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<?xf32, #graph.dims<"T">>) {
  // expected-error @+1 {{[pow.C1]}}
  %0 = graph.pow %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<?xf32, #graph.dims<"T">>) -> tensor<?xf32, #graph.dims<"S">>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{[pow.C2]}}
  %0 = graph.pow %a, %b
      : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{[pow.C3]}}
  %0 = graph.pow %a, %b
      : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<2xi1>, %b: tensor<3xi1>) {
  // expected-error @+1 {{[and.C1]}}
  %0 = graph.and %a, %b
      : (tensor<2xi1>, tensor<3xi1>) -> tensor<3xi1>
  return
}

// -----

func.func @f(%a: tensor<2xi1>, %b: tensor<2xi32>) {
  // expected-error @+1 {{[and.C3]}}
  %0 = graph.and %a, %b
      : (tensor<2xi1>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<2xi1>, %b: tensor<3xi1>) {
  // expected-error @+1 {{[or.C1]}}
  %0 = graph.or %a, %b
      : (tensor<2xi1>, tensor<3xi1>) -> tensor<3xi1>
  return
}

// -----

func.func @f(%a: tensor<2xi1>, %b: tensor<2xi32>) {
  // expected-error @+1 {{[or.C3]}}
  %0 = graph.or %a, %b
      : (tensor<2xi1>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  // expected-error @+1 {{[not.C3]}}
  %0 = graph.not %a
      : (tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{[compare.C1]}}
  %0 = graph.compare %a, %b {predicate = "eq"}
      : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<2xi8>, %b: tensor<2xf32>) {
  // expected-error @+1 {{[compare.C2]}}
  %0 = graph.compare %a, %b {predicate = "eq"}
      : (tensor<2xi8>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{[compare.attrs]}}
  %0 = graph.compare %a, %b {predicate = "about"}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<2xi1>, %b: tensor<3xf32>, %c: tensor<3xf32>) {
  // expected-error @+1 {{[where.C1]}}
  %0 = graph.where %a, %b, %c
      : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<3xi1>, %b: tensor<3xi8>, %c: tensor<3xf32>) {
  // expected-error @+1 {{[where.C2]}}
  %0 = graph.where %a, %b, %c
      : (tensor<3xi1>, tensor<3xi8>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) {
  // expected-error @+1 {{[where.C3]}}
  %0 = graph.where %a, %b, %c
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<3xi8>) {
  // expected-error @+1 {{[clamp.C2]}}
  %0 = graph.clamp %a {low = 0.0 : f64, high = 1.0 : f64}
      : (tensor<3xi8>) -> tensor<3xi8>
  return
}

// -----

func.func @f(%a: tensor<3xi1>) {
  // expected-error @+1 {{[clamp.C3]}}
  %0 = graph.clamp %a {low = 0.0 : f64, high = 1.0 : f64}
      : (tensor<3xi1>) -> tensor<3xi1>
  return
}

// -----

func.func @f(%a: tensor<3xf32>) {
  // expected-error @+1 {{[clamp.C4]}}
  %0 = graph.clamp %a {low = 2.0 : f64, high = 1.0 : f64}
      : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>) {
  // expected-error @+1 {{[clamp.C4]}}
  %0 = graph.clamp %a {low = 0x7FF8000000000000 : f64, high = 1.0 : f64}
      : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>) {
  // expected-error @+1 {{[cast.C2]}}
  %0 = graph.cast %a {dtype = f64}
      : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{[add.results]}}
  %0 = graph.add %a, %b
      : (tensor<3xf32>, tensor<f32>) -> tensor<3xf16>
  return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<"S">>, %b: tensor<f32>) {
  // expected-error @+1 {{[add.results]}}
  %0 = graph.add %a, %b
      : (tensor<?xf32, #graph.dims<"S">>, tensor<f32>) -> tensor<?xf32, #graph.dims<"T">>
  return
}
