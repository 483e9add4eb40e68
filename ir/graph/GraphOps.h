//===- GraphOps.h - the ops of the graph dialect ----------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_GRAPHOPS_H
#define AZULEJO_IR_GRAPH_GRAPHOPS_H

#include "ir/graph/GraphDialect.h"
#include "ir/graph/GraphInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace azulejo::graphir {

/// Runs the op set's rules on `op`: every attribute is there and of its kind,
/// the operands obey the op's constraints, and the result types are those that
/// inference gives. A broken rule is an error that names the op's label and
/// carries the rule's label in brackets.
llvm::LogicalResult verifyByOpset(mlir::Operation *op);

/// Marks the ops that correspond to an entry of the op set.
template <typename ConcreteOp>
class InferredByOpset
    : public mlir::OpTrait::TraitBase<ConcreteOp, InferredByOpset> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyByOpset(op);
  }
};

} // namespace azulejo::graphir

#define GET_OP_CLASSES
#include "ir/graph/GraphOps.h.inc"

#endif // AZULEJO_IR_GRAPH_GRAPHOPS_H
