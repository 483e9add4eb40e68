//===- Contraction.td - matmul and attention ------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_OPS_CONTRACTION_TD
#define AZULEJO_IR_GRAPH_OPS_CONTRACTION_TD

include "ir/graph/GraphOpBase.td"

def Graph_MatmulOp : Graph_Op<"matmul"> {
  let summary = "Matrix product with broadcast batch axes";
  let description = [{
    Accumulates in f32. `transpose_a` means that a is stored as [..., K, M],
    `transpose_b` that b is stored as [..., N, K]. With the precision "tf32"
    each f32 operand may be rounded to 10 explicit bits of mantissa, to nearest,
    ties away from zero, before it is multiplied; with "ieee" it may not.

    Constraints:
    * C1: every element type is f32, f16 or bf16.
    * C2: both ranks are at least 2.
    * C3: the contracted sizes are equal.
    * C4: the batch axes broadcast.
    * C5: tf32 is for operands that are both f32.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                       Graph_Bool:$transpose_a, Graph_Bool:$transpose_b,
                       Graph_Precision:$precision);
}

def Graph_AttentionOp : Graph_Op<"attention"> {
  let summary = "softmax(scale * q k^T + bias) v, with masks";
  let description = [{
    Operands: q, k, v, then the optional ones in the order of `roles`, a list
    such as "bias,lengths". With `lse` a second result holds the logarithm of
    each row's sum. The precision is that of both products (see matmul); with
    "tf32" the softmax's weights may be rounded as well as q, k and v.

    Constraints:
    * C1: q, k and v have one element type: f32, f16 or bf16.
    * C2: q, k and v have rank 4.
    * C3: the batch sizes are equal.
    * C4: q and k have one head size.
    * C5: k and v agree in length and heads.
    * C6: the query heads are a multiple of the KV heads.
    * C7: the head sizes are constant.
    * C8: window is not negative, and needs a causal alignment.
    * C9: scale is finite, softcap finite and not negative.
    * C10: roles are known, given once, and match the operands.
    * C11: bias is a float and mask i1; both broadcast to the scores.
    * C12: lengths is i32 or i64, one per batch.
    * C13: slopes is a float, one per query head.
    * C14: tf32 is for q, k and v that are f32.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operands, Graph_Float:$scale,
                       Graph_String:$causal, Graph_Int:$window,
                       Graph_Float:$softcap, Graph_String:$layout,
                       Graph_Bool:$lse, Graph_String:$roles,
                       Graph_Precision:$precision);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let extraClassDeclaration = [{
    ::mlir::Value getQ() { return getOperation()->getOperand(0); }
    ::mlir::Value getK() { return getOperation()->getOperand(1); }
    ::mlir::Value getV() { return getOperation()->getOperand(2); }
    /// The operand with this role ("bias", "mask", "lengths", "slopes", or
    /// q, k, v); null when the op has none.
    ::mlir::Value getRole(::llvm::StringRef role);
    /// The log-sum-exp result; null unless `lse` is set.
    ::mlir::Value getLogSumExp() {
      return getLse() ? getOperation()->getResult(1) : ::mlir::Value();
    }
    /// Positions of the head and the sequence axis in q, k and v.
    unsigned getHeadAxis() { return getLayout() == "bshd" ? 2 : 1; }
    unsigned getSequenceAxis() { return getLayout() == "bshd" ? 1 : 2; }
  }];
}

#endif // AZULEJO_IR_GRAPH_OPS_CONTRACTION_TD
