//===- BulkOperand.cpp - a product's operand by bulk copies ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/BulkOperand.h"

using namespace mlir;

namespace azulejo::gpu {

tile::ReadOp soleRead(tile::MapOp map, Type element) {
  Operation *yield = map.getBody().front().getTerminator();
  auto read = yield->getOperand(0).getDefiningOp<tile::ReadOp>();
  if (!read || read.getPredicate() ||
      read.getView().getType().getElementType() != element)
    return {};
  for (Operation &op : map.getBody().front().without_terminator())
    if (&op != read && !isa<arith::ArithDialect>(op.getDialect()))
      return {};
  return read;
}

unsigned chooseLaneAxis(tile::MapOp map) {
  int score[2] = {0, 0};
  for (unsigned axis : {0u, 1u}) {
    LaneAnalysis lanes(map, 1, axis);
    map.walk([&](tile::ReadOp read) {
      score[axis] += lanes.isContiguous(read.getIndices());
    });
  }
  return score[0] > score[1] ? 0 : 1;
}

FailureOr<BulkOperand> BulkOperand::create(tile::MapOp map, Type element,
                                           unsigned contracted, Beyond beyond) {
  auto refuse = [&](const Twine &why) {
    return map->emitOpError("cannot be copied in bulk: ") << why;
  };
  BulkOperand operand;
  operand.source = map;
  tile::ReadOp read = soleRead(map, element);
  if (!read)
    return refuse("it computes");
  operand.laneAxis = chooseLaneAxis(map);
  operand.type = kernel::SharedTileType::get(
      map.getContext(), element, 1, map.getShape()[1 - operand.laneAxis],
      map.getShape()[operand.laneAxis]);
  std::string why;
  operand.box = BulkBox::find({map, cast<BlockArgument>(read.getView()),
                               read.getIndices(), operand.laneAxis},
                              operand.type, why);
  if (!operand.box)
    return refuse(why);
  // What lies beyond the extent in the contracted axis must be zero.
  operand.unclear =
      !operand.box->endsWithTensor(contracted) &&
      !(beyond != MustBeZero && operand.box->endsByPosition(contracted));
  if (operand.unclear && beyond != IsCleared)
    return refuse("the tensor goes on where its contracted elements end");
  return operand;
}

void BulkOperand::allocate(ThreadBuilder &t, int64_t stages) {
  ring = kernel::TileAllocOp::create(
      t.b, t.loc,
      kernel::SharedTileType::get(t.b.getContext(), type.getElementType(),
                                  stages, type.getRows(), type.getColumns()),
      IntegerAttr());
}

void BulkOperand::issue(ThreadBuilder &t, const KernelArguments &arguments,
                        Value tensorMap, Value stage, Value phases) const {
  for (int64_t slab = 0; slab < type.slabs(); ++slab)
    kernel::BulkLoadOp::create(
        t.b, t.loc, tensorMap,
        box->coordinates(t, arguments, Value(), slab * type.slabColumns()),
        ring, stage, slab, /*row=*/0, phases, stage);
}

} // namespace azulejo::gpu
