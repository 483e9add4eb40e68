// RUN: env AZULEJO_CACHE=off azulejo compile %s --emit asm --device h200 --pin 'RowChain{rowTile=1,laneChunk=256,blockThreads=64}' > %t
// RUN: FileCheck %s --check-prefix=ERF < %t
// RUN: FileCheck %s --check-prefix=NEVER < %t
// RUN: sed s/gelu_erf/gelu_tanh/ %s > %t.mlir
// RUN: env AZULEJO_CACHE=off azulejo compile %t.mlir --emit asm --device h200 --pin 'RowChain{rowTile=1,laneChunk=256,blockThreads=64}' > %t
// RUN: FileCheck %s --check-prefix=TANH < %t
// RUN: FileCheck %s --check-prefix=NEVER < %t
// What gelu costs, in a body of four elements. gelu_erf: one exponential of the
// hardware and 12 instructions, as abs and neg are part of others. gelu_tanh:
// the exponential, a reciprocal and 6 more.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// ERF: .entry kernel(
// ERF: ld.global.v4
// ERF-COUNT-4: add.rn.f32
// ERF-NOT: .f32
// ERF-COUNT-4: abs.f32
// ERF-NOT: .f32
// ERF-COUNT-4: min.NaN.f32
// ERF-NOT: .f32
// ERF-COUNT-40: fma.rn.f32
// ERF-NOT: .f32
// ERF-COUNT-4: ex2.approx.ftz.f32
// ERF-NOT: .f32
// ERF-COUNT-4: max.NaN.f32
// ERF-NOT: .f32
// ERF-COUNT-4: neg.f32
// ERF-NOT: .f32
// ERF-COUNT-4: fma.rn.f32
// ERF-NOT: .f32
// ERF: st.global

// TANH: .entry kernel(
// TANH: ld.global.v4
// TANH-COUNT-4: add.rn.f32
// TANH-NOT: .f32
// TANH-COUNT-4: max.NaN.f32
// TANH-NOT: .f32
// TANH-COUNT-4: mul.rn.f32
// TANH-NOT: .f32
// TANH-COUNT-4: fma.rn.f32
// TANH-NOT: .f32
// TANH-COUNT-4: mul.rn.f32
// TANH-NOT: .f32
// TANH-COUNT-4: ex2.approx.ftz.f32
// TANH-NOT: .f32
// TANH-COUNT-4: add.rn.f32
// TANH-NOT: .f32
// TANH-COUNT-4: rcp.approx.ftz.f32
// TANH-NOT: .f32
// TANH-COUNT-4: mul.rn.f32
// TANH-NOT: .f32
// TANH: st.global

// NEVER-NOT: div.
// NEVER-NOT: selp.f32
// NEVER-NOT: copysign
!x = tensor<4096x4096xf32>
!b = tensor<4096xf32>
func.func @main(%x: !x {graph.name = "x"}, %b: !b {graph.name = "b"})
    -> (!x {graph.name = "y"}) {
  %0 = graph.add %x, %b : (!x, !b) -> !x
  %1 = graph.gelu_erf %0 : (!x) -> !x
  return %1 : !x
}
