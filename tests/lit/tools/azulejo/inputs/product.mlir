// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t = tensor<64x64xf32>
func.func @main(%a: !t {graph.name = "a"}, %b: !t {graph.name = "b"}) -> (!t {graph.name = "c"}) {
  %0 = graph.matmul %a, %b {transpose_a = false, transpose_b = false} : (!t, !t) -> !t
  return %0 : !t
}
