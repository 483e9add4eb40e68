// RUN: azulejo-opt %s "-azulejo-lower-tile-to-host=target=cpu-avx512" -split-input-file -verify-diagnostics
// RUN: not azulejo-opt %s -split-input-file "-azulejo-lower-tile-to-host=target=abacus" 2>&1 | FileCheck %s
// What the CPU backend cannot run is an error at the op, never a crash.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: target 'abacus': no target has this name [target.name]

// expected-error@below {{has no knob 'rows'}}
tile.kernel @schedule attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = "RowChain{rows=4}"} {
^bb0(%x: !tile.view<f32, 1>):
}

// -----

// expected-error@below {{grid extent 'M + 1' is no symbol}}
tile.kernel @extent attributes {
    symbols = ["M"], gridExtents = ["M + 1"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 1>, %m: index):
}

// -----

tile.kernel @rank attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 3>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  // expected-error@below {{has an unsupported rank for the CPU}}
  tile.map at(%i, %i, %i) to(%n, %n, %n)
      attributes {shape = array<i64: 4, 4, 4>, kinds = [], pads = []} {
  ^bb0(%a: index, %b: index, %c: index):
    tile.yield
  }
}

// -----

tile.kernel @step attributes {
    symbols = ["M"], gridExtents = ["M"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 1>, %m: index):
  %i = arith.constant 0 : index
  // expected-error@below {{needs a constant step}}
  scf.for %at = %i to %m step %m {
  }
}

// -----

tile.kernel @carried attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 1>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  // expected-error@below {{carries something that is not a tile}}
  %r = scf.for %at = %i to %n step %n iter_args(%c = %i) -> (index) {
    scf.yield %c : index
  }
}

// -----

tile.kernel @moved attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 1>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %t = tile.fill %zero : f32 -> tensor<4xf32>
  // expected-error@below {{yields a tile that is not its carried one}}
  %r = scf.for %at = %i to %n step %n iter_args(%c = %t) -> (tensor<4xf32>) {
    %other = tile.fill %zero : f32 -> tensor<4xf32>
    scf.yield %other : tensor<4xf32>
  }
}

// -----

tile.kernel @scalar attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 1>):
  %one = arith.constant 1.0 : f32
  // expected-error@below {{is not an op of a tile program on the CPU}}
  %e = math.exp %one : f32
}

// -----

tile.kernel @transposed attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "Matmul", schedule = "Matmul{}"} {
^bb0(%x: !tile.view<f32, 1>):
  %n = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %l = tile.fill %zero : f32 -> tensor<4x2xf32>
  %r = tile.fill %zero : f32 -> tensor<8x2xf32>
  %a = tile.fill %zero : f32 -> tensor<4x8xf32>
  // expected-error@below {{the vector operand must be K x N on the CPU}}
  %p = tile.dot %l, %r, %a limits(%n, %n, %n) {transposeRhs}
      : tensor<4x2xf32>, tensor<8x2xf32> -> tensor<4x8xf32>
}
