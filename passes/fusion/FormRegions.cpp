//===- FormRegions.cpp - the order of fusion's rules ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/fusion/Partition.h"

#include "ir/graph/GraphTypes.h"

namespace azulejo::fusion {
#define GEN_PASS_DECL_FORMREGIONSPASS
#define GEN_PASS_DEF_FORMREGIONSPASS
#include "passes/fusion/Passes.h.inc"
} // namespace azulejo::fusion

using namespace mlir;

namespace azulejo::fusion {

/// Gives every returned value a kernel of its own to write it: an argument that
/// is returned, or one value returned twice, goes through a copy.
static LogicalResult copySharedReturns(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  OpBuilder b(terminator);
  DenseSet<Value> seen;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = operand.get();
    if (!isa<BlockArgument>(value) && seen.insert(value).second)
      continue;
    opset::Shape shape =
        graphir::toOpset(cast<RankedTensorType>(value.getType())).shape;
    Operation *copy = graphir::createGraphOp(b, function.getLoc(), "reshape",
                                             {value}, {{"shape", shape}});
    if (!copy)
      return failure();
    operand.set(copy->getResult(0));
  }
  return success();
}

LogicalResult formRegions(func::FuncOp function, const RegionOracle &oracle,
                          const FormRegionsOptions &options,
                          std::vector<Note> &notes) {
  if (failed(copySharedReturns(function)))
    return failure();
  Partition partition(function, oracle, options.timer, notes);
  if (failed(partition.initialise()))
    return failure();
  if (options.fuse) {
    // Vertical first: it removes whole tensors. Horizontal only saves reads.
    fuseVertical(partition);
    fuseHorizontal(partition);
  }
  return partition.materialise();
}

namespace {
struct FormRegionsPass : impl::FormRegionsPassBase<FormRegionsPass> {
  explicit FormRegionsPass(RegionOracle oracle) : oracle(std::move(oracle)) {}
  FormRegionsPass(const FormRegionsPass &other)
      : FormRegionsPassBase(other), oracle(other.oracle) {}

  void runOnOperation() override {
    std::vector<Note> notes;
    if (failed(formRegions(getOperation(), oracle, {fuse, {}}, notes)))
      return signalPassFailure();
    for (const Note &note : notes)
      getOperation().emitRemark("not fused (")
          << note.rule << "): " << llvm::join(note.ops, ", ") << ": "
          << note.text;
  }
  RegionOracle oracle;
};
} // namespace

std::unique_ptr<Pass> createFormRegionsPass(RegionOracle oracle) {
  return std::make_unique<FormRegionsPass>(std::move(oracle));
}

} // namespace azulejo::fusion
