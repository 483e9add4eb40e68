// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// A fused region must fit its op, and the frame of a graph must be well-formed.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{the block arguments must have the types of the operands [fused.C1]}}
  graph.fused "F" (%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<5xf32>):
    graph.yield
  }
  return
}

// -----

func.func @results(%x: tensor<4xf32>) {
  // expected-error @+1 {{must end in a graph.yield of the results' types [fused.C2]}}
  %0 = graph.fused "F" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @foreign(%x: tensor<4xf32>) {
  graph.fused "F" (%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{'arith.addf' is not of the op set [fused.C3]}}
    %0 = arith.addf %a, %a : tensor<4xf32>
    graph.yield
  }
  return
}

// -----

// expected-error @+1 {{dimension 'S' is declared twice [dim.C3]}}
func.func private @twice() attributes {graph.dims = [#graph.dim<"S", 1, 2>, #graph.dim<"S", 1, 2>]}

// -----

// expected-error @+1 {{range 3 to 2 is not usable [dim.C2]}}
func.func private @range() attributes {graph.dims = [#graph.dim<"S", 3, 2>]}

// -----

// expected-error @+1 {{'2*S' is no name of a dimension [dim.C1]}}
func.func private @name() attributes {graph.dims = [#graph.dim<"2*S", 1, 2>]}

// -----

// expected-error @+1 {{graph.dims holds only #graph.dim}}
func.func private @kind() attributes {graph.dims = [1 : i64]}

// -----

// expected-error @+1 {{'graph.name' is not an attribute here, or of another kind}}
func.func private @argument(tensor<f32> {graph.name = 1 : i64})

// -----

// expected-error @+1 {{graph.typical gives dimensions of a function sizes, i64 and not negative}}
func.func private @less_than_nothing() attributes {graph.typical = {S = -1 : i64}}

// -----

// expected-error @+1 {{graph.most gives dimensions of a function sizes, i64 and not negative}}
func.func private @bounded_by_less_than_nothing() attributes {graph.most = {"B*S" = -1 : i64}}

// -----

// expected-error @+1 {{graph.typical gives dimensions of a function sizes}}
func.func private @no_size() attributes {graph.typical = {S = "large"}}
