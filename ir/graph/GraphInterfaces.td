//===- GraphInterfaces.td - how passes see graph ops ----------------------===//
//
// Passes speak to these and never to op names, so a new op needs no pass.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHINTERFACES_TD
#define AZULEJO_IR_GRAPH_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::azulejo::graphir";
  let description = [{
    One scalar body applied at every coordinate of the result; operands
    broadcast as NumPy does.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the body. `scalars` are in the compute type of the operands (see
      `computeType`), or vectors of it, one common shape for all; the result is
      in the compute type of the op's result, with that shape. The emitted ops
      are elementwise-mappable ops of arith and math, and constants.
    }], "::mlir::Value", "emitScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
         "::mlir::ValueRange":$scalars)>
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::azulejo::graphir";
  let description = [{Folds some axes of operand 0 with one combiner.}];
  let methods = [
    InterfaceMethod<"The folded axes, ascending.",
      "::llvm::SmallVector<int64_t>", "getReducedAxes", (ins), "", [{
        return ::azulejo::graphir::reducedAxes($_op.getOperation());
      }]>,
    InterfaceMethod<"Whether folded axes stay, with size 1.",
      "bool", "keepsDims", (ins), "", [{ return $_op.getKeepdims(); }]>,
    InterfaceMethod<"Sum, Max or Mean (a sum divided by the count).",
      "::azulejo::graphir::ReductionKind", "getReductionKind">,
    InterfaceMethod<[{
      The value of an empty fold, of this scalar compute type: 0, or the
      smallest value for Max (negative infinity for floats).
    }], "::mlir::TypedAttr", "getIdentity", (ins "::mlir::Type":$scalarType),
      "", [{
        return ::azulejo::graphir::reductionIdentity($_op.getReductionKind(),
                                                     scalarType);
      }]>,
    InterfaceMethod<[{
      Emits one step of the fold on scalars (or vectors) in compute type. Max
      propagates NaN. A mean's division by the count is not part of a step.
    }], "::mlir::Value", "emitCombine",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$lhs, "::mlir::Value":$rhs), "", [{
        return ::azulejo::graphir::emitCombine($_op.getReductionKind(), builder,
                                               loc, lhs, rhs);
      }]>
  ];
}

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::azulejo::graphir";
  let description = [{
    Every result element reads one element of an operand, at a coordinate that
    is affine in the result's.
  }];
  let methods = [
    InterfaceMethod<[{
      The map from result coordinates d0.. to coordinates of `operand`. Symbol
      i of the map stands for symbols[i], a polynomial over the graph's
      symbols. `symbols` is appended to; entries already there are reused and
      keep their numbers. Coordinates are meant for non-empty results.
    }], "::mlir::FailureOr<::mlir::AffineMap>", "operandMap",
      (ins "unsigned":$operand,
           "::llvm::SmallVectorImpl<::azulejo::opset::Dim> &":$symbols),
      "", [{
        return ::azulejo::graphir::broadcastMap($_op.getOperation(), operand,
                                                symbols);
      }]>
  ];
}

#endif // AZULEJO_IR_GRAPH_GRAPHINTERFACES_TD
