// RUN: azulejo-opt %s -azulejo-tile-to-kernel -split-input-file | FileCheck %s
// What a row program keeps in registers between its maps. Wrong if memory is
// read again where the row fits, or if too much is kept where it does not.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Three maps over a row of 2048 by 64 threads: x is kept for the second, the
// exponential for the third. Every thread has 32 lanes, all inside: no access
// has a predicate, and the eight of a thread are issued together.
// CHECK-LABEL: kernel.func @softmax threads(64)
// CHECK: ^bb0(%[[X:[^:]*]]: i64, %{{[^ ]*}}: i64, %[[Y:[^:]*]]: i64,
// CHECK: scf.for
// CHECK-COUNT-8: kernel.load f32, %[[X]][{{[^ ]*}}] align 16 -> f32, f32, f32, f32
// CHECK-NOT: kernel.load
// CHECK: arith.maximumf
// CHECK: kernel.warp_reduce "max"
// CHECK-COUNT-32: math.exp
// CHECK-NOT: math.exp
// CHECK: kernel.warp_reduce "sum"
// CHECK-COUNT-32: arith.divf
// CHECK: kernel.store f32, %[[Y]][{{[^ ]*}}] align 16
// CHECK: } else {
// CHECK-COUNT-32: kernel.load f32, %[[X]][{{[^ ]*}}] align 4 -> f32
// CHECK-NOT: kernel.load
// CHECK-COUNT-32: math.exp
// CHECK-NOT: math.exp
tile.kernel @softmax attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 4>, family = "RowChain",
    schedule = "RowChain{rowTile=4,blockThreads=64}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %rows: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %lanes = arith.constant 2048 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %lows = tile.fill %low : f32 -> tensor<4xf32>
  %zeros = tile.fill %zero : f32 -> tensor<4xf32>
  %most = tile.map at(%row, %c0) to(%rows, %lanes) inits(%lows : tensor<4xf32>)
      attributes {shape = array<i64: 4, 2048>, kinds = ["max"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %a : f32
  } -> tensor<4xf32>
  %sum = tile.map at(%row, %c0) to(%rows, %lanes) ins(%most : tensor<4xf32>)
      inits(%zeros : tensor<4xf32>)
      attributes {shape = array<i64: 4, 2048>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index, %m: f32):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    tile.yield %e : f32
  } -> tensor<4xf32>
  tile.map at(%row, %c0) to(%rows, %lanes)
      ins(%most, %sum : tensor<4xf32>, tensor<4xf32>)
      attributes {shape = array<i64: 4, 2048>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %m: f32, %s: f32):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %p = arith.divf %e, %s : f32
    tile.write %p, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// Two rows per warp: no shared memory, no barrier; teams beyond the last row
// have no lanes and take part in the folds.
// CHECK-LABEL: kernel.func @teams threads(64)
// CHECK: ^bb0(%[[X:[^:]*]]: i64, %{{.*}}: i64, %{{.*}}: i64,
// CHECK-NOT: kernel.shared_alloc
// CHECK-NOT: kernel.barrier
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to %[[COUNT:.*]] step %{{.*}} : i64 {
// CHECK: %[[MINE:.*]] = arith.addi %[[AT]], %{{.*}} : i64
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[MINE]], %[[COUNT]]
// CHECK: arith.select %[[THERE]]
// CHECK-COUNT-2: kernel.load f32, %[[X]][{{.*}}] if %{{.*}} align 16
// CHECK-NOT: kernel.load
// CHECK: kernel.warp_reduce "sum" %{{.*}} lanes 16
// CHECK-NOT: kernel.load
// CHECK: } else {
tile.kernel @teams attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 4>, family = "RowChain",
    schedule = "RowChain{rowTile=4,blockThreads=64,rowThreads=16}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %rows: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %lanes = arith.constant 100 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : f32 -> tensor<4xf32>
  %sum = tile.map at(%row, %c0) to(%rows, %lanes) inits(%zeros : tensor<4xf32>)
      attributes {shape = array<i64: 4, 100>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %a : f32
  } -> tensor<4xf32>
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%sum : tensor<4xf32>)
      attributes {shape = array<i64: 4, 100>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %s: f32):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %p = arith.divf %a, %s : f32
    tile.write %p, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// 128 lanes per thread do not fit: both maps loop over memory. The lanes of a
