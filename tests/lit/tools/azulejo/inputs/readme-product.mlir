// A product, its bias, activation and residual.
// README.md says that it is one kernel.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t0 = tensor<?x512xf32, #graph.dims<"T", 512>>
!t1 = tensor<512x256xf32>
!t2 = tensor<256xf32>
!t3 = tensor<?x256xf32, #graph.dims<"T", 256>>
func.func @main(
    %arg0: !t0 {graph.name = "x"},
    %arg1: !t1 {graph.name = "w"},
    %arg2: !t2 {graph.name = "b"},
    %arg3: !t3 {graph.name = "r"})
    -> (!t3 {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"T", 1, 4096>]} {
  %0 = graph.matmul %arg0, %arg1 {transpose_a = false, transpose_b = false}
      : (!t0, !t1) -> !t3
  %1 = graph.add %0, %arg2 : (!t3, !t2) -> !t3
  %2 = graph.gelu_erf %1 : (!t3) -> !t3
  %3 = graph.add %2, %arg3 : (!t3, !t3) -> !t3
  return %3 : !t3
}
