//===- BulkOperand.cpp - a product's operand by bulk copies ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/BulkOperand.h"

using namespace mlir;

namespace azulejo::gpu {

/// A tile's permutation repeats after so many rows: where a copy may begin.
static constexpr int64_t kPatternRows = 8;

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
  operand.contracted = contracted;
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

bool BulkOperand::shareAmong(int64_t blocks) {
  if (!rowsAreContracted()) {
    if (type.getRows() % (blocks * kPatternRows))
      return false;
    box->limitRows(type.getRows() / blocks);
  }
  parts = blocks;
  return true;
}

void BulkOperand::issue(ThreadBuilder &t, const KernelArguments &arguments,
                        Value tensorMap, Value stage, Value phases,
                        Value rank) const {
  if (parts == 1)
    return issuePart(t, arguments, tensorMap, stage, phases, 0);
  for (int64_t part = 0; part < parts; ++part) {
    Value mine = t.b.createOrFold<arith::CmpIOp>(
        t.loc, arith::CmpIPredicate::eq, rank, t.i32(part));
    t.when(mine, {}, [&]() -> SmallVector<Value> {
      issuePart(t, arguments, tensorMap, stage, phases, part);
      return {};
    });
  }
}

void BulkOperand::issuePart(ThreadBuilder &t, const KernelArguments &arguments,
                            Value tensorMap, Value stage, Value phases,
                            int64_t part) const {
  bool bySlabs = rowsAreContracted();
  int64_t row = bySlabs ? 0 : part * (type.getRows() / parts);
  for (int64_t slab = bySlabs ? part : 0; slab < type.slabs();
       slab += bySlabs ? parts : 1)
    kernel::BulkLoadOp::create(
        t.b, t.loc, tensorMap,
        box->coordinates(t, arguments, row ? t.i32(row) : Value(),
                         slab * type.slabColumns()),
        ring, stage, slab, row, phases, stage, /*multicast=*/parts > 1);
}

} // namespace azulejo::gpu
