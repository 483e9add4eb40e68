// REQUIRES: tool-azulejo
// RUN: azulejo compile %s --cache off --device h200 --emit tiled -o - | FileCheck %s
// A product of two types is one of their common type: f32 here, exactly. Wrong
// if either side's 16-bit type is taken for both, which rounds the other.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK-LABEL: tile.kernel
// CHECK: tile.dot
// CHECK-NOT: operandType
// CHECK: tile.kernel
// CHECK: tile.dot
// CHECK-NOT: operandType
// CHECK: tile.kernel
// CHECK: tile.dot {{.*}}{operandType = f16}
// CHECK-NOT: tile.kernel
func.func @main(%h: tensor<128x64xf16> {graph.name = "h"},
                %g: tensor<64x96xf16> {graph.name = "g"},
                %f: tensor<64x96xf32> {graph.name = "f"},
                %b: tensor<64x96xbf16> {graph.name = "b"})
    -> (tensor<128x96xf32> {graph.name = "hf"},
        tensor<128x96xf32> {graph.name = "hb"},
        tensor<128x96xf16> {graph.name = "hg"}) {
  %0 = graph.matmul %h, %f {transpose_a = false, transpose_b = false}
      : (tensor<128x64xf16>, tensor<64x96xf32>) -> tensor<128x96xf32>
  %1 = graph.matmul %h, %b {transpose_a = false, transpose_b = false}
      : (tensor<128x64xf16>, tensor<64x96xbf16>) -> tensor<128x96xf32>
  %2 = graph.matmul %h, %g {transpose_a = false, transpose_b = false}
      : (tensor<128x64xf16>, tensor<64x96xf16>) -> tensor<128x96xf16>
  return %0, %1, %2 : tensor<128x96xf32>, tensor<128x96xf32>, tensor<128x96xf16>
}
