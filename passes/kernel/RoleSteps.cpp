//===- RoleSteps.cpp - the steps of a product with roles ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RoleSteps.h"

#include "ir/kernel/Kernel.h"

using namespace mlir;

namespace azulejo::gpu {

/// 32-bit registers of operand a for 16 contracted elements of 64 rows.
static constexpr int64_t kLhsRegisters = 4;

static void append(SmallVectorImpl<Value> &flat, ArrayRef<Fragment> sums) {
  for (const Fragment &sum : sums)
    flat.append(sum.elements);
}

static void assign(MutableArrayRef<Fragment> sums, ValueRange flat) {
  for (Fragment &sum : sums) {
    size_t count = sum.elements.size();
    sum.elements.assign(flat.begin(), flat.begin() + count);
    flat = flat.drop_front(count);
  }
}

RoleSteps::RoleSteps(ThreadBuilder &t, const Range &range,
                     const Product &product, const Ring &ring)
    : t(t), range(range), product(product), ring(ring),
      depth(product.lhs.map().getShape()[1]) {}

Value RoleSteps::before(Value stage) {
  Value first = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                stage, t.i32(0));
  return t.b.createOrFold<arith::SelectOp>(t.loc, first, t.i32(ring.stages - 1),
                                           t.sub(stage, t.i32(1)));
}

/// The warp's 16 rows of each block of 64.
RoleSteps::Values RoleSteps::loadLhs(Value stage, int64_t blocks) {
  Values registers;
  bool flip = product.lhs.isTransposed();
  Value row =
      t.add(product.firstRow, t.mul(product.warpOfGroup, t.i32(kBlockRows)));
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t k = 0; k < depth; k += kBlockRows) {
      int64_t along = block * kernel::kGroupRows;
      auto load = kernel::LoadMatrixOp::create(
          t.b, t.loc, "a", product.lhs.tile(), stage, flip ? t.i32(0) : row,
          flip ? row : t.i32(0), flip ? k : along, flip ? along : k, flip);
      registers.append(load->result_begin(), load->result_end());
    }
  return registers;
}

/// Starts the products of a step, with the left operand from `registers` unless
/// there are none; gives the group of the last of them.
Value RoleSteps::start(Value stage, ValueRange registers,
                       MutableArrayRef<Fragment> sums) {
  Value token;
  int64_t each = depth / kBlockRows * kLhsRegisters;
  for (auto [block, sum] : llvm::enumerate(sums)) {
    SmallVector<Value> tile, tileStage, tileRow;
    if (registers.empty()) {
      tile.push_back(product.lhs.tile());
      tileStage.push_back(stage);
      tileRow.push_back(
          t.add(product.firstRow,
                t.i32(static_cast<int64_t>(block) * kernel::kGroupRows)));
    }
    SmallVector<Type> types(sum.elements.size(), t.b.getF32Type());
    tile::DotOp dot = product.dot;
    auto mma = kernel::GroupMmaOp::create(
        t.b, t.loc, types, kernel::GroupType::get(t.b.getContext()),
        *dot.getOperandType(), depth, tile, tileStage, tileRow,
        registers.empty() ? registers : registers.slice(block * each, each),
        product.rhs.tile(), stage, t.i32(0),
        /*aTransposed=*/registers.empty() && product.lhs.isTransposed(),
        /*bTransposed=*/!product.rhs.isTransposed(), sum.elements);
    sum.elements.assign(mma.getResults().begin(), mma.getResults().end());
    token = mma.getGroup();
  }
  return token;
}

RingPosition RoleSteps::run(RingPosition at, MutableArrayRef<Fragment> sums,
                            bool lhsRegisters) {
  SmallVector<Value> carried{at.stage, at.parity,
                             kernel::GroupNoneOp::create(t.b, t.loc)};
  append(carried, sums);
  auto blocks = static_cast<int64_t>(sums.size());
  SmallVector<Value> last =
      t.loop(range.low, range.high, range.step, carried,
             [&](Value k, ValueRange values) -> SmallVector<Value> {
               RingPosition now{values[0], values[1]};
               assign(sums, values.drop_front(3));
               auto release = [&] {
                 kernel::GroupWaitOp::create(t.b, t.loc, TypeRange(), values[2],
                                             ValueRange(), IntegerAttr());
                 arriveForWarpInAll(t, ring.grid, ring.blocks, ring.empty,
                                    before(now.stage), t.less(range.low, k));
               };
               kernel::PhaseWaitOp::create(t.b, t.loc, ring.full, now.stage,
                                           now.parity);
               Values registers;
               if (lhsRegisters) {
                 release();
                 registers = loadLhs(now.stage, blocks);
               }
               Value token = start(now.stage, registers, sums);
               if (!lhsRegisters)
                 release();
               RingPosition next = now.next(t, ring.stages);
               SmallVector<Value> yielded{next.stage, next.parity, token};
               append(yielded, sums);
               return yielded;
             });
  assign(sums, ValueRange(last).drop_front(3));
  pending = last[2];
  lastStage = before(last[0]);
  return {last[0], last[1]};
}

void RoleSteps::finish(MutableArrayRef<Fragment> sums) {
  SmallVector<Value> products;
  append(products, sums);
  auto wait = kernel::GroupWaitOp::create(
      t.b, t.loc, SmallVector<Type>(products.size(), t.b.getF32Type()), pending,
      products, IntegerAttr());
  assign(sums, wait.getResults());
  arriveForWarpInAll(t, ring.grid, ring.blocks, ring.empty, lastStage,
                     t.less(range.low, range.high));
}

} // namespace azulejo::gpu