// dynamic extent are those of the map's shape at most.
// CHECK-LABEL: kernel.func @too_long threads(64)
// CHECK: ^bb0(%[[X:[^:]*]]: i64,
// CHECK: scf.for
// CHECK: scf.for
// CHECK: kernel.load f32, %[[X]][{{[^ ]*}}] align 16
// CHECK: kernel.warp_reduce
// CHECK: scf.for
// CHECK: kernel.load f32, %[[X]][{{[^ ]*}}] align 16
tile.kernel @too_long attributes {symbols = ["M", "N"], gridExtents = ["M"],
    gridTiles = array<i64: 4>, family = "RowChain",
    schedule = "RowChain{rowTile=4,blockThreads=64}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %rows: index,
     %lanes: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : f32 -> tensor<4xf32>
  %sum = tile.map at(%row, %c0) to(%rows, %lanes) inits(%zeros : tensor<4xf32>)
      attributes {shape = array<i64: 4, 8192>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %a : f32
  } -> tensor<4xf32>
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%sum : tensor<4xf32>)
      attributes {shape = array<i64: 4, 8192>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %s: f32):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %p = arith.divf %a, %s : f32
    tile.write %p, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// A thread of a block of 1024 has few registers: the two inputs (24) fit, what
// the second map needs of them (36) does not, so that is computed again, and
// hidden from whoever would see that it need not be.
// CHECK-LABEL: kernel.func @reads_only threads(1024)
// CHECK: ^bb0(%[[X:[^:]*]]: i64, %{{[^ ]*}}: i64, %[[R:[^:]*]]: i64,
// CHECK: kernel.warp_reduce
// CHECK-NOT: kernel.load f32, %[[X]]
// CHECK-NOT: kernel.load f32, %[[R]]
// CHECK: kernel.opaque
// CHECK: math.tanh
// CHECK: math.absf
// CHECK: } else {
tile.kernel @reads_only attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 4>, family = "RowChain",
    schedule = "RowChain{rowTile=4,blockThreads=1024}"} {
^bb0(%x: !tile.view<f32, 2>, %r: !tile.view<f32, 2>, %y: !tile.view<f32, 2>,
     %z: !tile.view<f32, 2>, %u: !tile.view<f32, 2>, %rows: index):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %lanes = arith.constant 12288 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c4 : index
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : f32 -> tensor<4xf32>
  %sum = tile.map at(%row, %c0) to(%rows, %lanes) inits(%zeros : tensor<4xf32>)
      attributes {shape = array<i64: 4, 12288>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %b = tile.read %r[%i, %j] : !tile.view<f32, 2> -> f32
    %t = math.tanh %a : f32
    %n = math.absf %b : f32
    %o = arith.mulf %a, %b : f32
    %p = arith.addf %t, %n : f32
    %q = arith.addf %p, %o : f32
    tile.yield %q : f32
  } -> tensor<4xf32>
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%sum : tensor<4xf32>)
      attributes {shape = array<i64: 4, 12288>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %s: f32):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %b = tile.read %r[%i, %j] : !tile.view<f32, 2> -> f32
    %t = math.tanh %a : f32
    %n = math.absf %b : f32
    %o = arith.mulf %a, %b : f32
    %tt = arith.divf %t, %s : f32
    %nn = arith.divf %n, %s : f32
    %oo = arith.divf %o, %s : f32
    tile.write %tt, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.write %nn, %z[%i, %j] : f32, !tile.view<f32, 2>
    tile.write %oo, %u[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// Two values of 16 bits share a register, and the centred row of a norm is not
// kept for the sake of a subtraction: 32 words of 64 lanes, hidden from whoever
// would see that the second and the third map compute the same.
// CHECK-LABEL: kernel.func @narrow threads(128)
// CHECK: ^bb0(%[[X:[^:]*]]: i64,
// CHECK: scf.for
// CHECK-COUNT-8: kernel.load bf16, %[[X]][{{[^ ]*}}] align 16
// CHECK-NOT: kernel.load
// CHECK-COUNT-32: kernel.pack {{.*}} bf16
// CHECK-NOT: kernel.pack
// CHECK: kernel.warp_reduce "sum"
// CHECK-COUNT-32: kernel.opaque
// CHECK-NOT: kernel.opaque
// CHECK: kernel.warp_reduce "sum"
// CHECK-COUNT-32: kernel.opaque
// CHECK: kernel.store bf16
// CHECK: } else {
tile.kernel @narrow attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 1>, family = "RowChain",
    schedule = "RowChain{rowTile=1,blockThreads=128}"} {
^bb0(%x: !tile.view<bf16, 2>, %y: !tile.view<bf16, 2>, %rows: index):
  %c0 = arith.constant 0 : index
  %lanes = arith.constant 8192 : index
  %row = tile.program_id 0
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : f32 -> tensor<1xf32>
  %sum = tile.map at(%row, %c0) to(%rows, %lanes) inits(%zeros : tensor<1xf32>)
      attributes {shape = array<i64: 1, 8192>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
    tile.yield %a : f32
  } -> tensor<1xf32>
  %squares = tile.map at(%row, %c0) to(%rows, %lanes)
      ins(%sum : tensor<1xf32>) inits(%zeros : tensor<1xf32>)
      attributes {shape = array<i64: 1, 8192>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index, %m: f32):
    %a = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
    %d = arith.subf %a, %m : f32
    %e = arith.mulf %d, %d : f32
    tile.yield %e : f32
  } -> tensor<1xf32>
  tile.map at(%row, %c0) to(%rows, %lanes)
      ins(%sum, %squares : tensor<1xf32>, tensor<1xf32>)
      attributes {shape = array<i64: 1, 8192>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %m: f32, %s: f32):
    %a = tile.read %x[%i, %j] : !tile.view<bf16, 2> -> f32
    %d = arith.subf %a, %m : f32
    %p = arith.mulf %d, %s : f32
    tile.write %p, %y[%i, %j] : f32, !tile.view<bf16, 2>
    tile.yield
  }
}

