//===- Structure.td - fused regions ---------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_OPS_STRUCTURE_TD
#define AZULEJO_IR_GRAPH_OPS_STRUCTURE_TD

include "ir/graph/GraphOpBase.td"

def Graph_FusedOp : Op<Graph_Dialect, "fused", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Ops that become one kernel";
  let description = [{
    The body sees only its block arguments, which stand for the operands, and
    may use every symbol of the function. `family` names the schedule family
    that will lower it, `name` the kernel.

    ```mlir
    %r = graph.fused "RowChain" named "k0" (%x) : (tensor<4xf32>)
        -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %0 = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %0 : tensor<4xf32>
    }
    ```

    Constraints:
    * C1: the block arguments have the types of the operands.
    * C2: the body ends in a yield of the results' types.
    * C3: the body holds only ops of the op set.
  }];
  let arguments = (ins StrAttr:$family, OptionalAttr<StrAttr>:$name,
                       Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $family (`named` $name^)? `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $outputs) $body
  }];
  let hasRegionVerifier = 1;
}

def Graph_YieldOp : Op<Graph_Dialect, "yield", [
    Pure, Terminator, ParentOneOf<["FusedOp"]>]> {
  let summary = "Ends the body of a fused region";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // AZULEJO_IR_GRAPH_OPS_STRUCTURE_TD
