//===- Passes.td - fusion as a pass ------------------------*- tablegen -* ===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_PASSES_FUSION_PASSES_TD
#define AZULEJO_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormRegionsPass
    : Pass<"azulejo-form-regions", "::mlir::func::FuncOp"> {
  let summary = "Partition a graph into regions that become one kernel each";
  let description = [{
    ```mlir
    %p = graph.matmul %a, %b {transpose_a = false, transpose_b = false}
    %y = graph.silu %p
    ```
    becomes
    ```mlir
    %y = graph.fused "Matmul" named "first_0"(%a, %b) ... {
      %p = graph.matmul ...
      %s = graph.silu %p
      graph.yield %s
    }
    ```

    Vertical merges (a producer with its readers) come first, then horizontal
    ones (siblings that read the same tensors). Two groups merge if no path
    leaves the result and comes back, and if a family of schedules can run the
    result as one kernel. Ops that only move data are copied into every group
    that reads them. Each refused merge is a remark with its rule and reason.
  }];
  // Which family runs a region is asked of an oracle, which whoever joins the
  // layers passes in and registers the pass with (frontend/register).
  let constructor = "::azulejo::fusion::createFormRegionsPass(nullptr)";
  let options = [
    Option<"fuse", "fuse", "bool", "true", "merge ops; off: one region per op">
  ];
}

#endif // AZULEJO_PASSES_FUSION_PASSES_TD