// -----

// What registers do not hold lies in shared memory, in words that only their
// thread looks at: 128 values, 32 of them in registers (a quarter of what a
// thread of 512 can have).
// CHECK-LABEL: kernel.func @shared threads(512)
// CHECK: ^bb0(%[[X:[^:]*]]: i64,
// CHECK: %[[WORDS:.*]] = kernel.shared_alloc at {{.*}} : <i32, 49152>
// CHECK: scf.for
// CHECK-COUNT-96: kernel.shared_store %[[WORDS]]
// CHECK: kernel.warp_reduce "sum"
// CHECK-NOT: kernel.load f32, %[[X]]
// CHECK-COUNT-96: kernel.shared_load %[[WORDS]]
// CHECK: } else {
tile.kernel @shared attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 1>, family = "RowChain", sharedBytes = 232448 : i64,
    schedule = "RowChain{rowTile=1,blockThreads=512}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %rows: index):
  %c0 = arith.constant 0 : index
  %lanes = arith.constant 65536 : index
  %row = tile.program_id 0
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : f32 -> tensor<1xf32>
  %sum = tile.map at(%row, %c0) to(%rows, %lanes) inits(%zeros : tensor<1xf32>)
      attributes {shape = array<i64: 1, 65536>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %a : f32
  } -> tensor<1xf32>
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%sum : tensor<1xf32>)
      attributes {shape = array<i64: 1, 65536>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %s: f32):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %p = arith.divf %a, %s : f32
    tile.write %p, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// A row of any length up to 40961: 20 groups of four f32 and one lane that fills
// no group, which has its word, too. 32 of the 81 stay in registers.
// CHECK-LABEL: kernel.func @left_over threads(512)
// CHECK: %[[WORDS:.*]] = kernel.shared_alloc at {{.*}} : <i32, 25088>
// CHECK-COUNT-49: kernel.shared_store %[[WORDS]]
// CHECK-NOT: kernel.shared_store %[[WORDS]]
// CHECK: kernel.warp_reduce "sum"
// CHECK-COUNT-49: kernel.shared_load %[[WORDS]]
// CHECK-NOT: kernel.shared_load %[[WORDS]]
// CHECK: } else {
tile.kernel @left_over attributes {symbols = ["M", "N"], gridExtents = ["M"],
    gridTiles = array<i64: 1>, family = "RowChain", sharedBytes = 232448 : i64,
    schedule = "RowChain{rowTile=1,blockThreads=512}"} {
^bb0(%x: !tile.view<f32, 2>, %y: !tile.view<f32, 2>, %rows: index,
     %lanes: index):
  %c0 = arith.constant 0 : index
  %row = tile.program_id 0
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : f32 -> tensor<1xf32>
  %sum = tile.map at(%row, %c0) to(%rows, %lanes) inits(%zeros : tensor<1xf32>)
      attributes {shape = array<i64: 1, 40961>, kinds = ["sum"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    tile.yield %a : f32
  } -> tensor<1xf32>
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%sum : tensor<1xf32>)
      attributes {shape = array<i64: 1, 40961>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %s: f32):
    %a = tile.read %x[%i, %j] : !tile.view<f32, 2> -> f32
    %p = arith.divf %a, %s : f32
    tile.write %p, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}

