//===- Structure.cpp - verification of fused regions ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

LogicalResult FusedOp::verifyRegions() {
  Block &block = getBody().front();
  if (!llvm::equal(block.getArgumentTypes(), getInputs().getTypes()))
    return emitError() << "fused region '" << getFamily()
                       << "': the block arguments must have the types of the "
                          "operands [fused.C1]";
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || !llvm::equal(yield.getValues().getTypes(), getResultTypes()))
    return emitError() << "fused region '" << getFamily()
                       << "': the body must end in a graph.yield of the "
                          "results' types [fused.C2]";
  for (Operation &op : block.without_terminator())
    if (!opset::findOp(kindOf(&op)))
      return op.emitError()
             << "fused region '" << getFamily() << "': '" << op.getName()
             << "' is not of the op set [fused.C3]";
  return success();
}
