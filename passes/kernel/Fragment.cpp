//===- Fragment.cpp - who holds which element of a tile -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/Fragment.h"

#include "ir/kernel/Kernel.h"

using namespace mlir;

namespace azulejo::gpu {

WarpGrid WarpGrid::create(ThreadBuilder &t, Value thread, int64_t warpsM,
                          int64_t warpsN) {
  WarpGrid grid;
  grid.warpsM = warpsM;
  grid.warpsN = warpsN;
  grid.thread = thread;
  grid.lane = t.bitAnd(thread, t.i32(31));
  Value warp = t.b.createOrFold<arith::ShRUIOp>(t.loc, thread, t.i32(5));
  grid.warpM = t.b.createOrFold<arith::RemUIOp>(t.loc, warp, t.i32(warpsM));
  grid.warpN = t.b.createOrFold<arith::DivUIOp>(t.loc, warp, t.i32(warpsM));
  grid.group = t.b.createOrFold<arith::ShRUIOp>(t.loc, grid.lane, t.i32(2));
  grid.column = t.mul(t.bitAnd(grid.lane, t.i32(3)), t.i32(2));
  return grid;
}

void Fragment::applyScale(ThreadBuilder &t) {
  if (scale == 1)
    return;
  Value factor =
      arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(scale));
  for (Value &element : elements)
    element = arith::MulFOp::create(t.b, t.loc, element, factor);
  scale = 1;
}

void RowTile::complete(ThreadBuilder &t) {
  if (!partial)
    return;
  for (Value &value : values)
    value = kernel::WarpReduceOp::create(t.b, t.loc, value.getType(), "sum",
                                         value, /*lanes=*/4);
  partial = false;
}

Value rowOffset(ThreadBuilder &t, const WarpGrid &grid, int64_t r) {
  return t.add(grid.group, t.i32(r / 2 * kBlockRows + r % 2 * 8));
}

Value columnOffset(ThreadBuilder &t, const WarpGrid &grid, int64_t c) {
  return t.add(grid.column, t.i32(c / 2 * kBlockColumns + c % 2));
}

} // namespace azulejo::gpu
