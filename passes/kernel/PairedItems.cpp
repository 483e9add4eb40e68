//===- PairedItems.cpp - items of a block that stays, in pairs ------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/PairedItems.h"

using namespace mlir;

namespace azulejo::gpu {

PairedItems::PairedItems(ThreadBuilder &t, Value block, Value blocks,
                         Value items)
    : t(t), block(block), blocks(blocks) {
  Value pairs = t.ceilDiv(items, 2);
  // From the block's first pair on; blocks beyond the last pair have none.
  Value left =
      t.max(t.sub(t.add(pairs, t.sub(blocks, t.i64(1))), block), t.i64(0));
  Value mine = t.b.createOrFold<arith::DivUIOp>(t.loc, left, blocks);
  size = t.mul(mine, t.i64(2));
  // The very last pair may be half of one.
  Value last = item(t.sub(size, t.i64(1)));
  Value beyond = t.bitAnd(t.less(t.i64(0), size),
                          t.b.createOrFold<arith::CmpIOp>(
                              t.loc, arith::CmpIPredicate::sge, last, items));
  size = t.sub(
      size, t.b.createOrFold<arith::ExtUIOp>(t.loc, t.b.getI64Type(), beyond));
}

Value PairedItems::item(Value number) const {
  Value pair = t.b.createOrFold<arith::ShRUIOp>(t.loc, number, t.i64(1)),
        half = t.bitAnd(number, t.i64(1));
  return t.add(t.mul(t.add(block, t.mul(pair, blocks)), t.i64(2)), half);
}

} // namespace azulejo::gpu
