// A product that tensor cores and bulk copies serve.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
!x = tensor<?x512xbf16, #graph.dims<"M", 512>>
!w = tensor<512x256xbf16>
!y = tensor<?x256xbf16, #graph.dims<"M", 256>>
func.func @main(%x: !x {graph.name = "x"}, %w: !w {graph.name = "w"})
    -> (!y {graph.name = "y"})
    attributes {graph.dims = [#graph.dim<"M", 1, 4096>]} {
  %0 = graph.matmul %x, %w {transpose_a = false, transpose_b = false} : (!x, !w) -> !y
  return %0 : !y
}
