// RUN: env AZULEJO_CACHE=off azulejo compile %s --emit asm --device h200 --pin 'RowChain{rowTile=1,laneChunk=256,blockThreads=64}' > %t
// RUN: FileCheck %s --check-prefixes=GATE,SIGMOID < %t
// RUN: FileCheck %s --check-prefix=NEVER < %t
// RUN: sed s/graph.sigmoid/graph.silu/ %s > %t.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t.mlir --emit asm --device h200 --pin 'RowChain{rowTile=1,laneChunk=256,blockThreads=64}' > %t
// RUN: FileCheck %s --check-prefixes=GATE,SILU < %t
// RUN: FileCheck %s --check-prefix=NEVER < %t
// What they cost, in a body of four elements: an exponential and a reciprocal
// of the hardware and six instructions, and the product of silu.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// GATE: .entry kernel(
// GATE: ld.global.v4
// GATE-COUNT-4: add.rn.f32
// GATE-NOT: .f32
// GATE-COUNT-4: max.NaN.f32
// GATE-NOT: .f32
// GATE-COUNT-4: min.NaN.f32
// GATE-NOT: .f32
// GATE-COUNT-4: mul.rn.f32
// GATE-NOT: .f32
// GATE-COUNT-4: fma.rn.f32
// GATE-NOT: .f32
// GATE-COUNT-4: sub.rn.f32
// GATE-NOT: .f32
// GATE-COUNT-4: ex2.approx.ftz.f32
// GATE-NOT: .f32
// GATE-COUNT-4: fma.rn.f32
// GATE-NOT: .f32
// GATE-COUNT-4: rcp.approx.ftz.f32
// GATE-NOT: .f32
// SILU-COUNT-4: mul.rn.f32
// SILU-NOT: .f32
// SILU: st.global
// SIGMOID: st.global

// NEVER-NOT: div.
// NEVER-NOT: selp.f32
!x = tensor<4096x4096xf32>
!b = tensor<4096xf32>
func.func @main(%x: !x {graph.name = "x"}, %b: !b {graph.name = "b"})
    -> (!x {graph.name = "y"}) {
  %0 = graph.add %x, %b : (!x, !b) -> !x
  %1 = graph.sigmoid %0 : (!x) -> !x
  return %1 : !x
}
