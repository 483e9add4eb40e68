// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Tensor types and attributes outside the vocabulary are errors, never aborts.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

func.func @unnamed(%x: tensor<?xf32>) {
  // expected-error @+1 {{op 'e' (exp), operand 0: a '?' needs a #graph.dims encoding that names it [graph.dims]}}
  %0 = graph.exp %x {label = "e"} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @foreign(%x: tensor<4xf32, "row">) {
  // expected-error @+1 {{the encoding must be #graph.dims [graph.dims]}}
  %0 = graph.exp %x : (tensor<4xf32, "row">) -> tensor<4xf32, "row">
  return
}

// -----

func.func @element(%x: tensor<4xf64>) {
  // expected-error @+1 {{[graph.dtype]}}
  %0 = graph.exp %x : (tensor<4xf64>) -> tensor<4xf64>
  return
}

// -----

func.func @signed(%x: tensor<4xsi32>) {
  // expected-error @+1 {{[graph.dtype]}}
  %0 = graph.neg %x : (tensor<4xsi32>) -> tensor<4xsi32>
  return
}

// -----

func.func @huge(%x: tensor<1099511627776x1099511627776xf32>) {
  // expected-error @+1 {{has more than 2^47 elements, or a negative size [graph.size]}}
  %0 = graph.exp %x : (tensor<1099511627776x1099511627776xf32>)
      -> tensor<1099511627776x1099511627776xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error @+1 {{rank 9 exceeds 8 [graph.rank]}}
  %0 = graph.exp %x : (tensor<1x1x1x1x1x1x1x1x1xf32>)
      -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

// Sizes of zero are ordinary.
func.func @zero(%x: tensor<0x9223372036854775807xf32>) {
  // expected-error @+1 {{[graph.size]}}
  %0 = graph.exp %x : (tensor<0x9223372036854775807xf32>)
      -> tensor<0x9223372036854775807xf32>
  return
}

// -----

// expected-error @+1 {{#graph.dims names 1 dimensions of a tensor of rank 2}}
func.func private @count(tensor<?x2xf32, #graph.dims<"S">>)

// -----

// expected-error @+1 {{#graph.dims says 3 where the tensor says ?}}
func.func private @constant(tensor<?xf32, #graph.dims<3>>)

// -----

// expected-error @+1 {{#graph.dims says S where the tensor says 3}}
func.func private @symbol(tensor<3xf32, #graph.dims<"S">>)

// -----

// expected-error @+1 {{'S+' is not a dimension}}
func.func private @text(tensor<?xf32, #graph.dims<"S+">>)

// -----

// expected-error @+1 {{a dimension must not be negative}}
func.func private @negative(tensor<?xf32, #graph.dims<-1>>)

// -----

func.func @missing(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'axis'}}
  %0 = graph.softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.softmax' op attribute 'axis' failed to satisfy constraint}}
  %0 = graph.softmax %x {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @label(%x: tensor<4xf32>) {
  // expected-error @+1 {{label must be a string}}
  %0 = graph.exp %x {label = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error @+1 {{op 'exp': unknown attribute 'fast' [exp.attrs]}}
  %0 = graph.exp %x {fast = true} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
