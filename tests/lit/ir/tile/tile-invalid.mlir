// RUN: azulejo-opt %s -split-input-file -verify-diagnostics
// Every rule of the verifiers, broken once.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// expected-error@below {{has fewer arguments than symbols}}
tile.kernel @symbols attributes {
    symbols = ["M", "N"], gridExtents = [], gridTiles = array<i64>,
    family = "RowChain", schedule = ""} {
^bb0(%m: index):
}

// -----

// expected-error@below {{argument 1 is no view}}
tile.kernel @views attributes {
    symbols = ["M"], gridExtents = ["M"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%x: !tile.view<f32, 1>, %y: f32, %m: index):
}

// -----

// expected-error@below {{symbol argument 1 is no index}}
tile.kernel @symbol_type attributes {
    symbols = ["M"], gridExtents = ["M"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%x: !tile.view<f32, 1>, %m: i64):
}

// -----

// expected-error@below {{needs one grid tile per grid extent}}
tile.kernel @grid attributes {
    symbols = [], gridExtents = ["8", "8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%x: !tile.view<f32, 1>):
}

// -----

// expected-error@below {{grid tiles must be positive}}
tile.kernel @grid_tile attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 0>,
    family = "RowChain", schedule = ""} {
^bb0(%x: !tile.view<f32, 1>):
}

// -----

tile.kernel @origin attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  // expected-error@below {{needs one origin and one extent per axis}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4, 4>, kinds = [], pads = []} {
  ^bb0(%c: index, %d: index):
    tile.yield
  }
}

// -----

tile.kernel @kinds attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  // expected-error@below {{needs one kind and one pad per result}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4>, kinds = ["tile"], pads = []} {
  ^bb0(%c: index):
    tile.yield %x : f32
  } -> tensor<4xf32>
}

// -----

tile.kernel @coordinates attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  // expected-error@below {{body takes the coordinates and one element per input}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4>, kinds = [], pads = []} {
  ^bb0(%c: index, %d: index):
    tile.yield
  }
}

// -----

tile.kernel @coordinate_type attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  // expected-error@below {{coordinates are of type index}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4>, kinds = [], pads = []} {
  ^bb0(%c: i64):
    tile.yield
  }
}

// -----

tile.kernel @input_shape attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %t = tile.fill %x : f32 -> tensor<4xf32>
  // expected-error@below {{input 0 does not fit the map's shape}}
  tile.map at(%i) to(%n) ins(%t : tensor<4xf32>)
      attributes {shape = array<i64: 8>, kinds = [], pads = []} {
  ^bb0(%c: index, %e: f32):
    tile.yield
  }
}

// -----

tile.kernel @input_element attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %t = tile.fill %x : f32 -> tensor<4xf32>
  // expected-error@below {{input 0 has another element type}}
  tile.map at(%i) to(%n) ins(%t : tensor<4xf32>)
      attributes {shape = array<i64: 4>, kinds = [], pads = []} {
  ^bb0(%c: index, %e: i32):
    tile.yield
  }
}

// -----

tile.kernel @yielded attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  // expected-error@below {{body must yield one value per result}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4>, kinds = ["tile"], pads = [0.0]} {
  ^bb0(%c: index):
    tile.yield
  } -> tensor<4xf32>
}

// -----

tile.kernel @kind attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  // expected-error@below {{kind must be tile, sum or max}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4>, kinds = ["product"], pads = [0.0]} {
  ^bb0(%c: index):
    tile.yield %x : f32
  } -> tensor<4xf32>
}

// -----

tile.kernel @result_shape attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  // expected-error@below {{result 0 does not fit its yielded value}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4>, kinds = ["tile"], pads = [0.0]} {
  ^bb0(%c: index):
    tile.yield %x : f32
  } -> tensor<8xf32>
}

// -----

tile.kernel @folded_shape attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %t = tile.fill %x : f32 -> tensor<4xf32>
  // expected-error@below {{result 0 does not fit its yielded value}}
  tile.map at(%i) to(%n)
        inits(%t : tensor<4xf32>)
      attributes {shape = array<i64: 4>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%c: index):
    tile.yield %x : f32
  } -> tensor<4xf32>
}

// -----

tile.kernel @result_element attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  // expected-error@below {{result 0 does not fit its yielded value}}
  tile.map at(%i) to(%n)
      attributes {shape = array<i64: 4>, kinds = ["tile"], pads = [0.0]} {
  ^bb0(%c: index):
    tile.yield %c : index
  } -> tensor<4xf32>
}

// -----

tile.kernel @no_init attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  // expected-error@below {{result 0 needs an init of its type}}
  tile.map at(%i, %i) to(%n, %n)
      attributes {shape = array<i64: 4, 8>, kinds = ["max"], pads = [0.0]} {
  ^bb0(%c: index, %d: index):
    tile.yield %x : f32
  } -> tensor<4xf32>
}

// -----

tile.kernel @other_init attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %b = tile.fill %x : f32 -> tensor<8xf32>
  // expected-error@below {{result 0 needs an init of its type}}
  tile.map at(%i, %i) to(%n, %n)
        inits(%b : tensor<8xf32>)
      attributes {shape = array<i64: 4, 8>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%c: index, %d: index):
    tile.yield %x : f32
  } -> tensor<4xf32>
}

// -----

