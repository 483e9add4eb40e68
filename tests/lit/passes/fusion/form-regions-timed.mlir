// REQUIRES: tool-azulejo
// RUN: azulejo compile %s --cache off --device h200 --emit fused -o - | FileCheck %s --check-prefix=ROLES
// RUN: azulejo explain %s --cache off --device h200 | FileCheck %s --check-prefix=WHY
// RUN: azulejo compile %s --cache off --device a100 --emit fused -o - | FileCheck %s --check-prefix=ONE
// RUN: azulejo compile %s --cache off --device cpu --emit fused -o - | FileCheck %s --check-prefix=ONE
// Where an operand that is computed on its way keeps a large product from the
// bulk copies and the warp groups that a device has, it is computed before.
// Wrong if that happens on a device without them, to few rows, whose kernel
// waits for the weights anyway, to f32, or to what stands behind the product.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// ROLES: graph.fused "RowChain" named "front_
// ROLES: graph.fused "Matmul" named "many_
// ROLES-NEXT: ^bb0
// ROLES-NEXT: graph.matmul
// ROLES: graph.fused "SmallM" named "few_
// ROLES-NEXT: ^bb0
// ROLES-NEXT: graph.silu
// ROLES: graph.fused "Matmul" named "wide_
// ROLES-NEXT: ^bb0
// ROLES-NEXT: graph.silu
// ROLES: graph.fused "Matmul" named "behind_
// ROLES-NEXT: ^bb0
// ROLES-NEXT: graph.matmul
// ROLES-NEXT: graph.silu
// ROLES-NOT: graph.fused

// WHY: {{vertical +front, many +one kernel would take about [0-9.]+ us, two take [0-9.]+ and [0-9.]+: an operand that is computed on its way is not copied in bulk}}
// WHY-NOT: one kernel would take

// ONE-COUNT-4: graph.fused "{{Matmul|SmallM}}"
// ONE-NOT: graph.fused
func.func @main(%x: tensor<4096x4096xbf16> {graph.name = "x"},
                %f: tensor<16x4096xbf16> {graph.name = "f"},
                %v: tensor<4096x512xf32> {graph.name = "v"},
                %u: tensor<512x256xf32> {graph.name = "u"},
                %w: tensor<4096x4096xbf16> {graph.name = "w"})
    -> (tensor<4096x4096xbf16> {graph.name = "y"},
        tensor<16x4096xbf16> {graph.name = "z"},
        tensor<4096x256xf32> {graph.name = "t"},
        tensor<4096x4096xbf16> {graph.name = "s"}) {
  %0 = graph.silu %x {label = "front"}
      : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %1 = graph.matmul %0, %w {transpose_a = false, transpose_b = false,
                            label = "many"}
      : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %2 = graph.silu %f : (tensor<16x4096xbf16>) -> tensor<16x4096xbf16>
  %3 = graph.matmul %2, %w {transpose_a = false, transpose_b = false,
                            label = "few"}
      : (tensor<16x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<16x4096xbf16>
  %4 = graph.silu %v : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %5 = graph.matmul %4, %u {transpose_a = false, transpose_b = false,
                            label = "wide"}
      : (tensor<4096x512xf32>, tensor<512x256xf32>) -> tensor<4096x256xf32>
  %6 = graph.matmul %x, %w {transpose_a = false, transpose_b = false,
                            label = "behind"}
      : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %7 = graph.silu %6 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %1, %3, %5, %7 : tensor<4096x4096xbf16>, tensor<16x4096xbf16>,
      tensor<4096x256xf32>, tensor<4096x4096xbf16>
}
