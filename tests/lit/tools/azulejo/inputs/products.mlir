// Two products that no kernel can hold together.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t = tensor<64x64xf32>
func.func @main(%x: !t {graph.name = "x"}, %w: !t {graph.name = "w"})
    -> (!t {graph.name = "y"}) attributes {graph.dims = []} {
  %0 = graph.matmul %x, %w {transpose_a = false, transpose_b = false,
                            label = "first"} : (!t, !t) -> !t
  %1 = graph.silu %0 {label = "act"} : (!t) -> !t
  %2 = graph.matmul %1, %w {transpose_a = false, transpose_b = false,
                            label = "second"} : (!t, !t) -> !t
  return %2 : !t
}
