// Five elementwise ops in a chain, each a kernel of its own without fusion.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
func.func @main(%x: tensor<8x64xf32> {graph.name = "x"})
    -> (tensor<8x64xf32> {graph.name = "y"}) {
  %0 = graph.silu %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = graph.tanh %0 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = graph.abs %1 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %3 = graph.exp %2 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %4 = graph.neg %3 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %4 : tensor<8x64xf32>
}