// -----

// Integers of 64 bits are no words: a row that registers do not hold is read
// again, and no shared memory is asked for in vain.
// CHECK-LABEL: kernel.func @no_words threads(512)
// CHECK: ^bb0(%[[X:[^:]*]]: i64,
// CHECK-NOT: kernel.shared_alloc {{.*}} : <i32
// CHECK: kernel.warp_reduce "max"
// CHECK: kernel.load i64, %[[X]]
tile.kernel @no_words attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 1>, family = "RowChain", sharedBytes = 232448 : i64,
    schedule = "RowChain{rowTile=1,blockThreads=512}"} {
^bb0(%x: !tile.view<i64, 2>, %y: !tile.view<i64, 2>, %rows: index):
  %c0 = arith.constant 0 : index
  %lanes = arith.constant 40960 : index
  %row = tile.program_id 0
  %zero = arith.constant 0 : i64
  %zeros = tile.fill %zero : i64 -> tensor<1xi64>
  %most = tile.map at(%row, %c0) to(%rows, %lanes) inits(%zeros : tensor<1xi64>)
      attributes {shape = array<i64: 1, 40960>, kinds = ["max"], pads = [0.0]} {
  ^bb0(%i: index, %j: index):
    %a = tile.read %x[%i, %j] : !tile.view<i64, 2> -> i64
    tile.yield %a : i64
  } -> tensor<1xi64>
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%most : tensor<1xi64>)
      attributes {shape = array<i64: 1, 40960>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %m: i64):
    %a = tile.read %x[%i, %j] : !tile.view<i64, 2> -> i64
    %p = arith.subi %a, %m : i64
    tile.write %p, %y[%i, %j] : i64, !tile.view<i64, 2>
    tile.yield
  }
}

// -----

// Parts added up in a loop: the tile of whole rows that the loop carries is the
// four lanes of each thread, in registers.
// CHECK-LABEL: kernel.func @carried threads(64)
// CHECK: ^bb0(%[[X:[^:]*]]: i64,
// CHECK: %[[SUM:.*]]:4 = scf.for {{.*}} iter_args(%[[A:[^ ]*]] = %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (f32, f32, f32, f32)
// CHECK: %[[P:.*]]:4 = kernel.load f32, %[[X]][{{[^ ]*}}] align 16
// CHECK: %[[N:.*]] = arith.addf %[[A]], %[[P]]#0
// CHECK: scf.yield %[[N]],
// CHECK: kernel.store f32, {{.*}} align 16, %[[SUM]]#0, %[[SUM]]#1, %[[SUM]]#2, %[[SUM]]#3
tile.kernel @carried attributes {symbols = ["M"], gridExtents = ["M"],
    gridTiles = array<i64: 2>, family = "RowChain",
    schedule = "RowChain{rowTile=2,blockThreads=64}"} {
^bb0(%x: !tile.view<f32, 3>, %y: !tile.view<f32, 2>, %rows: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %parts = arith.constant 16 : index
  %lanes = arith.constant 256 : index
  %item = tile.program_id 0
  %row = arith.muli %item, %c2 : index
  %zero = arith.constant 0.0 : f32
  %start = tile.fill %zero : f32 -> tensor<2x256xf32>
  %sum = scf.for %p = %c0 to %parts step %c1
      iter_args(%so = %start) -> (tensor<2x256xf32>) {
    %next = tile.map at(%row, %c0) to(%rows, %lanes)
        ins(%so : tensor<2x256xf32>)
        attributes {shape = array<i64: 2, 256>, kinds = ["tile"], pads = [0.0]} {
    ^bb0(%i: index, %j: index, %far: f32):
      %a = tile.read %x[%p, %i, %j] : !tile.view<f32, 3> -> f32
      %b = arith.addf %far, %a : f32
      tile.yield %b : f32
    } -> tensor<2x256xf32>
    scf.yield %next : tensor<2x256xf32>
  }
  tile.map at(%row, %c0) to(%rows, %lanes) ins(%sum : tensor<2x256xf32>)
      attributes {shape = array<i64: 2, 256>, kinds = [], pads = []} {
  ^bb0(%i: index, %j: index, %s: f32):
    tile.write %s, %y[%i, %j] : f32, !tile.view<f32, 2>
    tile.yield
  }
}
