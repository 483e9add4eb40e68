//===- RoleRing.cpp - rings between warps with roles ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "passes/kernel/RoleRing.h"

#include "ir/kernel/Kernel.h"

using namespace mlir;

namespace azulejo::gpu {

RingPosition RingPosition::next(ThreadBuilder &t, int64_t stages) const {
  Value after = t.add(stage, t.i32(1));
  Value wraps = t.b.createOrFold<arith::CmpIOp>(t.loc, arith::CmpIPredicate::eq,
                                                after, t.i32(stages));
  Value flipped = t.b.createOrFold<arith::XOrIOp>(t.loc, parity, t.i32(1));
  return {t.b.createOrFold<arith::SelectOp>(t.loc, wraps, t.i32(0), after),
          t.b.createOrFold<arith::SelectOp>(t.loc, wraps, flipped, parity)};
}

RingPosition RingPosition::skip(ThreadBuilder &t, Value count,
                                int64_t stages) const {
  Value sum = t.add(stage, count), size = t.i32(stages);
  Value rounds = t.b.createOrFold<arith::DivUIOp>(t.loc, sum, size);
  return {t.b.createOrFold<arith::RemUIOp>(t.loc, sum, size),
          t.b.createOrFold<arith::XOrIOp>(t.loc, parity,
                                          t.bitAnd(rounds, t.i32(1)))};
}

Value allocatePhases(ThreadBuilder &t, int64_t count, int64_t arrivals) {
  return kernel::PhasesAllocOp::create(
      t.b, t.loc, kernel::PhasesType::get(t.b.getContext(), count), arrivals,
      IntegerAttr());
}

Value parityBefore(ThreadBuilder &t, Value parity) {
  return t.b.createOrFold<arith::XOrIOp>(t.loc, parity, t.i32(1));
}

/// The first `threads` threads of the warp, if `condition` holds, do something.
static void whenFirst(ThreadBuilder &t, const WarpGrid &grid, int64_t threads,
                      Value condition, function_ref<void()> body) {
  Value leads = t.b.createOrFold<arith::CmpIOp>(
      t.loc, arith::CmpIPredicate::ult, grid.lane, t.i32(threads));
  if (condition)
    leads = t.bitAnd(leads, condition);
  t.when(leads, {}, [&]() -> SmallVector<Value> {
    body();
    return {};
  });
}

void arriveForWarp(ThreadBuilder &t, const WarpGrid &grid, Value phases,
                   Value index, Value condition) {
  whenFirst(t, grid, 1, condition,
            [&] { kernel::PhaseArriveOp::create(t.b, t.loc, phases, index); });
}

void arriveForWarpInAll(ThreadBuilder &t, const WarpGrid &grid, int64_t blocks,
                        Value phases, Value index, Value condition) {
  if (blocks == 1)
    return arriveForWarp(t, grid, phases, index, condition);
  // One thread for each block.
  whenFirst(t, grid, blocks, condition, [&] {
    kernel::PhaseArriveAtOp::create(t.b, t.loc, phases, index, grid.lane);
  });
}

} // namespace azulejo::gpu
