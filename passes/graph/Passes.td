//===- Passes.td - graph to graph ---------------------------*- tablegen -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_GRAPH_PASSES_TD
#define AZULEJO_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeAttentionPass
    : Pass<"azulejo-decompose-attention", "::mlir::func::FuncOp"> {
  let summary = "Write attention as products, maps and reductions";
  let description = [{
    For plans that run attention unfused, and where no schedule family takes
    the op.

    ```mlir
    %o = graph.attention %q, %k, %v {scale = 0.125 : f64, ...}
    ```
    becomes
    ```mlir
    %s = graph.matmul %q, %k {transpose_b = true, ...}
    // in f32: scale, softcap, bias, ALiBi, then -inf where no key is visible
    // row maximum, exp, row sum, quotient; 0 for a row without visible keys
    %o = graph.matmul %p, %v
    ```

    Query heads that share a KV head become an own axis, so k and v are never
    repeated. Rows of v past `lengths` are replaced by 0, because 0 * NaN is
    NaN. The scores leave the first product in the element type of q, as a
    plain evaluation does, or in f32 with `f32-scores`.
  }];
  let options = [
    Option<"f32Scores", "f32-scores", "bool", "false",
           "do not round f16 and bf16 scores before the softmax">
  ];
  let statistics = [
    Statistic<"numDecomposed", "decomposed", "attention ops replaced">
  ];
}

def DecomposeNormalisePass
    : Pass<"azulejo-decompose-normalise", "::mlir::func::FuncOp"> {
  let summary = "Write softmax and norms as reductions and maps";
  let description = [{
    ```mlir
    %y = graph.softmax %x {axis = 1 : i64}
    ```
    becomes
    ```mlir
    %m = graph.reduce_max %x {axes = array<i64: 1>, keepdims = true}
    %d = graph.sub %x, %m
    %e = graph.exp %d
    %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims = true}
    %y = graph.div %e, %s
    ```

    layer_norm centres first and squares then, so that its variance does not
    cancel; rms_norm has no centre. Everything runs in f32: f16 and bf16 are
    cast once on the way in and once on the way out.
  }];
  let options = [
    Option<"fusedOnly", "fused-only", "bool", "false",
           "only touch the bodies of fused regions">
  ];
  let statistics = [
    Statistic<"numDecomposed", "decomposed", "normalisations replaced">
  ];
}

#endif // AZULEJO_PASSES_GRAPH_PASSES_TD
