// A norm, a gate and a residual: six ops over one row.
// README.md says that it is one kernel.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!t0 = tensor<?x512xf32, #graph.dims<"T", 512>>
!t1 = tensor<512xf32>
func.func @main(
    %arg0: !t0 {graph.name = "x"},
    %arg1: !t1 {graph.name = "w"},
    %arg2: !t1 {graph.name = "a"},
    %arg3: !t1 {graph.name = "b"})
    -> (!t0 {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"T", 1, 4096>]} {
  %0 = graph.rms_norm %arg0, %arg1 {eps = 9.9999999999999995E-7 : f64}
      : (!t0, !t1) -> !t0
  %1 = graph.mul %0, %arg3 : (!t0, !t1) -> !t0
  %2 = graph.mul %0, %arg2 : (!t0, !t1) -> !t0
  %3 = graph.silu %2 : (!t0) -> !t0
  %4 = graph.mul %3, %1 : (!t0, !t0) -> !t0
  %5 = graph.add %4, %arg0 : (!t0, !t0) -> !t0
  return %5 : !t0
}
