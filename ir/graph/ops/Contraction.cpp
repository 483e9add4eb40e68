//===- Contraction.cpp - roles of attention's operands --------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/GraphOps.h"
#include "ir/graph/GraphTypes.h"

using namespace mlir;
using namespace azulejo;
using namespace azulejo::graphir;

Value AttentionOp::getRole(StringRef role) {
  int index = opset::attentionOperand(attrsOf(getOperation()), role);
  if (index < 0 || index >= static_cast<int>(getOperation()->getNumOperands()))
    return {};
  return getOperation()->getOperand(index);
}
