//===- Graph.h - passes from graph to graph ---------------------*- C++ -*-===//
//
// Rewrites of whole-tensor programs that need to know no device. The passes
// are declared in Passes.td; the functions here serve code that rewrites a
// single op or block on the way to something else.
//
// Every rewrite keeps the numerics contract: it is exact, or states in its
// description which rounding it moves.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_GRAPH_GRAPH_H
#define AZULEJO_PASSES_GRAPH_GRAPH_H

#include "ir/graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace azulejo::graphpasses {

struct DecomposeAttentionOptions {
  /// Compute f16 and bf16 scores as f32 products, without a rounding.
  bool f32Scores = false;
};

/// Replaces one attention op by products, maps and reductions. Fails, with an
/// error at the op, only where a result would exceed the graph's limits.
mlir::LogicalResult
decomposeAttention(graphir::AttentionOp op,
                   const DecomposeAttentionOptions &options = {});

/// Replaces every softmax, layer_norm and rms_norm of `block` by reductions
/// with kept axes and maps, in f32; nested regions are left alone. `count`, if
/// given, grows by the number of ops replaced.
mlir::LogicalResult decomposeNormalise(mlir::Block &block,
                                       int64_t *count = nullptr);

/// The exact rewrites of azulejo-canonicalise-graph, for reuse.
void populateCanonicaliseGraphPatterns(mlir::RewritePatternSet &patterns);

#define GEN_PASS_DECL
#include "passes/graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/Passes.h.inc"

/// What a graph goes through before it is partitioned into regions: canonical
/// forms, then attention raised from plain ops, or, for the unfused plan,
/// spelled in them. `functions` is nested on functions.
void buildGraphPipeline(mlir::OpPassManager &functions, bool fuse);

/// Registers all passes of this folder, and the pipeline as
/// azulejo-graph-pipeline.
void registerPasses();

} // namespace azulejo::graphpasses

#endif // AZULEJO_PASSES_GRAPH_GRAPH_H
