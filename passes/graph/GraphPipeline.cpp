//===- GraphPipeline.cpp - the passes on whole graphs, in order -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/graph/Graph.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace azulejo;

void graphpasses::buildGraphPipeline(OpPassManager &functions, bool fuse) {
  functions.addPass(createCanonicaliseGraphPass());
  if (fuse)
    functions.addPass(createRaiseAttentionPass());
  else
    functions.addPass(createDecomposeAttentionPass({/*f32Scores=*/true}));
  // Both leave moves behind that join what stands next to them.
  functions.addPass(createCanonicaliseGraphPass());
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<bool> fuse{*this, "fuse",
                    llvm::cl::desc("raise attention; off: decompose it"),
                    llvm::cl::init(true)};
};
} // namespace

void graphpasses::registerPasses() {
  registerAzulejoGraphPasses();
  static PassPipelineRegistration<PipelineOptions> pipeline(
      "azulejo-graph-pipeline",
      "Canonical forms, and attention raised from plain ops: what a graph goes "
      "through before azulejo-form-regions",
      [](OpPassManager &pm, const PipelineOptions &options) {
        buildGraphPipeline(pm.nest<func::FuncOp>(), options.fuse);
      });
}
