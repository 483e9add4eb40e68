//===- GraphDialect.td - the graph dialect and its attributes -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHDIALECT_TD
#define AZULEJO_IR_GRAPH_GRAPHDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::azulejo::graphir";
  let summary = "Whole tensors in SSA form, before any tile or device";
  let description = [{
    One op per entry of the op set (`ir/opset`), under the same name and with
    the same attributes. A module is an ordinary function:

    ```mlir
    func.func @main(
        %x: tensor<?x64xf32, #graph.dims<"S", 64>> {graph.name = "x"})
        -> (tensor<?x64xf32, #graph.dims<"S", 64>> {graph.name = "y"})
        attributes {graph.dims = [#graph.dim<"S", 1, 4096>]} {
      %0 = graph.exp %x {label = "e"} : (tensor<?x64xf32, #graph.dims<"S", 64>>)
          -> tensor<?x64xf32, #graph.dims<"S", 64>>
      func.return %0 : tensor<?x64xf32, #graph.dims<"S", 64>>
    }
    ```

    The discardable attribute `label` carries the user's name of an op. The
    rules of an op are those of the op set; its verifier runs them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Graph_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Graph_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Graph_DimsAttr : Graph_Attr<"Dims", "dims", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A shape whose dimensions are polynomials over symbols";
  let description = [{
    Each entry is an integer, or a string such as `"S"` or `"2*S + 1"`. As the
    encoding of a tensor type it says what every `?` stands for; as an op's
    attribute it is a shape. Entries are kept in canonical form, so two equal
    shapes are one attribute. Example: `#graph.dims<"B*S", 64>`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$texts);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The shape that the texts spell.
    ::azulejo::opset::Shape getDims() const;
    static DimsAttr get(::mlir::MLIRContext *context,
                        const ::azulejo::opset::Shape &shape);
  }];
}

def Graph_DimAttr : Graph_Attr<"Dim", "dim"> {
  let summary = "A declared symbol with its inclusive range";
  let parameters = (ins StringRefParameter<"name">:$name,
                        "int64_t":$min, "int64_t":$max);
  let assemblyFormat = "`<` $name `,` $min `,` $max `>`";
}

#endif // AZULEJO_IR_GRAPH_GRAPHDIALECT_TD
