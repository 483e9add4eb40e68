//===- EpilogueCost.cpp - arithmetic behind a product ---------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/EpilogueCost.h"

#include "ir/graph/GraphTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace azulejo::tiling {

/// Of a GPU: one instruction, an instruction of the special function units
/// (a quarter of the rate), or an approximation.
static int64_t instructionsOf(Operation &scalar) {
  if (isa<math::Exp2Op, math::RsqrtOp, math::SqrtOp>(scalar))
    return 4;
  if (isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(scalar) ||
      !isa<math::MathDialect>(scalar.getDialect()))
    return !scalar.hasTrait<OpTrait::ConstantLike>();
  return 12;
}

/// Counted in the op's own scalar body, so that no op is named here.
static int64_t instructionsOf(graphir::ElementwiseOpInterface elementwise) {
  Operation *op = elementwise;
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(op->getLoc());
  OpBuilder b(scratch->getBodyRegion());
  SmallVector<Value> scalars;
  for (Type type : op->getOperandTypes()) {
    Type element = graphir::computeType(getElementTypeOrSelf(type));
    scalars.push_back(arith::ConstantOp::create(b, op->getLoc(), element,
                                                b.getZeroAttr(element)));
  }
  elementwise.emitScalar(b, op->getLoc(), scalars);
  int64_t count = 0;
  for (Operation &scalar : *scratch->getBody())
    count += instructionsOf(scalar);
  return count;
}

int64_t epilogueInstructions(Operation *product) {
  int64_t count = 0;
  llvm::SetVector<Operation *> reached;
  reached.insert(product);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i]->getUsers())
      if (reached.insert(user))
        if (auto op = dyn_cast<graphir::ElementwiseOpInterface>(user))
          count += instructionsOf(op);
  return count;
}

} // namespace azulejo::tiling
