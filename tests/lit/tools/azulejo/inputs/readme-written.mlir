// Attention as a textbook writes it.
// README.md says that it is one kernel.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t0 = tensor<1x8x?x64xf32, #graph.dims<1, 8, "S", 64>>
!t1 = tensor<?x?xi1, #graph.dims<"S", "S">>
!t2 = tensor<1x8x?x?xf32, #graph.dims<1, 8, "S", "S">>
!t3 = tensor<f32>
func.func @main(
    %arg0: !t0 {graph.name = "q"},
    %arg1: !t0 {graph.name = "k"},
    %arg2: !t0 {graph.name = "v"},
    %arg3: !t1 {graph.name = "m"})
    -> (!t0 {graph.name = "o"})
    attributes {graph.dims = [#graph.dim<"S", 1, 4096>]} {
  %0 = graph.matmul %arg0, %arg1 {transpose_a = false, transpose_b = true}
      : (!t0, !t0) -> !t2
  %1 = graph.constant  {dtype = f32, shape = #graph.dims<>,
      value = 1.250000e-01 : f64}
      : () -> !t3
  %2 = graph.mul %0, %1 : (!t2, !t3) -> !t2
  %3 = graph.constant  {dtype = f32, shape = #graph.dims<>,
      value = 0xFFF0000000000000 : f64}
      : () -> !t3
  %4 = graph.where %arg3, %2, %3 : (!t1, !t2, !t3) -> !t2
  %5 = graph.softmax %4 {axis = -1 : i64} : (!t2) -> !t2
  %6 = graph.matmul %5, %arg2 {transpose_a = false, transpose_b = false}
      : (!t2, !t0) -> !t0
  return %6 : !t0
}
