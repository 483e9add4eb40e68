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

def MoveScalesPass : Pass<"azulejo-move-scales", "::mlir::func::FuncOp"> {
  let summary = "Move scales of rows and columns behind products";
  let description = [{
    ```mlir
    %n = graph.rms_norm %x {eps = 1.0e-05 : f64}
    %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false}
    ```
    becomes
    ```mlir
    // %r = 1 / sqrt(mean(x * x) + eps), one per row
    %p = graph.matmul %x, %w {transpose_a = false, transpose_b = false}
    %s = graph.mul %p, %r
    %y = graph.cast %s
    ```

    A factor or divisor of the left operand with one value per row, or of the
    right one with one per column, is applied to the result, where it is an
    epilogue: the product then reads tensors as they lie in memory, and the
    scaled ones are never written. So is what an rms_norm without a weight
    multiplies its rows by.

    A scale stays in front where the operand is read elsewhere too, where the
    kernel that makes it scales it on the way, where the types differ (casts are
    kept), where the contracted axis may be empty, and where so many columns
    would have to be scaled that writing the rows is cheaper. Each such case is
    a note in `graph.notes`.

    What moves: the scaled operand is not rounded, and what is summed is the
    product without the scale, in f32.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "device to generate for, by name">
  ];
}

def MoveReshapesPass
    : Pass<"azulejo-move-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Move reshapes of rows in front of their norms and scales";
  let description = [{
    ```mlir
    %n = graph.rms_norm %x {eps = 1.0e-05 : f64}
    %f = graph.reshape %n {shape = #graph.dims<"B*S", 64>}
    %y = graph.matmul %f, %w {transpose_a = false, transpose_b = false}
    ```
    becomes
    ```mlir
    %f = graph.reshape %x {shape = #graph.dims<"B*S", 64>}
    %n = graph.rms_norm %f {eps = 1.0e-05 : f64}
    %y = graph.matmul %n, %w {transpose_a = false, transpose_b = false}
    ```

    Where only products read the reshape, it leaves the last axis alone, and the
    op before it multiplies or divides rows by one value each or is an rms_norm
    without a weight: what azulejo-move-scales can move behind the products.
    Exact.
  }];
}

#endif // AZULEJO_PASSES_FUSION_PASSES_TD
