//===- Epilogue.cpp - writing an anchor's result through its users --------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/tiling/Epilogue.h"

#include "ir/graph/AccessMaps.h"
#include "passes/tiling/RowSpace.h"

using namespace mlir;

namespace azulejo::tiling {

static bool isElementByElement(Operation *op) {
  return isa<graphir::ElementwiseOpInterface, graphir::IndexingOpInterface,
             graphir::GatherOp, graphir::ConcatOp, graphir::RopeOp,
             graphir::CacheUpdateOp, graphir::ConstantOp, graphir::IotaOp>(op);
}

std::optional<std::string> refusesPrologue(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (!isElementByElement(op))
    return ("its operand comes from '" + op->getName().getStringRef() +
            "', which is not computed element by element")
        .str();
  for (Value operand : op->getOperands())
    if (auto reason = refusesPrologue(operand))
      return reason;
  return std::nullopt;
}

Epilogue findEpilogue(graphir::FusedOp region, Operation *anchor) {
  Epilogue epilogue;
  DenseSet<Value> stops(anchor->result_begin(), anchor->result_end());
  Block &body = region.getBody().front();
  for (Operation &op : body.without_terminator())
    if (&op != anchor && !isElementByElement(&op)) {
      epilogue.reason =
          ("'" + op.getName().getStringRef() + "' cannot join the kernel of '" +
           anchor->getName().getStringRef() + "'")
              .str();
      return epilogue;
    }
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    EpilogueOutput output{static_cast<unsigned>(i), value, {}, {}, {}};
    graphir::Accesses found = graphir::accessesOf(value, stops, output.symbols);
    if (found.size() != 1 || found.front().second.size() != 1) {
      epilogue.reason = found.empty()
                            ? "an output does not depend on the anchor"
                            : "an output reads the anchor at several places";
      return epilogue;
    }
    output.anchor = found.front().first;
    auto inverse = graphir::invertCoordinates(found.front().second.front(),
                                              shapeOf(value), output.symbols);
    // Equal counts rule out a slice, whose map looks like a rearrangement.
    if (!inverse || opset::elementCount(shapeOf(value)) !=
                        opset::elementCount(shapeOf(output.anchor))) {
      epilogue.reason = "an output is no rearrangement of the anchor's result";
      return epilogue;
    }
    output.coordinates = std::move(*inverse);
    epilogue.outputs.push_back(std::move(output));
  }
  return epilogue;
}

} // namespace azulejo::tiling
