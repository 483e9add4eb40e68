//===- Row.td - reductions and normalisations -----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_OPS_ROW_TD
#define AZULEJO_IR_GRAPH_OPS_ROW_TD

include "ir/graph/GraphOpBase.td"

class Graph_ReduceOp<string mnemonic, string kind, string text>
    : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<ReductionOpInterface,
                                                    ["getReductionKind"]>]> {
  let summary = text;
  let description = [{
    Accumulates in f32. A folded axis disappears, or stays with size 1 when
    `keepdims` is set.

    Constraints:
    * C1: the element type is f32, f16 or bf16 (reduce_max: also i32, i64).
    * C2: axes names at least one axis, each once and within the rank.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_Ints:$axes,
                       Graph_Bool:$keepdims);
  let extraClassDefinition = [{
    ::azulejo::graphir::ReductionKind $cppClass::getReductionKind() {
      return ::azulejo::graphir::ReductionKind::}] # kind # [{;
    }
  }];
}

def Graph_ReduceSumOp : Graph_ReduceOp<"reduce_sum", "Sum",
    "Sum over some axes">;
def Graph_ReduceMaxOp : Graph_ReduceOp<"reduce_max", "Max",
    "Maximum over some axes; NaN wins">;
def Graph_ReduceMeanOp : Graph_ReduceOp<"reduce_mean", "Mean",
    "Mean over some axes">;

def Graph_SoftmaxOp : Graph_Op<"softmax"> {
  let summary = "exp(x - max) / sum(exp(x - max)) along an axis";
  let description = [{
    Constraints:
    * C1: the element type is f32, f16 or bf16.
    * C2: axis is within the rank, or -1 for the last one.
  }];
  let arguments = (ins AnyRankedTensor:$input, Graph_Int:$axis);
  let extraClassDeclaration = [{
    /// The axis counted from 0.
    int64_t getNormalisedAxis() {
      int64_t axis = static_cast<int64_t>(getAxis());
      return axis < 0 ? axis + getInput().getType().getRank() : axis;
    }
  }];
}

class Graph_NormOp<string mnemonic, string text> : Graph_Op<mnemonic> {
  let summary = text;
  let arguments = (ins Variadic<AnyRankedTensor>:$operands, Graph_Float:$eps);
  let description = [{
    Operands: x, then optionally the weight and (layer_norm only) the bias.

    Constraints:
    * C1: every element type is f32, f16 or bf16.
    * C2: x has a row axis.
    * C3: each parameter has the shape of the last axis of x.
    * C4: eps is zero or positive.
  }];
  code accessors = [{
    ::mlir::Value getInput() { return getOperation()->getOperand(0); }
    /// The scale per channel; null when absent.
    ::mlir::Value getWeight() { return parameter(1); }
    ::mlir::Value parameter(unsigned index) {
      return index < getOperation()->getNumOperands()
                 ? getOperation()->getOperand(index)
                 : ::mlir::Value();
    }
  }];
  let extraClassDeclaration = accessors;
}

def Graph_LayerNormOp : Graph_NormOp<"layer_norm",
    "(x - mean) / sqrt(variance + eps) * weight + bias, per row"> {
  let extraClassDeclaration = accessors # [{
    /// The shift per channel; null when absent.
    ::mlir::Value getBias() { return parameter(2); }
  }];
}
def Graph_RmsNormOp : Graph_NormOp<"rms_norm",
    "x / sqrt(mean(x^2) + eps) * weight, per row">;

def Graph_RopeOp : Graph_Op<"rope"> {
  let summary = "Rotates channel pairs by position-dependent angles";
  let description = [{
    `pairing` "half" pairs channel i with i + R/2, "interleaved" 2i with
    2i + 1; channels past R are copied.

    Constraints:
    * C1: every element type is f32, f16 or bf16.
    * C2: x has a position axis and a channel axis, the tables a channel axis.
    * C3: the tables have one shape.
    * C4: R, twice the tables' last axis, is constant and at most x's last.
    * C5: the tables broadcast over the positions of x.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$cosTable,
                       AnyRankedTensor:$sinTable, Graph_String:$pairing);
}

#endif // AZULEJO_IR_GRAPH_OPS_ROW_TD
