// RUN: azulejo-opt %s -split-input-file -verify-diagnostics -azulejo-lower-tile-to-kernel
// What is no row program is refused with the reason.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// expected-error@below {{has no map}}
tile.kernel @empty attributes {symbols = [], gridExtents = [], gridTiles = array<i64>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 1>):
}

// -----

tile.kernel @kept attributes {symbols = [], gridExtents = ["8"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 2>):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %many = arith.constant 65536 : index
  // expected-error@below {{it keeps a tile of whole rows that may be long}}
  %t = tile.map at(%c0, %c0) to(%c8, %many)
      attributes {shape = array<i64: 4, 65536>, kinds = ["tile"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %a : f32
  } -> tensor<4x65536xf32>
}

// -----

tile.kernel @rank attributes {symbols = [], gridExtents = ["8"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 1>):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error@below {{its map has no rows and lanes}}
  tile.map at(%c0) to(%c8)
      attributes {shape = array<i64: 8>, kinds = [], pads = []} {
  ^bb0(%j: index):
    %a = tile.read %x[%j] : !tile.view<f32, 1> -> f32
    tile.write %a, %x[%j] : f32, !tile.view<f32, 1>
    tile.yield
  }
}

// -----

tile.kernel @rows attributes {symbols = [], gridExtents = ["8"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 2>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tile.map at(%c0, %c0) to(%c8, %c8)
      attributes {shape = array<i64: 4, 8>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    tile.yield
  }
  // expected-error@below {{its maps run over different rows}}
  tile.map at(%c4, %c0) to(%c8, %c8)
      attributes {shape = array<i64: 4, 8>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    tile.yield
  }
}

// -----

tile.kernel @type attributes {symbols = [], gridExtents = ["8"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f64, 2>):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tile.map at(%c0, %c0) to(%c8, %c8)
      attributes {shape = array<i64: 4, 8>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    // expected-error@below {{it reads a type that has no GPU conversion yet}}
    %a = tile.read %x[%i, %j] : !tile.view<f64, 2> -> f32
    tile.yield
  }
}

// -----

// expected-error@below {{grid extent 'M' is no symbol}}
tile.kernel @grid attributes {symbols = [], gridExtents = ["M"], gridTiles = array<i64: 4>,
    family = "RowChain", schedule = "RowChain{}"} {
^bb0(%x: !tile.view<f32, 2>):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tile.map at(%c0, %c0) to(%c8, %c8)
      attributes {shape = array<i64: 4, 8>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index):
    tile.yield
  }
}
