//===- GraphOpBase.td - what all graph ops share --------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHOPBASE_TD
#define AZULEJO_IR_GRAPH_GRAPHOPBASE_TD

include "ir/graph/GraphDialect.td"
include "ir/graph/GraphInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Verifies an op by the rules of its entry in the op set.
def InferredByOpset : NativeOpTrait<"InferredByOpset"> {
  let cppNamespace = "::azulejo::graphir";
}

// The op set's kinds of attributes. Dims is defined with the dialect.
defvar Graph_Int = I64Attr;
defvar Graph_Float = F64Attr;
defvar Graph_Bool = BoolAttr;
defvar Graph_String = StrAttr;
defvar Graph_Ints = DenseI64ArrayAttr;
defvar Graph_Shape = Graph_DimsAttr;
defvar Graph_DType = TypeAttr;

// How products may round f32 operands. Left out of texts where it is "ieee".
defvar Graph_Precision = DefaultValuedAttr<StrAttr, "\"ieee\"">;

// An op of the op set: `graph.name %a, %b {attributes} : (types) -> type`.
class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, !listconcat([Pure, InferredByOpset],
                                              traits)> {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // AZULEJO_IR_GRAPH_GRAPHOPBASE_TD
