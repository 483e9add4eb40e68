//===- Passes.td - graph to graph --------------------------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_GRAPH_PASSES_TD
#define AZULEJO_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def CanonicaliseGraphPass
    : Pass<"azulejo-canonicalise-graph", "::mlir::func::FuncOp"> {
  let summary = "Give one spelling to what means the same, exactly";
  let description = [{
    ```mlir
    %t = graph.transpose %b {perm = array<i64: 0, 2, 1>}
    %m = graph.matmul %a, %t {transpose_a = false, transpose_b = false}
    %y = graph.mul %m, %one
    ```
    becomes
    ```mlir
    %y = graph.matmul %a, %b {transpose_a = false, transpose_b = true}
    ```

    Moves that do nothing go, moves of moves merge, transposes join products and
    the layout of attention,
    broadcasts in front of ops that stretch by themselves go, and constants
    fold where the result is held without rounding. Every rewrite is exact for
    all inputs: x + 0.0 stays (it turns -0.0 into 0.0), x + -0.0 does not; a
    cast pair goes only when the first cast loses nothing, so f32 -> f16 -> f32
    stays and f16 -> f32 -> f16 does not. Unused ops are removed. Equal ops are
    left to the CSE pass.
  }];
}

def RaiseAttentionPass
    : Pass<"azulejo-raise-attention", "::mlir::func::FuncOp"> {
  let summary = "Recognise attention that is spelled in plain ops";
  let description = [{
    ```mlir
    %s = graph.matmul %q, %k {transpose_a = false, transpose_b = true}
    %t = graph.mul %s, %scale
    %m = graph.where %causal, %t, %minusInfinity
    %p = graph.softmax %m {axis = 3 : i64}
    %o = graph.matmul %p, %v {transpose_a = false, transpose_b = false}
    ```
    becomes
    ```mlir
    %o = graph.attention %q, %k, %v {causal = "top_left", scale = ...}
    ```

    Scales may be products or quotients, on the scores, on q, on k or on both;
    then an optional softcap; then biases and masks. Conditions that compare
    iotas become a causal alignment and a window, others stay boolean masks.
    Leading axes may be merged, grouped or reshaped on the way, and KV heads
    repeated by broadcast, concat or gather are read in place.

    What moves: scores are no longer rounded to f16 or bf16 before the softmax
    (an explicit cast to a type other than that of q, k and v is kept, by not
    raising). A row whose keys are all at -inf gives 0 instead of NaN, as the
    numerics contract says. A mask that fills with a finite number is raised
    as a bias, so rows that it masks entirely keep their uniform mean; it
    becomes an alignment only where every query is sure to keep a key.

    What is almost attention leaves a note in `graph.notes`.
  }];
}

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
}

#endif // AZULEJO_PASSES_GRAPH_PASSES_TD