tile.kernel @more_inits attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %t = tile.fill %x : f32 -> tensor<4xf32>
  // expected-error@below {{has more inits than folded results}}
  tile.map at(%i) to(%n) inits(%t : tensor<4xf32>)
      attributes {shape = array<i64: 4>, kinds = [], pads = []} {
  ^bb0(%c: index):
    tile.yield
  }
}

// -----

tile.kernel @read_rank attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  // expected-error@below {{needs one index per axis of the view}}
  %e = tile.read %v[%i] : !tile.view<bf16, 2> -> f32
}

// -----

tile.kernel @read_type attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  // expected-error@below {{element must have the view's compute type}}
  %e = tile.read %v[%i, %i] : !tile.view<bf16, 2> -> i32
}

// -----

tile.kernel @write_rank attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  // expected-error@below {{needs one index per axis of the view}}
  tile.write %x, %v[%i, %i, %i] : f32, !tile.view<bf16, 2>
}

// -----

tile.kernel @write_type attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %i = arith.constant 0 : index
  %k = arith.constant 1 : i64
  // expected-error@below {{element must have the view's compute type}}
  tile.write %k, %v[%i, %i] : i64, !tile.view<bf16, 2>
}

// -----

tile.kernel @dot_rank attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %l = tile.fill %x : f32 -> tensor<4xf32>
  %r = tile.fill %x : f32 -> tensor<4x8xf32>
  %a = tile.fill %x : f32 -> tensor<4x8xf32>
  // expected-error@below {{takes tiles of rank 2}}
  %p = tile.dot %l, %r, %a limits(%n, %n, %n)
      : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
}

// -----

tile.kernel @dot_depth attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %l = tile.fill %x : f32 -> tensor<4x2xf32>
  %r = tile.fill %x : f32 -> tensor<3x8xf32>
  %a = tile.fill %x : f32 -> tensor<4x8xf32>
  // expected-error@below {{tile shapes do not fit}}
  %p = tile.dot %l, %r, %a limits(%n, %n, %n)
      : tensor<4x2xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
}

// -----

tile.kernel @dot_rows attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %l = tile.fill %x : f32 -> tensor<4x2xf32>
  %r = tile.fill %x : f32 -> tensor<2x8xf32>
  %a = tile.fill %x : f32 -> tensor<5x8xf32>
  // expected-error@below {{tile shapes do not fit}}
  %p = tile.dot %l, %r, %a limits(%n, %n, %n)
      : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<5x8xf32>
}

// -----

tile.kernel @dot_columns attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %l = tile.fill %x : f32 -> tensor<4x2xf32>
  %r = tile.fill %x : f32 -> tensor<2x8xf32>
  %a = tile.fill %x : f32 -> tensor<4x9xf32>
  // expected-error@below {{tile shapes do not fit}}
  %p = tile.dot %l, %r, %a limits(%n, %n, %n)
      : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x9xf32>
}

// -----

tile.kernel @dot_transposed attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %l = tile.fill %x : f32 -> tensor<4x2xf32>
  %r = tile.fill %x : f32 -> tensor<2x8xf32>
  %a = tile.fill %x : f32 -> tensor<4x8xf32>
  // expected-error@below {{tile shapes do not fit}}
  %p = tile.dot %l, %r, %a limits(%n, %n, %n) {transposeRhs}
      : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
}

// -----

tile.kernel @dot_accumulator attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %n = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  %k = arith.constant 1 : i64
  %l = tile.fill %x : f32 -> tensor<4x2xf32>
  %r = tile.fill %x : f32 -> tensor<2x8xf32>
  %a = tile.fill %k : i64 -> tensor<4x8xi64>
  // expected-error@below {{accumulates in f32}}
  %p = tile.dot %l, %r, %a limits(%n, %n, %n)
      : tensor<4x2xf32>, tensor<2x8xf32> -> tensor<4x8xi64>
}

// -----

tile.kernel @softmax_scores attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %x = arith.constant 1.0 : f32
  %s = tile.fill %x : f32 -> tensor<4xf32>
  %m = tile.fill %x : f32 -> tensor<4xf32>
  %o = tile.fill %x : f32 -> tensor<4x8xf32>
  // expected-error@below {{state does not fit the scores}}
  %w:4 = tile.online_softmax %s, %m, %m, %o
      : tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
}

// -----

tile.kernel @softmax_state attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %x = arith.constant 1.0 : f32
  %s = tile.fill %x : f32 -> tensor<4x16xf32>
  %m = tile.fill %x : f32 -> tensor<5xf32>
  %o = tile.fill %x : f32 -> tensor<4x8xf32>
  // expected-error@below {{state does not fit the scores}}
  %w:4 = tile.online_softmax %s, %m, %m, %o
      : tensor<4x16xf32>, tensor<5xf32>, tensor<4x8xf32>
}

// -----

tile.kernel @softmax_output attributes {
    symbols = [], gridExtents = ["8"], gridTiles = array<i64: 1>,
    family = "RowChain", schedule = ""} {
^bb0(%v: !tile.view<bf16, 2>):
  %x = arith.constant 1.0 : f32
  %s = tile.fill %x : f32 -> tensor<4x16xf32>
  %m = tile.fill %x : f32 -> tensor<4xf32>
  %o = tile.fill %x : f32 -> tensor<5x8xf32>
  // expected-error@below {{state does not fit the scores}}
  %w:4 = tile.online_softmax %s, %m, %m, %o
      : tensor<4x16xf32>, tensor<4xf32>, tensor<5x8xf32>
}
