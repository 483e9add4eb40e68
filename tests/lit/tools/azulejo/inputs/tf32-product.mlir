// A product that may round its operands to tf32.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t = tensor<1024x1024xf32>
func.func @main(%a: !t {graph.name = "a"}, %b: !t {graph.name = "b"}) -> (!t {graph.name = "c"}) {
  %0 = graph.matmul %a, %b {precision = "tf32", transpose_a = false, transpose_b = true} : (!t, !t) -> !t
  return %0 : !t
}
